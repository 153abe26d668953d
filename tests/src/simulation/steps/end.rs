//! The end of a simulation ([`Sim::settle`]): waits until nothing happens any more after the faults, and checks the rules about the
//! final state.

use super::api::{Actor, STREAMS, Stream};
use super::daemon::new_state;
use super::foreign::ForeignOwner;
use super::rules::NO_PLACE_LOST;
use super::sim::Sim;
use super::watches::{list_events, other_lists};
use crate::history::pending_pods::{fits, must_wait_elsewhere};
use crate::history::{Counts, expiry, releases, room};
use common::api::names::SCHEDULER_NAME;
use common::model::{Node, Pod, Reservation};
use daemon::state::{Input, State};
use jiff::SignedDuration;
use std::sync::Arc;
use std::time::Duration;

/// The simulation has settled when nothing was written for so long. The longest backoff of a pod is 10 s.
const STILL: Duration = Duration::from_secs(35);
/// How long it may take to settle: reservations have to end meanwhile.
const SETTLES: Duration = Duration::from_secs(900);
/// After this time an unschedulable pod is tried again even if nothing happened.
const PARKED: Duration = Duration::from_secs(5 * 60 + 30);
/// How long an expired reservation may stay on its node.
const EXPIRED_MAX: SignedDuration = SignedDuration::from_secs(90);

impl Sim {
    /// Runs until nothing happens any more, and checks the final state.
    pub(super) fn settle(&mut self) {
        let quiet = self.scenario.activity_end.max(self.faults.end);
        self.run_until(quiet);
        self.heal_nodes();
        // The last watch is frozen for up to a minute more, and reservations that only a daemon knows live for three minutes.
        self.run_until(quiet + Duration::from_secs(250));
        loop {
            let next = (self.api.last_change + STILL).max(self.api.now + Duration::from_secs(1));
            self.run_until(next);
            self.check_expired();
            if self.api.rules.broken.is_some() {
                return;
            }
            let runs = self.commands.iter().any(|command| command.is_alive);
            if self.api.now >= self.api.last_change + STILL && !runs && !self.is_ending() {
                break;
            }
            if self.api.now > quiet + SETTLES {
                return self.api.rules.break_("I16", "it does not settle");
            }
        }
        self.check_waiting_pods();
        self.check_reservations();
        self.check_beliefs();
        self.check_warnings();
        self.check_comparison();
        self.check_places();
    }

    /// Whether a reservation has just ended or is about to end: then pods that wait for its room have yet to be tried.
    fn is_ending(&self) -> bool {
        let (now, still) = (self.api.wall(), SignedDuration::try_from(STILL).unwrap_or_default());
        let all = self.api.state.nodes.values().flat_map(|node| &*node.reservations);
        let mut ends = all.filter_map(|one| one.valid()?.expires());
        ends.any(|end| end.duration_since(now).abs() < still)
    }

    /// Makes all nodes ready.
    fn heal_nodes(&mut self) {
        let ill: Vec<Arc<Node>> =
            self.api.state.nodes.values().filter(|node| !node.is_ready).cloned().collect();
        for node in ill {
            self.api.put_node(Actor::Other, Node { is_ready: true, ..Node::clone(&node) });
        }
    }

    /// I7: no reservation stays on its node for long after its end.
    fn check_expired(&mut self) {
        let now = self.api.wall();
        let mut late = None;
        for node in self.api.state.nodes.values() {
            for one in node.reservations.iter().filter_map(|one| one.valid()) {
                self.api.rules.counts.check("I7");
                let is_late = one.expires().is_some_and(|end| now.duration_since(end) > EXPIRED_MAX);
                if is_late && one.record().is_some() {
                    late = Some(format!("{} on {} is long over", one.id, node.name));
                }
            }
        }
        if let Some(what) = late {
            self.note_beliefs();
            self.api.rules.break_("I7", &what);
        }
    }

    /// I16 and I24: a waiting pod has a condition that says why, and no node has room for it.
    fn check_waiting_pods(&mut self) {
        let is_ours = |pod: &&Arc<Pod>| pod.is_waiting() && &*pod.spec.scheduler_name == SCHEDULER_NAME;
        let waiting: Vec<Arc<Pod>> = self.api.state.pods.values().filter(is_ours).cloned().collect();
        if waiting.is_empty() {
            self.api.rules.counts.skip("I24");
        }
        for pod in waiting {
            self.api.rules.counts.check("I16");
            if pod.unscheduled().is_none() && !self.is_told_later(&pod) {
                return self.api.rules.break_("I16", &format!("{} waits and was not told why", pod.key));
            }
            let (state, now) = (&self.api.state, self.api.wall());
            let is_open = |node: &&Arc<Node>| !node.unschedulable && node.is_ready;
            let mut fitting =
                state.nodes.values().filter(is_open).filter(|node| fits(state, node, &pod, now)).peekable();
            let count = if fitting.peek().is_none() { Counts::check } else { Counts::skip };
            if let Some(node) = fitting.find(|node| !must_wait_elsewhere(state, &pod, &node.name, now)) {
                let what = format!("{} waits, and {} has room for it", pod.key, node.name);
                self.note_beliefs();
                return self.api.rules.break_("I24", &what);
            }
            count(&mut self.api.rules.counts, "I24");
        }
    }

    /// Logs the figures of each daemon.
    fn note_beliefs(&mut self) {
        for index in 0..self.daemons.len() {
            let now = self.daemons[index].now(self.api.now);
            let figures = self.daemons[index].state.figures(now);
            self.api.note(format_args!("daemon {index} believes {figures:?}"));
        }
    }

    /// Runs until the pod was tried again: a condition that could not be written is written after the next try, as in
    /// kube-scheduler.
    fn is_told_later(&mut self, pod: &Pod) -> bool {
        self.run_until(self.api.now + PARKED);
        let pod = self.api.state.pods.get(&pod.uid);
        pod.is_none_or(|pod| !pod.is_waiting() || pod.unscheduled().is_some())
    }

    /// I7: each reservation is needed, and its end is not too far ahead.
    fn check_reservations(&mut self) {
        let now = self.api.wall();
        for node in self.api.state.nodes.values() {
            for one in node.reservations.iter().filter_map(|one| one.valid()) {
                let Some(replaced) = one.replaces() else { continue };
                let empty = self.api.rules.room_empty_since.get(&replaced.uid).copied();
                self.api.rules.counts.check("I7");
                if let Some(what) = empty.and_then(|empty| expiry::too_far(one, Some(empty), now)) {
                    return self.api.rules.break_("I7", &what);
                }
                if self.api.state.pods.contains_key(&replaced.uid) || !one.is_live(now) {
                    continue;
                }
                let pods: Vec<&Arc<Pod>> = self.api.state.counted(&node.name).collect();
                let taker = room::taker(&self.api.state, &pods, &[], one);
                let is_taken = taker.is_some_and(|taker| !self.would_take_another(node, &pods, taker, one));
                let owner = &one.id.owner;
                let short = releases::missing_pods(&self.api.state, owner);
                let held = releases::open_reservations(&self.api.state, owner, now);
                if is_taken || short.is_some_and(|short| held > short.max(0)) {
                    let what = format!("{} on {} is of no more use ({short:?} short)", one.id, node.name);
                    return self.api.rules.break_("I7", &what);
                }
            }
        }
    }

    /// Whether a pod without a stamp would take another seat of its owner if this one were gone: then this one may stay.
    fn would_take_another(&self, node: &Node, pods: &[&Arc<Pod>], taker: &Pod, own: &Reservation) -> bool {
        let others = node.reservations.iter().filter_map(|one| one.valid());
        let mut others = others.filter(|one| one.id.owner == own.id.owner && one.id != own.id);
        taker.stamp.is_none()
            && others.any(|one| {
                one.is_live(self.api.wall()) && room::taker(&self.api.state, pods, &[taker], one).is_none()
            })
    }

    /// I10 and I16: a daemon leads, and each daemon has the same figures as a state that has just listed everything.
    fn check_beliefs(&mut self) {
        self.api.rules.counts.check("I16");
        let is_leading = self.daemons.iter().any(|daemon| daemon.is_up && daemon.election.leads);
        if self.scenario.is_elected && !is_leading {
            return self.api.rules.break_("I16", "nobody leads");
        }
        let mut fresh_state = self.fresh_state();
        for index in 0..self.daemons.len() {
            let now = self.daemons[index].now(self.api.now);
            let believed = self.daemons[index].state.figures(now);
            let is = fresh_state.figures(now);
            self.api.rules.counts.check("I10");
            let told = |of: &daemon::state::Figures| {
                let counts = (of.nodes, of.pods, of.assumed, of.invalid, of.unprotected);
                (counts, of.reservations.clone(), of.held.clone())
            };
            if told(&believed) != told(&is) {
                let what =
                    format!("daemon {index} believes {:?}, and it is {:?}", told(&believed), told(&is));
                return self.api.rules.break_("I10", &what);
            }
        }
    }

    /// A state that has just listed everything.
    fn fresh_state(&self) -> State {
        let mut state = new_state(self.scenario.automatic_max);
        let now = self.daemons[0].now(self.api.now);
        state.learn(Input::Leading(false), now);
        let lists = STREAMS.iter().filter(|stream| **stream != Stream::Replicas);
        let foreign = self.scenario.foreign_owner.as_ref().and_then(ForeignOwner::owner_event);
        let lists = lists.flat_map(|stream| list_events(&self.api, *stream)).chain(foreign);
        for event in other_lists().into_iter().chain(lists) {
            state.learn(Input::Cluster(Box::new(event)), now);
        }
        state
    }

    /// Where only the command acted: no recreated pod has lost its place.
    fn check_places(&mut self) {
        for (owner, had) in &self.scenario.pods_before_eviction {
            let of = |pod: &&Arc<Pod>| {
                pod.is_counted() && !pod.deleting && self.api.state.owners.owns(owner, pod, None)
            };
            let has = self.api.state.pods.values().filter(of).count();
            self.api.rules.counts.check(NO_PLACE_LOST);
            if has < *had {
                let what = format!("{owner} had {had} pods with a place, and has {has}");
                return self.api.rules.break_(NO_PLACE_LOST, &what);
            }
        }
    }
}

//! After the faults have ended and nobody does anything any more: what must be so then.

use super::api::{STREAMS, Stream, Who};
use super::daemon::new_state;
use super::foreign::Unread;
use super::rules::PROMISE;
use super::sim::Sim;
use super::watches::{listed, others};
use crate::history::waiting::{fits, is_kept_back};
use crate::history::{Counts, expiry, releases, room};
use common::api::names::SCHEDULER_NAME;
use common::model::{Node, Pod, Reservation};
use daemon::state::{Input, State};
use jiff::SignedDuration;
use std::sync::Arc;
use std::time::Duration;

/// Nothing has been written for so long: whatever was to happen has happened. The longest pause of a pod is 10 s.
const STILL: Duration = Duration::from_secs(35);
/// How long it may take until nothing happens any more: reservations end meanwhile.
const SETTLES: Duration = Duration::from_secs(900);
/// When a pod is tried again although nothing happened.
const PARKED: Duration = Duration::from_secs(5 * 60 + 30);
/// How long an expired reservation may lie about.
const EXPIRED_MAX: SignedDuration = SignedDuration::from_secs(90);

impl Sim {
    /// Lives on until nothing happens any more, and looks.
    pub(super) fn settle(&mut self) {
        let quiet = self.scenario.quiet.max(self.faults.end);
        self.run_until(quiet);
        self.heal();
        // The last watch stands still until a minute later, and what only a daemon knows is good for three.
        self.run_until(quiet + Duration::from_secs(250));
        loop {
            let next = (self.api.stirred + STILL).max(self.api.now + Duration::from_secs(1));
            self.run_until(next);
            self.expired();
            if self.api.rules.broken.is_some() {
                return;
            }
            let runs = self.commands.iter().any(|command| command.is_alive);
            if self.api.now >= self.api.stirred + STILL && !runs && !self.is_ending() {
                break;
            }
            if self.api.now > quiet + SETTLES {
                return self.api.rules.break_("I16", "it does not settle");
            }
        }
        self.waiting();
        self.kept();
        self.known();
        self.warned();
        self.compared();
        self.promised();
    }

    /// Whether the time of something is just over, or about to be: whoever waits for that room is yet to be tried.
    fn is_ending(&self) -> bool {
        let (now, still) = (self.api.wall(), SignedDuration::try_from(STILL).unwrap_or_default());
        let all = self.api.picture.nodes.values().flat_map(|node| &*node.reservations);
        let mut ends = all.filter_map(|one| one.valid()?.expires());
        ends.any(|end| end.duration_since(now).abs() < still)
    }

    /// Trouble with nodes ends, too.
    fn heal(&mut self) {
        let ill: Vec<Arc<Node>> =
            self.api.picture.nodes.values().filter(|node| !node.is_ready).cloned().collect();
        for node in ill {
            self.api.put_node(Who::Other, Node { is_ready: true, ..Node::clone(&node) });
        }
    }

    /// I7: nothing outlives its end by more than the slack.
    fn expired(&mut self) {
        let now = self.api.wall();
        let mut late = None;
        for node in self.api.picture.nodes.values() {
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

    /// I16 and I24: who waits has been told why, and has no place.
    fn waiting(&mut self) {
        let is_ours = |pod: &&Arc<Pod>| pod.is_waiting() && &*pod.spec.scheduler_name == SCHEDULER_NAME;
        let waiting: Vec<Arc<Pod>> = self.api.picture.pods.values().filter(is_ours).cloned().collect();
        if waiting.is_empty() {
            self.api.rules.counts.skip("I24");
        }
        for pod in waiting {
            self.api.rules.counts.check("I16");
            if pod.unscheduled().is_none() && !self.is_told_later(&pod) {
                return self.api.rules.break_("I16", &format!("{} waits and was not told why", pod.key));
            }
            let (picture, now) = (&self.api.picture, self.api.wall());
            let is_open = |node: &&Arc<Node>| !node.unschedulable && node.is_ready;
            let mut fitting = picture
                .nodes
                .values()
                .filter(is_open)
                .filter(|node| fits(picture, node, &pod, now))
                .peekable();
            let count = if fitting.peek().is_none() { Counts::check } else { Counts::skip };
            if let Some(node) = fitting.find(|node| !is_kept_back(picture, &pod, &node.name, now)) {
                let what = format!("{} waits, and {} has room for it", pod.key, node.name);
                self.note_beliefs();
                return self.api.rules.break_("I24", &what);
            }
            count(&mut self.api.rules.counts, "I24");
        }
    }

    /// Writes down what each daemon believes.
    fn note_beliefs(&mut self) {
        for index in 0..self.daemons.len() {
            let now = self.daemons[index].now(self.api.now);
            let figures = self.daemons[index].state.figures(now);
            self.api.note(format_args!("daemon {index} believes {figures:?}"));
        }
    }

    /// What could not be written is written after the next try, as upstream does.
    fn is_told_later(&mut self, pod: &Pod) -> bool {
        self.run_until(self.api.now + PARKED);
        let pod = self.api.picture.pods.get(&pod.uid);
        pod.is_none_or(|pod| !pod.is_waiting() || pod.unscheduled().is_some())
    }

    /// I7: what is kept is needed, and ends in time.
    fn kept(&mut self) {
        let now = self.api.wall();
        for node in self.api.picture.nodes.values() {
            for one in node.reservations.iter().filter_map(|one| one.valid()) {
                let Some(replaced) = one.replaces() else { continue };
                let empty = self.api.rules.empty.get(&replaced.uid).copied();
                self.api.rules.counts.check("I7");
                if let Some(what) = empty.and_then(|empty| expiry::too_far(one, Some(empty), now)) {
                    return self.api.rules.break_("I7", &what);
                }
                if self.api.picture.pods.contains_key(&replaced.uid) || !one.is_live(now) {
                    continue;
                }
                let pods: Vec<&Arc<Pod>> = self.api.picture.counted(&node.name).collect();
                let taker = room::taker(&self.api.picture, &pods, &[], one);
                let is_taken = taker.is_some_and(|taker| !self.would_take_another(node, &pods, taker, one));
                let owner = &one.id.owner;
                let short = releases::short(&self.api.picture, owner);
                let held = releases::kept(&self.api.picture, owner, now);
                if is_taken || short.is_some_and(|short| held > short.max(0)) {
                    let what = format!("{} on {} is of no more use ({short:?} short)", one.id, node.name);
                    return self.api.rules.break_("I7", &what);
                }
            }
        }
    }

    /// Whether a pod that says not which seat it took would take another one of its owner with this one gone: then it stays.
    fn would_take_another(&self, node: &Node, pods: &[&Arc<Pod>], taker: &Pod, own: &Reservation) -> bool {
        let others = node.reservations.iter().filter_map(|one| one.valid());
        let mut others = others.filter(|one| one.id.owner == own.id.owner && one.id != own.id);
        taker.stamp.is_none()
            && others.any(|one| {
                one.is_live(self.api.wall()) && room::taker(&self.api.picture, pods, &[taker], one).is_none()
            })
    }

    /// I10 and I16: what each daemon believes is so.
    fn known(&mut self) {
        self.api.rules.counts.check("I16");
        let is_leading = self.daemons.iter().any(|daemon| daemon.is_up && daemon.election.leads);
        if self.scenario.is_elected && !is_leading {
            return self.api.rules.break_("I16", "nobody leads");
        }
        let mut fresh = self.fresh();
        for index in 0..self.daemons.len() {
            let now = self.daemons[index].now(self.api.now);
            let believed = self.daemons[index].state.figures(now);
            let is = fresh.figures(now);
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
    fn fresh(&self) -> State {
        let mut state = new_state(self.scenario.automatic_max);
        let now = self.daemons[0].now(self.api.now);
        state.learn(Input::Leading(false), now);
        let lists = STREAMS.iter().filter(|stream| **stream != Stream::Replicas);
        let foreign = self.scenario.unread.as_ref().and_then(Unread::learnt);
        let lists = lists.flat_map(|stream| listed(&self.api, *stream)).chain(foreign);
        for event in others().into_iter().chain(lists) {
            state.learn(Input::Cluster(Box::new(event)), now);
        }
        state
    }

    /// The promise, where nobody but the command did anything: no recreated pod has lost its place.
    fn promised(&mut self) {
        for (owner, had) in &self.scenario.promised {
            let of = |pod: &&Arc<Pod>| {
                pod.is_counted() && !pod.deleting && self.api.picture.owners.owns(owner, pod, None)
            };
            let has = self.api.picture.pods.values().filter(of).count();
            self.api.rules.counts.check(PROMISE);
            if has < *had {
                let what = format!("{owner} had {had} pods with a place, and has {has}");
                return self.api.rules.break_(PROMISE, &what);
            }
        }
    }
}

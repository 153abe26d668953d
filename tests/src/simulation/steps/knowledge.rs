//! The state that a daemon knew when it decided: everything that its watches had delivered by then, and its own earlier decisions.
//! A write that breaks a rule is excused only if the rule holds for ledgers computed from this state.

use super::api::{Actor, Stream};
use super::rules::{RuleChecker, SeenRevisions, write_key};
use crate::history::cluster_state::ClusterState;
use crate::history::knowledge::{remove_reservation, valid_reservations, with_reservations};
use crate::history::releases;
use common::cluster::{Event, WatchEvent};
use common::model::{Node, NodeName, Pod, Reservation, ReservationId, Uid, Workload};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All stored events with their revision, one log for each kind.
pub(super) type Logs = [Vec<(u64, Event)>; 4];

/// The actual state of the cluster, and the events that led to it.
#[derive(Clone, Copy)]
pub(super) struct Truth<'a> {
    pub(super) state: &'a ClusterState,
    pub(super) logs: &'a Logs,
    pub(super) now: Timestamp,
}

/// The state that a daemon knew when it decided.
pub(super) struct KnownState {
    pub(super) state: ClusterState,
    /// The time of the decision.
    pub(super) at: Timestamp,
}

impl RuleChecker {
    /// A daemon has read the owner of a kind that the daemons do not watch.
    pub(super) fn record_owner_read(&mut self, who: Actor) {
        self.owner_reads.entry(who).or_insert(self.decision_count);
    }

    /// The owner of a kind that the daemons do not watch, if this daemon had read it before decision number `turn`.
    fn foreign_by(&self, who: Actor, turn: usize) -> Option<&Workload> {
        self.foreign_owner.as_ref().filter(|_| self.owner_reads.get(&who).is_some_and(|at| turn > *at))
    }

    /// Whether more than one daemon wrote a reservation.
    fn is_written_by_two(&self, node: &NodeName, id: &ReservationId) -> bool {
        self.writers.get(&(node.clone(), id.to_string())).is_some_and(|writers| writers.len() > 1)
    }

    /// The state that a daemon knew when it decided on `on` (a pod or a reservation); `None` if it never did.
    pub(super) fn known_state(&self, truth: Truth<'_>, who: Actor, on: &str) -> Option<KnownState> {
        let decision = self.decisions.get(&(who, on.to_owned()))?;
        let mut state = state_at(truth.logs, decision.seen);
        if let Some(owner) = self.foreign_by(who, decision.turn) {
            state.owners.put(owner, None);
        }
        let is_earlier = |turn: usize| turn > 0 && turn < decision.turn;
        let unseen = self.bound.iter().filter(|(_, one)| one.by == who && one.at > decision.seen.pods);
        let is_assumed = |uid: &Uid| {
            is_earlier(self.turn(who, &uid.to_string())) && !self.knew_failed_bind(who, uid, decision.turn)
        };
        for (uid, one) in unseen.filter(|(uid, _)| is_assumed(uid)) {
            state.pods.insert(uid.clone(), Arc::clone(&one.pod));
        }
        for pod in self.pending_binds.iter().filter(|pod| is_earlier(self.turn(who, &pod.uid.to_string()))) {
            state.pods.insert(pod.uid.clone(), Arc::new(pod.clone()));
        }
        for (name, node) in &truth.state.nodes {
            let Some(known) = state.nodes.get(name).filter(|known| known.uid == node.uid) else { continue };
            let own = valid_reservations(node).filter(|one| is_earlier(self.write_turn(who, name, one)));
            let own =
                own.filter(|one| !self.is_rewritten_by_two(truth.logs, name, &one.id, decision.seen.nodes));
            let own: Vec<&Arc<Reservation>> =
                own.filter(|one| !valid_reservations(known).any(|old| old == *one)).collect();
            if !own.is_empty() {
                let next = with_reservations(known, &own);
                state.nodes.insert(name.clone(), Arc::new(next));
            }
        }
        Some(KnownState { state, at: decision.at })
    }

    /// Whether two daemons wrote the same reservation, and this one has seen that it was there and is gone again: its own write may
    /// arrive later, and it need not know that. With an election only one daemon writes.
    fn is_rewritten_by_two(&self, logs: &Logs, node: &NodeName, id: &ReservationId, seen: u64) -> bool {
        if self.is_elected || !self.is_written_by_two(node, id) {
            return false;
        }
        let seen = up_to(logs, Stream::Nodes, seen);
        let versions = seen.filter_map(|event| match event {
            Event::Nodes(WatchEvent::Applied(version)) if version.name == *node => Some(version),
            _ => None,
        });
        let (mut was_there, mut is_there) = (false, false);
        for version in versions {
            is_there = valid_reservations(version).any(|one| one.id == *id);
            was_there |= is_there;
        }
        was_there && !is_there
    }

    /// The number of the decision of a daemon to write this reservation; 0 if there is none. The daemon knows its own reservations
    /// from the decision on.
    fn write_turn(&self, who: Actor, node: &NodeName, reservation: &Reservation) -> usize {
        let request = reservation.record().map_or("", |record| &record.request);
        self.turn(who, &write_key(&format!("{node}/{}", reservation.id), request))
    }

    /// The number among all decisions of a daemon's decision on `on`; 0 if there is none.
    pub(super) fn turn(&self, who: Actor, on: &str) -> usize {
        self.decisions.get(&(who, on.to_owned())).map_or(0, |decision| decision.turn)
    }

    /// The state with the daemon's own decisions as of its decision on `pod`: with its earlier binds, even if they have not
    /// arrived, and without its later binds, even if they have arrived.
    pub(super) fn with_own_decisions(&self, state: &ClusterState, who: Actor, pod: &Pod) -> ClusterState {
        let turn = |uid: &Uid| self.turn(who, &uid.to_string());
        let own = turn(&pod.uid);
        let mut then = state.clone();
        then.pods.retain(|uid, _| self.bound.get(uid).is_none_or(|one| one.by != who) || turn(uid) <= own);
        for other in self.pending_binds.iter().filter(|other| turn(&other.uid) < own) {
            then.pods.insert(other.uid.clone(), Arc::new(other.clone()));
        }
        then
    }
}

/// The state at these revisions.
fn state_at(logs: &Logs, seen: SeenRevisions) -> ClusterState {
    let mut pods: BTreeMap<&Uid, &Pod> = BTreeMap::new();
    for event in up_to(logs, Stream::Pods, seen.pods) {
        match event {
            Event::Pods(WatchEvent::Applied(pod)) => drop(pods.insert(&pod.uid, pod)),
            Event::Pods(WatchEvent::Deleted(pod)) => drop(pods.remove(&pod.uid)),
            _ => {}
        }
    }
    let mut nodes: BTreeMap<&NodeName, &Node> = BTreeMap::new();
    for event in up_to(logs, Stream::Nodes, seen.nodes) {
        match event {
            Event::Nodes(WatchEvent::Applied(node)) => drop(nodes.insert(&node.name, node)),
            Event::Nodes(WatchEvent::Deleted(node)) => drop(nodes.remove(&node.name)),
            _ => {}
        }
    }
    let mut state = ClusterState {
        pods: pods.into_iter().map(|(uid, pod)| (uid.clone(), Arc::new(pod.clone()))).collect(),
        nodes: nodes.into_iter().map(|(name, node)| (name.clone(), Arc::new(node.clone()))).collect(),
        ..ClusterState::default()
    };
    for event in up_to(logs, Stream::Workloads, seen.owners) {
        match event {
            Event::Workloads(_, WatchEvent::Applied(workload)) => state.owners.put(workload, None),
            Event::Workloads(_, WatchEvent::Deleted(workload)) => {
                state.owners.put(workload, Some(Timestamp::UNIX_EPOCH));
            }
            _ => {}
        }
    }
    state
}

fn up_to(logs: &Logs, stream: Stream, revision: u64) -> impl Iterator<Item = &Event> {
    let log = &logs[stream as usize];
    let end = log.partition_point(|(at, _)| *at <= revision);
    log[..end].iter().map(|(_, event)| event)
}

/// Removes from the pod's node the reservations that the daemon itself was writing when it decided on `pod`, and that do no harm.
/// Such a reservation is for the pod's own owner (a pod left before the seat that it had taken was released, so there are two), or
/// it is surplus: by what the daemon knows, its owner lacks fewer pods. In both cases the daemon releases it once it has seen its
/// own write.
pub(super) fn remove_harmless(then: &mut KnownState, logs: &Logs, pod: &Pod, seen: u64) {
    let Some(name) = pod.node.as_ref() else { return };
    let Some(node) = then.state.nodes.get(name).cloned() else { return };
    let before = up_to(logs, Stream::Nodes, seen).filter_map(|event| match event {
        Event::Nodes(WatchEvent::Applied(node)) if node.name == *name => Some(node),
        _ => None,
    });
    let before: Vec<&ReservationId> =
        before.last().into_iter().flat_map(valid_reservations).map(|one| &one.id).collect();
    for one in valid_reservations(&node).filter(|one| !before.contains(&&one.id)) {
        let owner = &one.id.owner;
        let short = releases::missing_pods(&then.state, owner);
        let is_surplus = short
            .is_some_and(|short| releases::open_reservations(&then.state, owner, then.at) > short.max(0));
        if is_surplus || then.state.owners.owns(owner, pod, None) {
            remove_reservation(&mut then.state, name, &one.id);
        }
    }
}

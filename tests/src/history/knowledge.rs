//! The state that a daemon knew when it decided on a write. A write that breaks a rule is excused only if the rule holds for
//! ledgers computed from this state (`Replay::was_right`).
//!
//! A simulation records what lists and watches delivered to each daemon ([`Delivery`]), and when each write was sent
//! ([`SendInfo`]). A write was decided on at most [`CheckSettings::unseen`](super::CheckSettings::unseen) before that; so it is
//! excused if it was right on the state that the daemon knew at any moment in between. On a real cluster deliveries are not
//! recorded: there, everything older than that was seen, and any part of the rest may have been.

use super::cluster_state::ClusterState;
use super::replay::{Replay, StoredWrite};
use super::{Version, VersionedObject, room};
use common::model::reservation::ParsedReservation;
use common::model::{Node, NodeName, Reservation, ReservationId, Uid};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A list or watch event that reached a daemon: from then on it knows all objects of the kind up to the revision.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The time of the delivery.
    pub at: Timestamp,
    /// The resource name, such as `pods`.
    pub plural: String,
    /// The revision up to which all objects of the kind are known.
    pub revision: u64,
}

/// How a write was sent.
#[derive(Clone, Copy, Debug)]
pub struct SendInfo {
    /// The time of sending.
    pub at: Timestamp,
    /// How many deliveries had reached the sender by then.
    pub deliveries: usize,
    /// The position among all writes, in the order of sending.
    pub number: u64,
}

/// The revision up to which each kind was known at one moment. Kinds without an entry are known completely.
#[derive(Clone, Debug, Default)]
pub(super) struct Knowledge {
    kinds: BTreeMap<String, u64>,
    /// How many deliveries there had been, if they are recorded.
    deliveries: Option<usize>,
}

/// The most combinations of revisions that are tried.
const COMBINATIONS_MAX: usize = 1_000;

impl Knowledge {
    fn of(&self, plural: &str) -> u64 {
        self.kinds.get(plural).copied().unwrap_or(u64::MAX)
    }

    /// Whether a write that was sent like this may have been decided on after this moment.
    fn is_before(&self, sent: Option<&SendInfo>) -> bool {
        self.deliveries.zip(sent).is_some_and(|(deliveries, sent)| sent.deliveries > deliveries)
    }
}

impl<'h> Replay<'h> {
    /// Whether a write about `node` was right on a state that its sender may have known when it decided.
    pub(super) fn was_right(
        &self,
        stored: StoredWrite<'h>,
        (node, revision): (&NodeName, u64),
        is_right: impl Fn(&ClusterState, Timestamp) -> bool,
    ) -> bool {
        let sent = self.history.sends.get(&stored.index);
        let at = sent.map_or(stored.write.at, |sent| sent.at);
        let moments = match (sent, self.history.deliveries.get(&stored.write.user)) {
            (Some(sent), Some(deliveries)) => {
                self.delivered_knowledge(&deliveries[..sent.deliveries.min(deliveries.len())], at)
            }
            _ => self.possible_knowledge(node, at, revision),
        };
        moments.iter().any(|knowledge| is_right(&self.known_state(stored, knowledge, revision), at))
    }

    /// What a daemon knew at each moment before it sent a write, by its deliveries, the latest first.
    fn delivered_knowledge(&self, deliveries: &[Delivery], sent: Timestamp) -> Vec<Knowledge> {
        let from = sent - self.settings.unseen();
        let (mut knowledge, mut moments) = (Knowledge::default(), Vec::new());
        for (index, one) in deliveries.iter().enumerate() {
            if one.at >= from && moments.is_empty() {
                moments.push(knowledge.clone());
            }
            knowledge.kinds.insert(one.plural.clone(), one.revision);
            knowledge.deliveries = Some(index + 1);
            if one.at >= from {
                moments.push(knowledge.clone());
            }
        }
        if moments.is_empty() {
            moments.push(knowledge);
        }
        moments.reverse();
        moments
    }

    /// What a daemon may have known of a node before a write, if deliveries are not recorded.
    fn possible_knowledge(&self, node: &NodeName, at: Timestamp, revision: u64) -> Vec<Knowledge> {
        let from = at - self.settings.unseen();
        let mut revisions: [BTreeSet<u64>; 2] = Default::default();
        let mut last = [0, 0];
        for version in self.versions.iter().take_while(|version| version.revision < revision) {
            let (kind, is_about) = match &version.object {
                VersionedObject::Pod(pod) | VersionedObject::PodGone(pod) => {
                    (1, pod.node.as_ref() == Some(node))
                }
                VersionedObject::Node(one, _) | VersionedObject::NodeGone(one) => (0, one.name == *node),
            };
            if version.at <= from {
                last[kind] = version.revision;
            } else if is_about {
                revisions[kind].insert(version.revision);
            }
        }
        let [nodes, pods] = revisions;
        let both =
            |last: u64, more: BTreeSet<u64>| -> Vec<u64> { more.into_iter().rev().chain([last]).collect() };
        let (nodes, pods) = (both(last[0], nodes), both(last[1], pods));
        let pairs = nodes.iter().flat_map(|nodes| pods.iter().map(move |pods| (*nodes, *pods)));
        let knowledge = |(nodes, pods)| {
            let kinds = BTreeMap::from([("nodes".to_owned(), nodes), ("pods".to_owned(), pods)]);
            Knowledge { kinds, deliveries: None }
        };
        pairs.take(COMBINATIONS_MAX).map(knowledge).collect()
    }

    /// The state for the sender of a write with this knowledge, who also knows its own earlier writes.
    fn known_state(&self, stored: StoredWrite<'h>, knowledge: &Knowledge, revision: u64) -> ClusterState {
        let mut state = ClusterState::default();
        let before = self.versions.iter().take_while(|version| version.revision < revision);
        for version in before.clone() {
            let kind = if matches!(version.object, VersionedObject::Pod(_) | VersionedObject::PodGone(_)) {
                "pods"
            } else {
                "nodes"
            };
            if version.revision <= knowledge.of(kind) {
                learn(&mut state, version);
            }
        }
        for change in self.changes.iter().filter(|change| change.revision < revision) {
            if change.revision <= knowledge.of(change.plural()) {
                state.owners.apply(change);
            }
        }
        for version in before {
            self.add_own(&mut state, stored, knowledge, version);
        }
        self.add_slower_bindings(&mut state, stored, revision);
        state
    }

    /// Adds the pods that the sender of a write had decided to bind before it, and whose bindings were stored after it: requests
    /// about different pods overtake each other on their way.
    fn add_slower_bindings(&self, state: &mut ClusterState, stored: StoredWrite<'h>, revision: u64) {
        let number = |one: StoredWrite<'h>| self.history.sends.get(&one.index).map(|sent| sent.number);
        let Some(sent) = number(stored) else { return };
        let is_slower = |uid: &Uid| {
            self.bindings.get(uid).copied().is_some_and(|other| {
                other.write.user == stored.write.user && number(other).is_some_and(|number| number < sent)
            })
        };
        let start = self.versions.partition_point(|version| version.revision <= revision);
        for version in &self.versions[start..] {
            if let VersionedObject::Pod(pod) = &version.object
                && state.pods.get(&pod.uid).is_some_and(|known| known.node.is_none())
                && pod.node.is_some()
                && is_slower(&pod.uid)
            {
                state.pods.insert(pod.uid.clone(), Arc::clone(pod));
            }
        }
    }

    /// Adds what the sender of a write has itself written before, and not seen yet.
    fn add_own(
        &self,
        state: &mut ClusterState,
        stored: StoredWrite<'h>,
        knowledge: &Knowledge,
        version: &Version,
    ) {
        let is_own = |other: Option<StoredWrite<'h>>| {
            other.is_some_and(|other| other.write.user == stored.write.user && self.is_before(other, stored))
        };
        match &version.object {
            VersionedObject::Pod(pod) if version.revision > knowledge.of("pods") => {
                let is_bound = pod.node.is_some()
                    && state.pods.get(&pod.uid).is_none_or(|known| known.node.is_none())
                    && pod.node.as_ref().is_some_and(|node| !self.settings.contended.contains(node.as_str()));
                if is_bound && is_own(self.bindings.get(&pod.uid).copied()) {
                    state.pods.insert(pod.uid.clone(), Arc::clone(pod));
                }
            }
            VersionedObject::Node(node, _) if version.revision > knowledge.of("nodes") => {
                let write = self.node_writes.get(&version.revision).copied();
                let sent = write.and_then(|write| self.history.sends.get(&write.index));
                // A binding can wait for an earlier write about its pod: then writes that were decided on later are sent before it.
                if !is_own(write) || knowledge.is_before(sent) {
                    return;
                }
                let was = self.node_before(&node.name, version.revision);
                let fresh = valid_reservations(node)
                    .filter(|one| was.is_none_or(|was| !valid_reservations(was).any(|old| old == *one)));
                if let Some(known) = state.nodes.get(&node.name).filter(|known| known.uid == node.uid) {
                    let fresh: Vec<&Arc<Reservation>> =
                        fresh.filter(|one| !passes_on_seat(known, one)).collect();
                    let next = with_reservations(known, &fresh);
                    state.nodes.insert(node.name.clone(), Arc::new(next));
                }
            }
            _ => {}
        }
    }

    fn node_before(&self, name: &NodeName, revision: u64) -> Option<&Arc<Node>> {
        let end = self.versions.partition_point(|version| version.revision < revision);
        self.versions[..end].iter().rev().find_map(|version| match &version.object {
            VersionedObject::Node(node, _) if node.name == *name => Some(node),
            _ => None,
        })
    }

    /// Whether a write was sent before another one of the same sender.
    fn is_before(&self, one: StoredWrite<'h>, other: StoredWrite<'h>) -> bool {
        match (self.history.sends.get(&one.index), self.history.sends.get(&other.index)) {
            (Some(one), Some(other)) => one.number < other.number,
            _ => one.index < other.index,
        }
    }
}

/// Applies a version to a state.
fn learn(state: &mut ClusterState, version: &Version) {
    match &version.object {
        VersionedObject::Pod(pod) => drop(state.pods.insert(pod.uid.clone(), Arc::clone(pod))),
        VersionedObject::PodGone(pod) => drop(state.pods.remove(&pod.uid)),
        VersionedObject::Node(node, _) => drop(state.nodes.insert(node.name.clone(), Arc::clone(node))),
        VersionedObject::NodeGone(node) => drop(state.nodes.remove(&node.name)),
    }
}

/// Whether a seat that is on the node would be passed on to this reservation. Both are about the same room: until the daemon sees the
/// new one, it counts the seat.
pub(super) fn passes_on_seat(known: &Node, fresh: &Arc<Reservation>) -> bool {
    let with_fresh = with_reservations(known, &[fresh]);
    let mut seats = valid_reservations(known).filter(|seat| seat.id != fresh.id);
    seats.any(|seat| !room::is_passed_on(known, seat) && room::is_passed_on(&with_fresh, seat))
}

/// The valid reservations of a node.
pub fn valid_reservations(node: &Node) -> impl Iterator<Item = &Arc<Reservation>> {
    node.reservations.iter().filter_map(ParsedReservation::valid)
}

/// The node with these reservations, which replace those of the same id.
pub fn with_reservations(node: &Node, own: &[&Arc<Reservation>]) -> Node {
    let is_own =
        |one: &ParsedReservation| one.valid().is_some_and(|one| own.iter().any(|own| own.id == one.id));
    let kept = node.reservations.iter().filter(|one| !is_own(one)).cloned();
    let reservations = kept.chain(own.iter().map(|one| ParsedReservation::Valid(Arc::clone(one)))).collect();
    Node { reservations, ..node.clone() }
}

/// Removes a reservation from its node, and returns it if it was there.
pub fn remove_reservation(
    state: &mut ClusterState,
    node: &NodeName,
    id: &ReservationId,
) -> Option<Arc<Reservation>> {
    let known = state.nodes.get(node)?;
    let found = valid_reservations(known).find(|one| one.id == *id).cloned()?;
    let is_it = |one: &ParsedReservation| one.valid().is_some_and(|one| one.id == *id);
    let reservations = known.reservations.iter().filter(|one| !is_it(one)).cloned().collect();
    let next = Node { reservations, ..Node::clone(known) };
    state.nodes.insert(node.clone(), Arc::new(next));
    Some(found)
}

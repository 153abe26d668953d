//! What people are told, each thing once: malformed annotations, reservations that vanished, room that a reservation
//! yielded, wishes that make no sense or cannot be granted.
//!
//! The event about a yield on the owner names the pod that got the room; the one on that pod says only that the room was
//! kept, never for whom: who runs what is not for strangers to know.

use super::writes::Writes;
use crate::state::{Effect, Note, ObjectEvent, ObjectRef, Step};
use common::cluster::ledger::Entry;
use common::cluster::{Cluster, Ledger, NodeId, NotKept, State};
use common::model::ids::{Text, Uid};
use common::model::keep::Keep;
use common::model::owner::Owner;
use common::model::reservation::Parsed;
use common::model::{Node, NodeName, Pod, Reservation};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A pod that was bound longer ago than this is no news.
const NEWS_MAX: SignedDuration = SignedDuration::from_secs(60);

/// What was said is remembered for so many things; then all may be said once more.
const TOLD_MAX: usize = 10_000;

/// A reservation did not keep its place, and nobody wanted that.
const LOST: &str = "ReservationLost";

/// What was told, and what is to be.
#[derive(Default)]
pub(super) struct Events {
    nodes: BTreeMap<NodeId, Known>,
    /// About what, and what.
    told: BTreeSet<(Uid, Text)>,
    waiting: Vec<(ObjectEvent, Option<Note>)>,
}

/// A node as it was when it was last looked at.
struct Known {
    name: NodeName,
    uid: Uid,
    /// Whether it had annotations of others.
    has_others: bool,
    reservations: Vec<(Arc<Reservation>, State)>,
}

impl Events {
    /// Looks at what is new on a node.
    pub(super) fn observe(&mut self, id: NodeId, cluster: &Cluster, writes: &mut Writes, now: Timestamp) {
        let ledger = cluster.ledger(id);
        if let Some(known) = self.nodes.remove(&id) {
            self.vanished(&known, ledger, writes, now);
        }
        let Some(ledger) = ledger.filter(|ledger| !ledger.node.reservations.is_empty()) else { return };
        self.malformed(ledger);
        for entry in ledger.entries.iter().filter(|entry| entry.state == State::Short) {
            self.yielded(entry, ledger, cluster, now);
        }
        let written = ledger.entries.iter().filter(|entry| ledger.says(&entry.reservation));
        let reservations = written.map(|entry| (Arc::clone(&entry.reservation), entry.state)).collect();
        let (node, has_others) = (&ledger.node, has_others(&ledger.node));
        self.nodes
            .insert(id, Known { name: node.name.clone(), uid: node.uid.clone(), has_others, reservations });
    }

    /// Says what is to be said.
    pub(super) fn send(&mut self, step: &mut Step<'_>) {
        for (mut event, note) in self.waiting.drain(..) {
            event.at = step.now.wall;
            step.effects.push(Effect::WriteEvent(Box::new(event)));
            step.notes.extend(note);
        }
    }

    /// A reservation that is gone before its time, and not by our hand, nor because it was taken.
    fn vanished(&mut self, known: &Known, ledger: Option<&Ledger>, writes: &mut Writes, now: Timestamp) {
        let ledger = ledger.filter(|ledger| ledger.node.uid == known.uid);
        for (reservation, state) in &known.reservations {
            if ledger.is_some_and(|ledger| ledger.is_reserved(&reservation.id)) {
                continue;
            }
            let is_ours = writes.was_released(&known.name, &reservation.id);
            let Some(record) = reservation.record().filter(|_| reservation.is_live(now)) else { continue };
            if is_ours || matches!(state, State::Taken | State::Expired) {
                continue;
            }
            let (about, note) = (ObjectRef::from(&record.owner), Some(Note::Lost));
            let what = format!("The reservation {} on node {}", reservation.id, known.name);
            let (event, note) = match ledger {
                None => (ObjectEvent::warning(about, LOST, format!("{what} is gone with its node")), note),
                // Whoever releases one leaves the annotations of others alone.
                Some(ledger) if known.has_others && !has_others(&ledger.node) => (
                    ObjectEvent::warning(about, LOST, format!("{what} was removed with all annotations")),
                    note,
                ),
                Some(_) => {
                    let event = format!("{what} was released by hand");
                    let event = ObjectEvent::normal(about, "ReservationReleased", event);
                    (event, Some(Note::Released { why: "by-hand" }))
                }
            };
            self.tell(event, note);
        }
    }

    fn malformed(&mut self, ledger: &Ledger) {
        for invalid in ledger.node.reservations.iter().filter_map(Parsed::invalid) {
            let about = ObjectRef::node(&ledger.node.name, &ledger.node.uid);
            let note = format!("Ignored the annotation {}: {}", invalid.key, invalid.problem);
            self.tell(ObjectEvent::warning(about, "InvalidReservation", note), None);
        }
    }

    /// The pods that a short reservation gave way to.
    fn yielded(&mut self, entry: &Entry, ledger: &Ledger, cluster: &Cluster, now: Timestamp) {
        let reservation = &*entry.reservation;
        let Some(record) = reservation.record() else { return };
        for pod in ledger.pods.iter().filter(|pod| is_news(pod, reservation, now)) {
            let pod_context = cluster.pod_context(pod);
            if cluster.is_assumed(&pod.key)
                || pod_context.may_use(reservation)
                || !pod_context.outranks(reservation, ledger)
            {
                continue;
            }
            let node = &ledger.node.name;
            let note = format!(
                "The room reserved as {} on node {node} was given to pod {} of priority {}",
                reservation.id, pod.key, pod.spec.priority
            );
            let event = ObjectEvent::warning(ObjectRef::from(&record.owner), "ReservationYielded", note);
            self.tell(ObjectEvent { related: Some(ObjectRef::from(&**pod)), ..event }, Some(Note::Yielded));
            let note = format!("Placed on node {node}, in room that was reserved for pods of lower rank");
            self.tell(ObjectEvent::normal(ObjectRef::from(&**pod), "ReservationYielded", note), None);
        }
    }

    /// An owner's wish makes no sense.
    pub(super) fn keep_invalid(&mut self, owner: &Owner, text: &str) {
        self.tell(ObjectEvent::warning(ObjectRef::from(owner), "InvalidKeep", invalid_keep(text)), None);
    }

    /// The same for all namespaces.
    pub(super) fn namespaces(&mut self, cluster: &Cluster) {
        for namespace in cluster.catalog().namespaces.iter() {
            if let Some(Keep::Invalid(text)) = &namespace.keep {
                let event =
                    ObjectEvent::warning(ObjectRef::namespace(namespace), "InvalidKeep", invalid_keep(text));
                self.tell(event, None);
            }
        }
    }

    /// The same for a pod.
    pub(super) fn pod_keep(&mut self, pod: &Pod) {
        if let Some(Keep::Invalid(text)) = pod.keep() {
            self.tell(ObjectEvent::warning(ObjectRef::from(pod), "InvalidKeep", invalid_keep(text)), None);
        }
    }

    /// A pod asked for a reservation that it cannot have.
    pub(super) fn not_reserved(&mut self, pod: &Pod, why: &NotKept) {
        let note = format!("No room is reserved: {why}");
        let event = ObjectEvent::warning(ObjectRef::from(pod), "NotReserved", note);
        self.tell(ObjectEvent { answers: whose(pod), ..event }, Some(Note::NotReserved { why: why.word() }));
    }

    /// Those of the pods for which no place can be kept when they are deleted, which is told while they are there.
    pub(super) fn unprotected<'p>(&mut self, pods: impl Iterator<Item = &'p Arc<Pod>>, cluster: &Cluster) {
        for pod in pods.filter(|pod| !pod.deleting && pod.keep().is_none()) {
            self.asks_nothing(pod, cluster);
        }
    }

    /// The pod does not ask for a reservation; if it did before and does again, it is told again. What its owner or its namespace asks
    /// for may be impossible.
    pub(super) fn asks_nothing(&mut self, pod: &Pod, cluster: &Cluster) {
        let Some(why) = cluster.unprotected(pod) else { return self.forget(&pod.uid) };
        let note = format!("Its room may not be kept when it is deleted: {why}");
        let note = ObjectEvent::warning(ObjectRef::from(pod), "NotReserved", note);
        self.tell(note, Some(Note::NotReserved { why: why.word() }));
    }

    fn forget(&mut self, about: &Uid) {
        let told = self.told.range((about.clone(), Text::default())..);
        let told: Vec<_> = told.take_while(|(uid, _)| uid == about).cloned().collect();
        for known in &told {
            self.told.remove(known);
        }
    }

    fn tell(&mut self, event: ObjectEvent, note: Option<Note>) {
        if self.told.len() >= TOLD_MAX {
            self.told.clear();
        }
        let whom = event.answers.as_deref().unwrap_or_default();
        // A replica that does not lead sends nothing, so that there has to be an end to what waits.
        let has_room = self.waiting.len() < TOLD_MAX;
        if has_room && self.told.insert((event.about.uid.clone(), format!("{}#{whom}", event.note).into())) {
            self.waiting.push((event, note));
        }
    }
}

/// The pod has the reservation that it asked for.
pub(super) fn reserved(pod: &Pod, until: Option<Timestamp>, now: Timestamp) -> ObjectEvent {
    let node = pod.node.as_ref().map(ToString::to_string).unwrap_or_default();
    let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
    let note = format!("Its room on node {node} is reserved{until}");
    ObjectEvent {
        at: now,
        answers: whose(pod),
        ..ObjectEvent::normal(ObjectRef::from(pod), "Reserved", note)
    }
}

/// Whose wish the pod's is, if somebody waits for an answer.
fn whose(pod: &Pod) -> Option<Text> {
    pod.keep().and_then(Keep::by).cloned()
}

/// Whether the node has annotations that are not ours. Every node of a cluster with a controller manager has.
fn has_others(node: &Node) -> bool {
    node.annotations.bytes > node.annotations.our_bytes
}

/// Whether the pod came after the reservation was made, and not long ago.
fn is_news(pod: &Pod, reservation: &Reservation, now: Timestamp) -> bool {
    let since = pod.scheduled_at();
    since.is_some_and(|since| Some(since) >= reservation.created() && now.duration_since(since) < NEWS_MAX)
}

fn invalid_keep(text: &str) -> String {
    format!(
        "Ignored the annotation {}: {text:?} is neither \"true\" nor a duration such as 5m, with or without #name",
        common::api::names::KEEP
    )
}

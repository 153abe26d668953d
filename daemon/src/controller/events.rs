//! The events of the controller, each sent once: malformed annotations, reservations that vanished or yielded, values of
//! `reserve/keep` that are invalid or cannot be fulfilled.
//!
//! When a reservation yields, the event on its owner names the pod that got the room. The event on that pod does not name the
//! owner: users must not learn from events what other users run.

use super::writes::Writes;
use crate::state::{Effect, Note, ObjectEvent, ObjectRef, Step};
use common::cluster::ledger::Entry;
use common::cluster::{Cluster, Ledger, NodeId, NotReservedReason, ReservationState};
use common::model::{Keep, Node, NodeName, Owner, ParsedReservation, Pod, Reservation, Text, Uid};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A yield to a pod that was bound longer ago than this is not reported.
const REPORT_MAX_AGE: SignedDuration = SignedDuration::from_secs(60);

/// How many sent events are remembered; beyond that all are forgotten and may be sent once more.
const SENT_MAX: usize = 10_000;

/// The reason of the event about a live reservation that vanished.
const LOST: &str = "ReservationLost";

#[derive(Default)]
pub(super) struct Events {
    nodes: BTreeMap<NodeId, ObservedNode>,
    /// The object and the text of each event that was sent.
    sent: BTreeSet<(Uid, Text)>,
    queue: Vec<(ObjectEvent, Option<Note>)>,
}

/// A node as it was at the last check.
struct ObservedNode {
    name: NodeName,
    uid: Uid,
    /// Whether it had annotations that are not ours.
    has_others: bool,
    reservations: Vec<(Arc<Reservation>, ReservationState)>,
}

impl Events {
    /// Queues events about what changed on a node since the last check.
    pub(super) fn observe(&mut self, id: NodeId, cluster: &Cluster, writes: &mut Writes, now: Timestamp) {
        let ledger = cluster.ledger(id);
        if let Some(known) = self.nodes.remove(&id) {
            self.report_vanished(&known, ledger, writes, now);
        }
        let Some(ledger) = ledger.filter(|ledger| !ledger.node.reservations.is_empty()) else { return };
        self.report_malformed(ledger);
        for entry in ledger.entries.iter().filter(|entry| entry.state == ReservationState::Short) {
            self.report_yield(entry, ledger, cluster, now);
        }
        let written = ledger.entries.iter().filter(|entry| ledger.is_durable(&entry.reservation));
        let reservations = written.map(|entry| (Arc::clone(&entry.reservation), entry.state)).collect();
        let (node, has_others) = (&ledger.node, has_others(&ledger.node));
        self.nodes.insert(
            id,
            ObservedNode { name: node.name.clone(), uid: node.uid.clone(), has_others, reservations },
        );
    }

    pub(super) fn send(&mut self, step: &mut Step<'_>) {
        for (mut event, note) in self.queue.drain(..) {
            event.at = step.now.wall;
            step.effects.push(Effect::WriteEvent(Box::new(event)));
            step.notes.extend(note);
        }
    }

    /// Queues events about live reservations that are gone, unless they were taken or this daemon released them.
    fn report_vanished(
        &mut self,
        known: &ObservedNode,
        ledger: Option<&Ledger>,
        writes: &mut Writes,
        now: Timestamp,
    ) {
        let ledger = ledger.filter(|ledger| ledger.node.uid == known.uid);
        for (reservation, state) in &known.reservations {
            if ledger.is_some_and(|ledger| ledger.is_reserved(&reservation.id)) {
                continue;
            }
            let is_ours = writes.take_released(&known.name, &reservation.id);
            let Some(record) = reservation.record().filter(|_| reservation.is_live(now)) else { continue };
            if is_ours || matches!(state, ReservationState::Taken | ReservationState::Expired) {
                continue;
            }
            let (about, note) = (ObjectRef::from(&record.owner), Some(Note::ReservationLost));
            let what = format!("The reservation {} on node {}", reservation.id, known.name);
            let (event, note) = match ledger {
                None => (ObjectEvent::warning(about, LOST, format!("{what} is gone with its node")), note),
                // A release by hand does not remove annotations that are not ours.
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
            self.enqueue(event, note);
        }
    }

    fn report_malformed(&mut self, ledger: &Ledger) {
        for invalid in ledger.node.reservations.iter().filter_map(ParsedReservation::invalid) {
            let about = ObjectRef::node(&ledger.node.name, &ledger.node.uid);
            let note = format!("Ignored the annotation {}: {}", invalid.key, invalid.problem);
            self.enqueue(ObjectEvent::warning(about, "InvalidReservation", note), None);
        }
    }

    /// Queues events about the pods that a short reservation yielded to.
    fn report_yield(&mut self, entry: &Entry, ledger: &Ledger, cluster: &Cluster, now: Timestamp) {
        let reservation = &*entry.reservation;
        let Some(record) = reservation.record() else { return };
        for pod in ledger.pods.iter().filter(|pod| is_recent(pod, reservation, now)) {
            let context = cluster.context(pod);
            if cluster.is_assumed(&pod.key)
                || context.may_use(reservation)
                || !context.outranks(reservation, ledger)
            {
                continue;
            }
            let node = &ledger.node.name;
            let note = format!(
                "The room reserved as {} on node {node} was given to pod {} of priority {}",
                reservation.id, pod.key, pod.spec.priority
            );
            let event = ObjectEvent::warning(ObjectRef::from(&record.owner), "ReservationYielded", note);
            self.enqueue(
                ObjectEvent { related: Some(ObjectRef::from(&**pod)), ..event },
                Some(Note::ReservationYielded),
            );
            let note = format!("Placed on node {node}, in room that was reserved for pods of lower rank");
            self.enqueue(ObjectEvent::normal(ObjectRef::from(&**pod), "ReservationYielded", note), None);
        }
    }

    pub(super) fn keep_invalid(&mut self, owner: &Owner, text: &str) {
        self.enqueue(ObjectEvent::warning(ObjectRef::from(owner), "InvalidKeep", invalid_keep(text)), None);
    }

    pub(super) fn namespaces_with_invalid_keep(&mut self, cluster: &Cluster) {
        for namespace in cluster.catalog().namespaces.iter() {
            if let Some(Keep::Invalid(text)) = &namespace.keep {
                let event =
                    ObjectEvent::warning(ObjectRef::namespace(namespace), "InvalidKeep", invalid_keep(text));
                self.enqueue(event, None);
            }
        }
    }

    pub(super) fn pod_keep_invalid(&mut self, pod: &Pod) {
        if let Some(Keep::Invalid(text)) = pod.keep() {
            self.enqueue(ObjectEvent::warning(ObjectRef::from(pod), "InvalidKeep", invalid_keep(text)), None);
        }
    }

    pub(super) fn not_reserved(&mut self, pod: &Pod, why: &NotReservedReason) {
        let note = format!("No room is reserved: {why}");
        let event = ObjectEvent::warning(ObjectRef::from(pod), "NotReserved", note);
        self.enqueue(
            ObjectEvent { answers: requester(pod), ..event },
            Some(Note::NotReserved { why: why.as_str() }),
        );
    }

    /// Warns about pods for which no reservation can be made when they are deleted.
    pub(super) fn unprotected<'p>(&mut self, pods: impl Iterator<Item = &'p Arc<Pod>>, cluster: &Cluster) {
        for pod in pods.filter(|pod| !pod.deleting && pod.keep().is_none()) {
            self.no_keep(pod, cluster);
        }
    }

    /// The pod itself has no `reserve/keep`: if it has one again later, its events are sent again. Its owner or its namespace may
    /// have one that cannot be fulfilled.
    pub(super) fn no_keep(&mut self, pod: &Pod, cluster: &Cluster) {
        let Some(why) = cluster.record_too_long(pod) else { return self.forget(&pod.uid) };
        let note = format!("Its room may not be kept when it is deleted: {why}");
        let note = ObjectEvent::warning(ObjectRef::from(pod), "NotReserved", note);
        self.enqueue(note, Some(Note::NotReserved { why: why.as_str() }));
    }

    fn forget(&mut self, about: &Uid) {
        let sent = self.sent.range((about.clone(), Text::default())..);
        let sent: Vec<_> = sent.take_while(|(uid, _)| uid == about).cloned().collect();
        for event in &sent {
            self.sent.remove(event);
        }
    }

    fn enqueue(&mut self, event: ObjectEvent, note: Option<Note>) {
        if self.sent.len() >= SENT_MAX {
            self.sent.clear();
        }
        let requester = event.answers.as_deref().unwrap_or_default();
        // The queue needs a limit: a replica that does not lead sends nothing.
        let has_room = self.queue.len() < SENT_MAX;
        if has_room
            && self.sent.insert((event.about.uid.clone(), format!("{}#{requester}", event.note).into()))
        {
            self.queue.push((event, note));
        }
    }
}

pub(super) fn reserved(pod: &Pod, until: Option<Timestamp>, now: Timestamp) -> ObjectEvent {
    let node = pod.node.as_ref().map(ToString::to_string).unwrap_or_default();
    let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
    let note = format!("Its room on node {node} is reserved{until}");
    ObjectEvent {
        at: now,
        answers: requester(pod),
        ..ObjectEvent::normal(ObjectRef::from(pod), "Reserved", note)
    }
}

/// The name after `#` in the pod's `reserve/keep`: who waits for the event.
fn requester(pod: &Pod) -> Option<Text> {
    pod.keep().and_then(Keep::requester).cloned()
}

/// Whether the node has annotations that are not ours. Every node of a cluster with a kube-controller-manager has.
fn has_others(node: &Node) -> bool {
    node.annotations.bytes > node.annotations.our_bytes
}

/// Whether the pod was scheduled after the reservation was created, and not long ago.
fn is_recent(pod: &Pod, reservation: &Reservation, now: Timestamp) -> bool {
    let since = pod.scheduled_at();
    since.is_some_and(|since| {
        Some(since) >= reservation.created() && now.duration_since(since) < REPORT_MAX_AGE
    })
}

fn invalid_keep(text: &str) -> String {
    format!(
        "Ignored the annotation {}: {text:?} is neither \"true\" nor a duration such as 5m, with or without #name",
        common::api::names::KEEP
    )
}

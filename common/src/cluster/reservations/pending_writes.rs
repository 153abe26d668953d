//! Reservations and extensions that are about to be written into a node. They count before the node's annotations have them.
//!
//! Between the decision to write and the watch event with the result, no other pod may get that room, and it must not be reserved
//! a second time. Order of calls: [`Cluster::reserve_locally`] or [`Cluster::extend_locally`]; then [`Cluster::note_written`] when
//! the write succeeded, [`Cluster::drop_local`] when it certainly failed, or [`Cluster::stop_writing_local`] when it is no longer
//! wanted and may have succeeded. What is never seen on the node is forgotten after [`LOCAL_LIFE`].

use crate::cluster::Cluster;
use crate::cluster::ledger::is_heir;
use crate::cluster::reservations::replacement::later;
use crate::cluster::{Ledger, NodeId};
use crate::model::{NodeName, Origin, ParsedReservation, Reservation, ReservationId, Text, Uid};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// How long a pending write counts if it is not seen on the node: longer than it can take to see a write that succeeded. A dead
/// watch is noticed after a minute and a half, and a list takes a minute at most.
const LOCAL_LIFE: Duration = Duration::from_secs(180);

/// A reservation that is about to be written and is not in the node's annotations yet.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct LocalReservation {
    /// The reservation as it counts until it is written; it expires after [`LOCAL_LIFE`].
    pub(in crate::cluster) counted: Arc<Reservation>,
    /// The reservation as it is to be written.
    target: Arc<Reservation>,
    /// true: write the reservation, if that was not done yet. false: only count it, because an earlier write may have succeeded.
    is_to_be_written: bool,
    /// The version of the node that has the write. Until it is seen, the annotations that we know are older than the write.
    written: Option<u64>,
    /// Whether the node's annotations have a reservation with the same key, written by another process. Then that one counts. It
    /// may be gone in the version that has our write.
    is_hidden: bool,
}

/// An extension of a reservation that is about to be written.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct LocalExtension {
    /// The reservation as it counts until the extension is written. Its `request` says which one it is: another reservation under the
    /// same key is not extended.
    extended: Arc<Reservation>,
    /// The reservation counts as live until this time, whatever expiry the node's annotations have.
    pub(in crate::cluster) until: Timestamp,
    /// The expiry that is to be written. It can be later than `until`.
    expires: Timestamp,
    /// The version of the node that has the write, or a later write about the reservation.
    written: Option<u64>,
}

impl Cluster {
    /// Counts `target` from now on, because it is about to be written into `node`.
    pub fn reserve_locally(&mut self, node: &NodeName, target: Reservation) {
        if let Some(node_id) = self.nodes.id(node) {
            self.reserve_locally_at(node_id, target);
        }
    }

    pub(in crate::cluster) fn reserve_locally_at(&mut self, node_id: NodeId, target: Reservation) {
        let mut counted = target.clone();
        if let Origin::Recorded(record) = &mut counted.origin {
            record.expires = record.expires.min(later(self.now, LOCAL_LIFE));
        }
        let (counted, target) = (Arc::new(counted), Arc::new(target));
        let local =
            LocalReservation { counted, target, is_to_be_written: true, written: None, is_hidden: false };
        let now = self.now;
        self.change(node_id, |ledger| {
            let is_reserved = ledger.is_durable_and_live(&local.target.id, now);
            match ledger.local_reservations.iter_mut().find(|known| known.target.id == local.target.id) {
                // A retry does not prolong how long the reservation counts.
                Some(known) => (known.target, known.is_to_be_written) = (local.target, true),
                None if is_reserved => {}
                None => ledger.local_reservations.push(local),
            }
        });
    }

    pub fn note_written(&mut self, node: &NodeName, id: &ReservationId, version: u64) {
        if let Some(node_id) = self.nodes.id(node) {
            self.change(node_id, |ledger| {
                let known = ledger.local_reservations.iter_mut().find(|known| known.target.id == *id);
                known.into_iter().for_each(|known| known.written = Some(version));
            });
        }
    }

    /// Counts the reservation `id` with this `request` as live until `expires`, because that is about to be written into `node`.
    pub fn extend_locally(
        &mut self,
        node: &NodeName,
        id: &ReservationId,
        request: &Text,
        expires: Timestamp,
    ) {
        let until = expires.min(later(self.now, LOCAL_LIFE));
        if let Some(node_id) = self.nodes.id(node) {
            self.change(node_id, |ledger| {
                let is_known = ledger.local_extensions.iter().any(|known| known.extended.id == *id);
                let is_it = |one: &&Arc<Reservation>| one.record().is_some_and(|it| it.request == *request);
                let Some(durable) = ledger.durable(id).filter(is_it).filter(|_| !is_known) else { return };
                let mut extended = Reservation::clone(durable);
                if let Origin::Recorded(record) = &mut extended.origin {
                    record.expires = until;
                }
                let extended = Arc::new(extended);
                ledger.local_extensions.push(LocalExtension { extended, until, expires, written: None });
            });
        }
    }

    /// Takes note that a write about the reservation `id` succeeded: older versions of the node, which may be seen later, say nothing
    /// about an extension.
    pub fn note_version(&mut self, node: &NodeName, id: &ReservationId, version: u64) {
        let extension =
            |ledger: &Ledger| ledger.local_extensions.iter().position(|one| one.extended.id == *id);
        let node_id = self.nodes.id(node);
        if let Some((node_id, at)) = node_id.and_then(|one| Some((one, extension(self.nodes.get(one)?)?))) {
            self.change(node_id, |ledger| ledger.local_extensions[at].written = Some(version));
        }
    }

    /// The reservation `id` is not to be written into `node` any more. It counts until it is known that no write succeeded.
    pub fn stop_writing_local(&mut self, node: &NodeName, id: &ReservationId) {
        if let Some(node_id) = self.nodes.id(node) {
            self.change(node_id, |ledger| {
                let known = ledger.local_reservations.iter_mut().find(|known| known.target.id == *id);
                known.into_iter().for_each(|known| known.is_to_be_written = false);
            });
        }
    }

    /// No longer counts the pending write about `id` into `node`: it was certainly not carried out.
    pub fn drop_local(&mut self, node: &NodeName, id: &ReservationId) {
        let is_about = |ledger: &Ledger| {
            ledger.local_reservations.iter().any(|known| known.target.id == *id)
                || ledger.local_extensions.iter().any(|known| known.extended.id == *id)
        };
        let node_id = self.nodes.id(node);
        if let Some(node_id) = node_id.filter(|node_id| self.nodes.get(*node_id).is_some_and(is_about)) {
            self.change(node_id, |ledger| {
                ledger.local_reservations.retain(|known| known.target.id != *id);
                ledger.local_extensions.retain(|known| known.extended.id != *id);
            });
            self.has_dropped = true;
        }
    }

    /// Whether [`Self::drop_local`] dropped something since the last call, so that there may be more room than before.
    pub fn take_dropped(&mut self) -> bool {
        std::mem::take(&mut self.has_dropped)
    }
}

impl Ledger {
    /// The reservations that have yet to be written and whose replaced pods are gone. While such a pod is there, the controller
    /// finds the reservation by the pod.
    pub fn unwritten(&self) -> impl Iterator<Item = &Arc<Reservation>> {
        let is_there = |uid: &Uid| self.pods.iter().any(|pod| pod.uid == *uid);
        let is_orphan =
            move |one: &&Arc<Reservation>| !one.replaces().is_some_and(|replaced| is_there(&replaced.uid));
        self.to_be_written().map(|local| &local.target).filter(is_orphan)
    }

    fn to_be_written(&self) -> impl Iterator<Item = &LocalReservation> {
        self.local_reservations.iter().filter(|local| local.is_to_be_written && !local.is_hidden)
    }

    pub fn is_writing_stopped(&self, id: &ReservationId) -> bool {
        self.local_reservations.iter().any(|local| local.target.id == *id && !local.is_to_be_written)
    }

    /// The reservation that has yet to be written for the replacement of the pod with this UID.
    pub fn unwritten_for(&self, pod: &Uid) -> Option<&ReservationId> {
        let mut target = self.to_be_written().map(|local| &local.target);
        target.find(|one| one.replaces().is_some_and(|replaced| replaced.uid == *pod)).map(|one| &one.id)
    }

    /// The local reservations and extended ones that count. An heir does not count while the older seat is in the node's annotations: all other
    /// processes see only the older seat, and it is enough for the one room.
    pub(in crate::cluster) fn counted_locally(
        &self,
        now: Timestamp,
    ) -> impl Iterator<Item = &Arc<Reservation>> {
        let durable = move || self.node.reservations.iter().filter_map(ParsedReservation::valid);
        let has_no_older_seat = move |one: &&Arc<Reservation>| {
            !durable().any(|before| before.is_live(now) && is_heir(one, before))
        };
        let reserved = self.local_reservations.iter().filter(|local| !local.is_hidden);
        let is_reserved =
            |id: &ReservationId| self.local_reservations.iter().any(|one| one.counted.id == *id);
        // Of a reservation that we extended the node's annotations may say that it is gone, because they are older.
        let extended = self.local_extensions.iter().map(|known| &known.extended);
        let extended = extended.filter(move |one| self.durable(&one.id).is_none() && !is_reserved(&one.id));
        reserved.map(|local| &local.counted).chain(extended).filter(has_no_older_seat)
    }

    /// Whether the node's annotations have a live reservation `id`. One that has expired does not count here: it may have been
    /// released already, and what is about to be written under its key counts instead.
    fn is_durable_and_live(&self, id: &ReservationId, now: Timestamp) -> bool {
        let is_extended = |one: &Reservation| self.local_extensions.iter().any(|more| more.is_of(one));
        self.durable(id).is_some_and(|one| one.is_live(now) || is_extended(one))
    }

    /// The reservations in the node's annotations, without those that a local one with the same key replaces.
    pub(in crate::cluster) fn counted_durably(&self) -> impl Iterator<Item = &Arc<Reservation>> {
        let is_replaced = |id: &ReservationId| {
            self.local_reservations.iter().any(|local| local.counted.id == *id && !local.is_hidden)
        };
        let durable = self.node.reservations.iter().filter_map(ParsedReservation::valid);
        durable.filter(move |one| !is_replaced(&one.id))
    }

    /// Forgets pending writes that the node's annotations have by now, and those that were not seen in time.
    pub(in crate::cluster) fn forget_unwritten(&mut self, now: Timestamp) {
        if self.local_reservations.is_empty() && self.local_extensions.is_empty() {
            return;
        }
        let mut local = std::mem::take(&mut self.local_reservations);
        for known in &mut local {
            known.is_hidden = self.is_durable_and_live(&known.counted.id, now);
        }
        let is_ahead = |known: &LocalReservation| {
            known.written.is_some_and(|version| self.node.resource_version < version)
        };
        local.retain(|known| known.counted.is_live(now) && (is_ahead(known) || !known.is_hidden));
        let mut extended = std::mem::take(&mut self.local_extensions);
        extended.retain(|known| {
            let is_open = match self.durable(&known.extended.id) {
                Some(one) => known.is_of(one) && one.expires().is_some_and(|ends| ends < known.expires),
                None => known.written.is_none_or(|version| self.node.resource_version < version),
            };
            now < known.until && is_open
        });
        (self.local_reservations, self.local_extensions) = (local, extended);
    }
}

impl LocalExtension {
    pub(in crate::cluster) fn is_of(&self, reservation: &Reservation) -> bool {
        let request = |one: &Reservation| one.record().map(|record| record.request.clone());
        reservation.id == self.extended.id && request(reservation) == request(&self.extended)
    }
}

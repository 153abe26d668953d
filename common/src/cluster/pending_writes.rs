//! What is about to be written into a node, and counts before the node says so.
//!
//! Between the decision to write and the moment at which we see what was written, others must neither be placed on that
//! room nor be promised it a second time. What is not written after all is forgotten: at once when that is certain, else
//! after so long that we would have seen it.

use super::Cluster;
use super::ledger::{Ledger, is_heir};
use super::nodes::NodeId;
use super::replacing::later;
use crate::model::ids::{NodeName, Text, Uid};
use crate::model::reservation::{Origin, Parsed};
use crate::model::{Reservation, ReservationId};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// How long what only we know of counts, if nobody writes it down: longer than it can take until we see that somebody
/// did. A watch that has died is noticed after a minute and a half, and a list takes a minute at most.
const LOCAL_LIFE: Duration = Duration::from_secs(180);

/// A reservation that the node does not say yet.
#[derive(Clone, Debug)]
pub(super) struct Local {
    /// As it counts until it is written down.
    pub(super) counted: Arc<Reservation>,
    /// As it is to be written down.
    meant: Arc<Reservation>,
    /// true: write it, if that was not done yet. false: it only counts, because an earlier write may have been carried out.
    is_wanted: bool,
    /// The version of the node that it was written with. Until that is seen, what the node says is older.
    written: Option<u64>,
    /// Whether the node says the same reservation by somebody else's hand. That one counts then; it may be gone by the version
    /// that has ours.
    is_hidden: bool,
}

/// A reservation that lives longer than the node says yet.
#[derive(Clone, Debug)]
pub(super) struct Extended {
    id: ReservationId,
    /// The request that made it: another one under the same key is not extended.
    request: Text,
    /// Until when it counts, whatever the node says.
    pub(super) until: Timestamp,
}

impl Cluster {
    /// `meant` is about to be written into `node`.
    pub fn reserve_locally(&mut self, node: &NodeName, meant: Reservation) {
        if let Some(place) = self.nodes.id(node) {
            self.keep_locally(place, meant);
        }
    }

    pub(super) fn keep_locally(&mut self, place: NodeId, meant: Reservation) {
        let mut counted = meant.clone();
        if let Origin::Recorded(record) = &mut counted.origin {
            record.expires = record.expires.min(later(self.now, LOCAL_LIFE));
        }
        let (counted, meant) = (Arc::new(counted), Arc::new(meant));
        let local = Local { counted, meant, is_wanted: true, written: None, is_hidden: false };
        let now = self.now;
        self.change(place, |ledger| {
            let is_reserved = ledger.stands(&local.meant.id, now);
            match ledger.local.iter_mut().find(|known| known.meant.id == local.meant.id) {
                // However often it is tried, it counts for so long from the first time on.
                Some(known) => (known.meant, known.is_wanted) = (local.meant, true),
                None if is_reserved => {}
                None => ledger.local.push(local),
            }
        });
    }

    /// The API server has written `id` into `node`, which has that version since.
    pub fn wrote_locally(&mut self, node: &NodeName, id: &ReservationId, version: u64) {
        if let Some(place) = self.nodes.id(node) {
            self.change(place, |ledger| {
                let known = ledger.local.iter_mut().find(|known| known.meant.id == *id);
                known.into_iter().for_each(|known| known.written = Some(version));
            });
        }
    }

    /// It is about to be written into `node` that `id`, made by `request`, lives until `expires`.
    pub fn extend_locally(
        &mut self,
        node: &NodeName,
        id: &ReservationId,
        request: &Text,
        expires: Timestamp,
    ) {
        let until = expires.min(later(self.now, LOCAL_LIFE));
        let extended = Extended { id: id.clone(), request: request.clone(), until };
        if let Some(place) = self.nodes.id(node) {
            self.change(place, |ledger| {
                if !ledger.extended.iter().any(|known| known.id == extended.id) {
                    ledger.extended.push(extended);
                }
            });
        }
    }

    /// `id` is not to be written into `node` any more, and may have been: it counts until that is known.
    pub fn unwant_local(&mut self, node: &NodeName, id: &ReservationId) {
        if let Some(place) = self.nodes.id(node) {
            self.change(place, |ledger| {
                let known = ledger.local.iter_mut().find(|known| known.meant.id == *id);
                known.into_iter().for_each(|known| known.is_wanted = false);
            });
        }
    }

    /// What was to be written about `id` into `node` is not written.
    pub fn drop_local(&mut self, node: &NodeName, id: &ReservationId) {
        let is_about = |ledger: &Ledger| {
            ledger.local.iter().any(|known| known.meant.id == *id)
                || ledger.extended.iter().any(|known| known.id == *id)
        };
        let place = self.nodes.id(node);
        if let Some(place) = place.filter(|place| self.nodes.get(*place).is_some_and(is_about)) {
            self.change(place, |ledger| {
                ledger.local.retain(|known| known.meant.id != *id);
                ledger.extended.retain(|known| known.id != *id);
            });
            self.has_dropped = true;
        }
    }

    /// Whether, since this was asked last, something was dropped that had counted: there may be more room than before.
    pub fn take_dropped(&mut self) -> bool {
        std::mem::take(&mut self.has_dropped)
    }
}

impl Ledger {
    /// The reservations that have yet to be written down and that nobody else asks for: their pods are gone.
    pub fn unwritten(&self) -> impl Iterator<Item = &Arc<Reservation>> {
        let is_there = |uid: &Uid| self.pods.iter().any(|pod| pod.uid == *uid);
        let is_orphan =
            move |one: &&Arc<Reservation>| !one.replaces().is_some_and(|replaced| is_there(&replaced.uid));
        self.wanted().map(|local| &local.meant).filter(is_orphan)
    }

    fn wanted(&self) -> impl Iterator<Item = &Local> {
        self.local.iter().filter(|local| local.is_wanted && !local.is_hidden)
    }

    /// Whether `id` is not to be written down any more.
    pub fn is_unwanted(&self, id: &ReservationId) -> bool {
        self.local.iter().any(|local| local.meant.id == *id && !local.is_wanted)
    }

    /// The reservation that has yet to be written down for the replacement of this pod.
    pub fn unwritten_for(&self, pod: &Uid) -> Option<&ReservationId> {
        let mut meant = self.wanted().map(|local| &local.meant);
        meant.find(|one| one.replaces().is_some_and(|replaced| replaced.uid == *pod)).map(|one| &one.id)
    }

    /// What is yet to be written down and counts. What keeps the place of a pod that itself sat in a seat does not while that
    /// one is there: others see only that one, and it is enough for the one room.
    pub(super) fn counted_locally(&self, now: Timestamp) -> impl Iterator<Item = &Arc<Reservation>> {
        let durable = move || self.node.reservations.iter().filter_map(Parsed::valid);
        let is_alone = move |one: &&Arc<Reservation>| {
            !durable().any(|before| before.is_live(now) && is_heir(one, before))
        };
        self.local.iter().filter(|local| !local.is_hidden).map(|local| &local.counted).filter(is_alone)
    }

    /// Whether the node itself says that `id` is reserved, and that is not over. One that is over may be gone, and we do not
    /// see that yet: what is written in its place counts.
    fn stands(&self, id: &ReservationId, now: Timestamp) -> bool {
        let is_extended = |one: &Reservation| self.extended.iter().any(|more| more.is_of(one));
        self.durable(id).is_some_and(|one| one.is_live(now) || is_extended(one))
    }

    /// What the node itself says, but for what is about to be written in its place.
    pub(super) fn counted_durably(&self) -> impl Iterator<Item = &Arc<Reservation>> {
        let is_replaced =
            |id: &ReservationId| self.local.iter().any(|local| local.counted.id == *id && !local.is_hidden);
        let durable = self.node.reservations.iter().filter_map(Parsed::valid);
        durable.filter(move |one| !is_replaced(&one.id))
    }

    /// Forgets what the node says by now, and what was not written in time.
    pub(super) fn forget_unwritten(&mut self, now: Timestamp) {
        if self.local.is_empty() && self.extended.is_empty() {
            return;
        }
        let mut local = std::mem::take(&mut self.local);
        for known in &mut local {
            known.is_hidden = self.stands(&known.counted.id, now);
        }
        let is_ahead =
            |known: &Local| known.written.is_some_and(|version| self.node.resource_version < version);
        local.retain(|known| known.counted.is_live(now) && (is_ahead(known) || !known.is_hidden));
        let mut extended = std::mem::take(&mut self.extended);
        extended.retain(|known| {
            let durable = self.durable(&known.id).filter(|one| known.is_of(one));
            now < known.until && durable.and_then(|one| one.expires()).is_some_and(|ends| ends < known.until)
        });
        (self.local, self.extended) = (local, extended);
    }
}

impl Extended {
    /// Whether it is this one that lives longer.
    pub(super) fn is_of(&self, reservation: &Reservation) -> bool {
        reservation.id == self.id && reservation.record().is_some_and(|record| record.request == self.request)
    }
}

//! Indexes over the reservations of all ledgers: the nodes with reservations of an owner, and the automatic reservations of a
//! namespace.

use crate::cluster::ledger::Entry;
use crate::cluster::reservations::namespace_requests::bounded;
use crate::cluster::{NodeId, ReservationState};
use crate::model::{Reservation, ReservationId, Resources, Text, Uid};
use std::collections::{BTreeMap, BTreeSet};

/// How many automatic reservations a namespace can have by default.
const AUTOMATIC_MAX: usize = 100;

#[derive(Debug)]
pub(in crate::cluster) struct ReservationIndex {
    by_owner: BTreeMap<Uid, BTreeSet<NodeId>>,
    automatic: BTreeMap<Text, NamespaceTotal>,
    pub(in crate::cluster) automatic_max: usize,
}

#[derive(Debug, Default, PartialEq)]
struct NamespaceTotal {
    count: usize,
    /// The sum of the amounts of those that hold room or whose pod is still there.
    amount: Resources,
}

impl Default for ReservationIndex {
    fn default() -> Self {
        Self { by_owner: BTreeMap::new(), automatic: BTreeMap::new(), automatic_max: AUTOMATIC_MAX }
    }
}

impl ReservationIndex {
    pub(in crate::cluster) fn of(&self, owner: &Uid) -> impl Iterator<Item = NodeId> {
        self.by_owner.get(owner).into_iter().flatten().copied()
    }

    pub(in crate::cluster) fn automatic_in(&self, namespace: &Text) -> usize {
        self.automatic.get(namespace).map_or(0, |automatic| automatic.count)
    }

    pub(in crate::cluster) fn automatic_amount(&self, namespace: &Text) -> Option<&Resources> {
        self.automatic.get(namespace).map(|automatic| &automatic.amount)
    }

    pub(in crate::cluster) fn is_same(&self, other: &Self) -> bool {
        (&self.by_owner, &self.automatic) == (&other.by_owner, &other.automatic)
    }

    pub(in crate::cluster) fn replace(&mut self, id: NodeId, before: &[Entry], after: &[Entry]) {
        let is_same = before.len() == after.len()
            && before.iter().zip(after).all(|(one, other)| key(one) == key(other));
        if is_same {
            return;
        }
        for entry in before {
            if let Some(nodes) = self.by_owner.get_mut(&entry.reservation.id.owner) {
                nodes.remove(&id);
                if nodes.is_empty() {
                    self.by_owner.remove(&entry.reservation.id.owner);
                }
            }
            if let Some(namespace) = automatic_of(&entry.reservation)
                && let Some(automatic) = self.automatic.get_mut(namespace)
            {
                automatic.count -= 1;
                automatic.amount.sub_assign(&amount_of(entry));
                if automatic.count == 0 {
                    self.automatic.remove(namespace);
                }
            }
        }
        for entry in after {
            self.by_owner.entry(entry.reservation.id.owner.clone()).or_default().insert(id);
            if let Some(namespace) = automatic_of(&entry.reservation) {
                let automatic = self.automatic.entry(namespace.clone()).or_default();
                automatic.count += 1;
                automatic.amount.add_assign(&amount_of(entry));
            }
        }
    }
}

fn key(entry: &Entry) -> (&ReservationId, Option<&Text>, bool, &Resources) {
    let reservation = &entry.reservation;
    (&reservation.id, automatic_of(reservation), is_open(entry), &reservation.amount)
}

/// The amount of an open reservation; zero if it is taken or has expired.
fn amount_of(entry: &Entry) -> Resources {
    if is_open(entry) { bounded(&entry.reservation.amount) } else { Resources::default() }
}

fn is_open(entry: &Entry) -> bool {
    matches!(entry.state, ReservationState::Occupied | ReservationState::Held | ReservationState::Short)
}

pub(in crate::cluster) fn automatic_of(reservation: &Reservation) -> Option<&Text> {
    Some(&reservation.record().filter(|_| reservation.is_automatic())?.owner.namespace)
}

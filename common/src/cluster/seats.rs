//! On which nodes an owner has reservations, and how many a namespace has that nobody asked for by hand.

use super::ledger::Entry;
use super::nodes::NodeId;
use crate::model::Reservation;
use crate::model::ids::{Text, Uid};
use std::collections::{BTreeMap, BTreeSet};

/// How many automatic reservations a namespace can have, unless the daemon is told otherwise.
const AUTOMATIC_MAX: usize = 100;

#[derive(Debug)]
pub(super) struct Seats {
    by_owner: BTreeMap<Uid, BTreeSet<NodeId>>,
    automatic: BTreeMap<Text, usize>,
    /// How many automatic reservations a namespace can have.
    pub(super) automatic_max: usize,
}

impl Default for Seats {
    fn default() -> Self {
        Self { by_owner: BTreeMap::new(), automatic: BTreeMap::new(), automatic_max: AUTOMATIC_MAX }
    }
}

impl Seats {
    /// The nodes with reservations of `owner`.
    pub(super) fn of(&self, owner: &Uid) -> impl Iterator<Item = NodeId> {
        self.by_owner.get(owner).into_iter().flatten().copied()
    }

    /// How many automatic reservations there are in `namespace`.
    pub(super) fn automatic_in(&self, namespace: &Text) -> usize {
        self.automatic.get(namespace).copied().unwrap_or(0)
    }

    /// The reservations of a node came into the books, or were others before.
    pub(super) fn replace(&mut self, id: NodeId, before: &[Entry], after: &[Entry]) {
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
                && let Some(count) = self.automatic.get_mut(namespace)
            {
                *count -= 1;
                if *count == 0 {
                    self.automatic.remove(namespace);
                }
            }
        }
        for entry in after {
            self.by_owner.entry(entry.reservation.id.owner.clone()).or_default().insert(id);
            if let Some(namespace) = automatic_of(&entry.reservation) {
                *self.automatic.entry(namespace.clone()).or_default() += 1;
            }
        }
    }
}

fn key(entry: &Entry) -> (&crate::model::ReservationId, Option<&Text>) {
    (&entry.reservation.id, automatic_of(&entry.reservation))
}

/// The namespace that the reservation counts in, if nobody asked for it by hand.
fn automatic_of(reservation: &Reservation) -> Option<&Text> {
    Some(&reservation.record().filter(|_| reservation.is_automatic())?.owner.namespace)
}

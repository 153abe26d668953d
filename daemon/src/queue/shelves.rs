//! Where each waiting pod stands, so that nobody has to look through all of them: the active in order of their turn, the
//! timed in order of their time, the parked by what could cure them.
//!
//! Knows nothing of: when a pod belongs on which shelf. Pods are known by the number of their arrival.

use common::framework::{Cure, Turn};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Where a pod stands.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Shelf {
    /// To be tried next, in order of its turn.
    Active(Turn),
    /// To be tried again at a certain time.
    BackingOff { due: Duration },
    /// To be tried again when something happens that `cures` names, or at a certain time.
    Parked { until: Duration, cures: BTreeSet<Cure> },
    /// On no shelf: it is being decided on, or bound.
    #[default]
    Deciding,
}

/// Who stands where.
#[derive(Debug, Default)]
pub(super) struct Shelves {
    active: BTreeSet<(Turn, u64)>,
    timed: BTreeSet<(Duration, u64)>,
    cured_by: BTreeMap<Cure, BTreeSet<u64>>,
}

impl Shelves {
    /// Puts a pod on a shelf on which it does not stand yet.
    pub(super) fn put(&mut self, arrival: u64, shelf: &Shelf) {
        match shelf {
            Shelf::Active(turn) => {
                self.active.insert((*turn, arrival));
            }
            Shelf::BackingOff { due } => {
                self.timed.insert((*due, arrival));
            }
            Shelf::Parked { until, cures } => {
                self.timed.insert((*until, arrival));
                for cure in cures {
                    self.cured_by.entry(*cure).or_default().insert(arrival);
                }
            }
            Shelf::Deciding => {}
        }
    }

    /// Takes a pod from the shelf on which it stands.
    pub(super) fn take(&mut self, arrival: u64, shelf: &Shelf) {
        match shelf {
            Shelf::Active(turn) => {
                self.active.remove(&(*turn, arrival));
            }
            Shelf::BackingOff { due } => {
                self.timed.remove(&(*due, arrival));
            }
            Shelf::Parked { until, cures } => {
                self.timed.remove(&(*until, arrival));
                for cure in cures {
                    self.cured_by.entry(*cure).or_default().remove(&arrival);
                }
            }
            Shelf::Deciding => {}
        }
    }

    /// The active pod whose turn it is.
    pub(super) fn first_active(&self) -> Option<u64> {
        self.active.first().map(|(_, arrival)| *arrival)
    }

    /// The pod whose time comes first, and when that is.
    pub(super) fn first_timed(&self) -> Option<(Duration, u64)> {
        self.timed.first().copied()
    }

    /// The parked pods that `cure` could help.
    pub(super) fn cured_by(&self, cure: Cure) -> Vec<u64> {
        self.cured_by.get(&cure).into_iter().flatten().copied().collect()
    }
}

//! Where each waiting pod stands, so that nobody has to look through all of them: the active in order of their turn, the
//! timed in order of their time, the parked by what could cure them.
//!
//! Knows nothing of: when a pod belongs on which shelf. Pods are known by the number of their arrival.

use super::Pending;
use common::framework::{Cure, Turn};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Where a pod stands.
#[derive(Debug, Default, PartialEq)]
pub(super) enum Shelf {
    /// To be tried next, in order of its turn.
    Active(Turn),
    /// To be tried again at a certain time, or before if there is nothing else to do.
    BackingOff { due: Duration, turn: Turn },
    /// To be tried again at a certain time: something went wrong, and needs that time.
    Recovering { due: Duration },
    /// To be tried again when something happens that `cures` names, or at a certain time.
    Parked { until: Duration, cures: BTreeSet<Cure> },
    /// Not to be tried before it changes itself, or at a certain time.
    Gated { until: Duration },
    /// On no shelf: it is being decided on, or bound.
    #[default]
    Deciding,
}

/// Who stands where.
#[derive(Debug, Default)]
pub(super) struct Shelves {
    active: BTreeSet<(Turn, u64)>,
    backing_off: BTreeSet<(Duration, Turn, u64)>,
    timed: BTreeSet<(Duration, u64)>,
    cured_by: BTreeMap<Cure, BTreeSet<u64>>,
    counts: Pending,
}

impl Shelves {
    /// Puts a pod on a shelf on which it does not stand yet.
    pub(super) fn put(&mut self, arrival: u64, shelf: &Shelf) {
        match shelf {
            Shelf::Active(turn) => drop(self.active.insert((*turn, arrival))),
            Shelf::BackingOff { due, turn } => drop(self.backing_off.insert((*due, *turn, arrival))),
            Shelf::Parked { cures, .. } => {
                for cure in cures {
                    self.cured_by.entry(*cure).or_default().insert(arrival);
                }
            }
            Shelf::Recovering { .. } | Shelf::Gated { .. } | Shelf::Deciding => {}
        }
        if let Some(at) = time(shelf) {
            self.timed.insert((at, arrival));
        }
        if let Some(count) = self.count(shelf) {
            *count += 1;
        }
    }

    /// Takes a pod from the shelf on which it stands.
    pub(super) fn take(&mut self, arrival: u64, shelf: &Shelf) {
        match shelf {
            Shelf::Active(turn) => drop(self.active.remove(&(*turn, arrival))),
            Shelf::BackingOff { due, turn } => drop(self.backing_off.remove(&(*due, *turn, arrival))),
            Shelf::Parked { cures, .. } => {
                for cure in cures {
                    self.cured_by.entry(*cure).or_default().remove(&arrival);
                }
            }
            Shelf::Recovering { .. } | Shelf::Gated { .. } | Shelf::Deciding => {}
        }
        if let Some(at) = time(shelf) {
            self.timed.remove(&(at, arrival));
        }
        if let Some(count) = self.count(shelf) {
            *count = count.saturating_sub(1);
        }
    }

    /// The pod whose turn it is: the first of the active, else of those that only back off.
    pub(super) fn first_ready(&self) -> Option<u64> {
        let active = self.active.first().map(|(_, arrival)| *arrival);
        active.or_else(|| self.backing_off.first().map(|(_, _, arrival)| *arrival))
    }

    /// The pod whose time comes first, and when that is.
    pub(super) fn first_timed(&self) -> Option<(Duration, u64)> {
        self.timed.first().copied()
    }

    /// The parked pods that `cure` could help.
    pub(super) fn cured_by(&self, cure: Cure) -> Vec<u64> {
        self.cured_by.get(&cure).into_iter().flatten().copied().collect()
    }

    /// How many stand where.
    pub(super) fn pending(&self) -> Pending {
        self.counts
    }

    fn count(&mut self, shelf: &Shelf) -> Option<&mut usize> {
        match shelf {
            Shelf::Active(_) => Some(&mut self.counts.active),
            Shelf::BackingOff { .. } | Shelf::Recovering { .. } => Some(&mut self.counts.backoff),
            Shelf::Parked { .. } => Some(&mut self.counts.unschedulable),
            Shelf::Gated { .. } => Some(&mut self.counts.gated),
            Shelf::Deciding => None,
        }
    }
}

/// When a pod leaves its shelf by itself.
fn time(shelf: &Shelf) -> Option<Duration> {
    match shelf {
        Shelf::BackingOff { due, .. } | Shelf::Recovering { due } => Some(*due),
        Shelf::Parked { until, .. } | Shelf::Gated { until } => Some(*until),
        Shelf::Active(_) | Shelf::Deciding => None,
    }
}

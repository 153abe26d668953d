//! The pods that wait to be placed, on three shelves.
//!
//! ```text
//!  push ──▶ active ──pop──▶ (being decided) ──park──▶ parked ──wake──▶ backing off ──time──▶ active
//! ```
//!
//! *Active* pods are tried next, in the order of the QueueSort plugin: highest priority first, then in order of arrival. A pod that found no place is
//! *parked* until something changes that could cure it; then it is *backing off* until its next try is due, so that
//! a busy cluster does not make a hopeless pod spin.
//!
//! Knows nothing of: nodes, plugins, the API server. Time is the time since the start.

mod backoff;
#[cfg(test)]
mod tests;

pub use backoff::Backoff;

use common::framework::{Cure, QueueSort, Queued, Turn};
use common::model::PodKey;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// A parked pod is tried again after this long even if nothing happened that we know could cure it. As upstream; it
/// makes a missed wake-up harmless.
const PARKED_MAX: Duration = Duration::from_secs(5 * 60);

/// How long a pod waits for an owner that it claims. Owners come milliseconds apart from their pods; a claim that is
/// never made good must not hold a pod up.
const OWNER_WAIT_MAX: Duration = Duration::from_secs(1);

/// The waiting pods.
pub struct Queue {
    pods: BTreeMap<PodKey, Entry>,
    active: BTreeSet<(Turn, u64, PodKey)>,
    arrivals: u64,
    backoff: Backoff,
    sort: Arc<dyn QueueSort>,
}

#[derive(Debug)]
struct Entry {
    turn: Turn,
    arrival: u64,
    attempts: u32,
    /// Whether it has been given a moment for its owner to become known.
    postponed: bool,
    /// When it may be tried again, given how often it was tried.
    due: Duration,
    shelf: Shelf,
}

#[derive(Debug, PartialEq)]
enum Shelf {
    Active,
    BackingOff,
    Parked { until: Duration, cures: BTreeSet<Cure> },
    Deciding,
}

impl Queue {
    /// An empty queue with these delays, in the order that `sort` says.
    pub fn new(backoff: Backoff, sort: Arc<dyn QueueSort>) -> Self {
        Self { pods: BTreeMap::new(), active: BTreeSet::new(), arrivals: 0, backoff, sort }
    }

    /// Adds a pod, or tries a known one again because it changed.
    pub fn push(&mut self, pod: &PodKey, priority: i32, now: Duration) {
        if let Some(entry) = self.pods.get_mut(pod) {
            self.active.remove(&(entry.turn, entry.arrival, pod.clone()));
            entry.turn = self.sort.turn(&Queued { priority, arrival: entry.arrival });
        } else {
            self.arrivals += 1;
            let arrival = self.arrivals;
            let entry = Entry {
                turn: self.sort.turn(&Queued { priority, arrival }),
                arrival,
                attempts: 0,
                postponed: false,
                due: now,
                shelf: Shelf::BackingOff,
            };
            self.pods.insert(pod.clone(), entry);
        }
        self.shelve(pod, now);
    }

    /// Forgets a pod, which was bound or is gone.
    pub fn remove(&mut self, pod: &PodKey) {
        if let Some(entry) = self.pods.remove(pod) {
            self.active.remove(&(entry.turn, entry.arrival, pod.clone()));
        }
    }

    /// The next pod to decide on. It stays in the queue, to be parked or removed.
    pub fn pop(&mut self, now: Duration) -> Option<PodKey> {
        self.shelve_due(now);
        let (_, _, pod) = self.active.pop_first()?;
        let entry = self.pods.get_mut(&pod)?;
        entry.shelf = Shelf::Deciding;
        entry.attempts = entry.attempts.saturating_add(1);
        entry.due = now.saturating_add(self.backoff.delay(entry.attempts));
        Some(pod)
    }

    /// Puts a pod aside that found no place, until something that `cures` names changes.
    pub fn park(&mut self, pod: &PodKey, cures: BTreeSet<Cure>, now: Duration) {
        self.park_for(pod, cures, PARKED_MAX, now);
    }

    /// The same, at most for `at_most`.
    pub fn park_for(&mut self, pod: &PodKey, cures: BTreeSet<Cure>, at_most: Duration, now: Duration) {
        if let Some(entry) = self.pods.get_mut(pod) {
            entry.shelf = Shelf::Parked { until: now + at_most.min(PARKED_MAX), cures };
        }
    }

    /// Puts a pod aside for a moment because it claims an owner that nobody has read yet: pods and their owners come by
    /// different ways. False if it had its moment already; then it is decided on as it is.
    pub fn postpone(&mut self, pod: &PodKey, now: Duration) -> bool {
        let Some(entry) = self.pods.get_mut(pod).filter(|entry| !entry.postponed) else { return false };
        (entry.postponed, entry.attempts, entry.due) = (true, 0, now);
        entry.shelf = Shelf::Parked { until: now + OWNER_WAIT_MAX, cures: [Cure::Owner].into() };
        true
    }

    /// Puts a pod aside whose binding failed: it will be tried again without anything having changed.
    pub fn retry(&mut self, pod: &PodKey, now: Duration) {
        self.shelve(pod, now);
    }

    /// Takes up again all parked pods that `cure` could help.
    pub fn wake(&mut self, cure: Cure, now: Duration) {
        let helped =
            |entry: &Entry| matches!(&entry.shelf, Shelf::Parked { cures, .. } if cures.contains(&cure));
        self.shelve_where(helped, now);
    }

    /// When the next pod is due by itself.
    pub fn next_due(&self) -> Option<Duration> {
        let due = |entry: &Entry| match &entry.shelf {
            Shelf::Active | Shelf::BackingOff => Some(entry.due),
            Shelf::Parked { until, .. } => Some(*until),
            Shelf::Deciding => None,
        };
        self.pods.values().filter_map(due).min()
    }

    fn shelve_due(&mut self, now: Duration) {
        let due = |entry: &Entry| match &entry.shelf {
            Shelf::BackingOff => entry.due <= now,
            Shelf::Parked { until, .. } => *until <= now,
            Shelf::Active | Shelf::Deciding => false,
        };
        self.shelve_where(due, now);
    }

    fn shelve_where(&mut self, which: impl Fn(&Entry) -> bool, now: Duration) {
        let pods: Vec<PodKey> =
            self.pods.iter().filter(|(_, entry)| which(entry)).map(|(pod, _)| pod.clone()).collect();
        pods.iter().for_each(|pod| self.shelve(pod, now));
    }

    /// Makes a pod active if it is due, else lets it back off.
    fn shelve(&mut self, pod: &PodKey, now: Duration) {
        let Some(entry) = self.pods.get_mut(pod) else { return };
        if entry.due <= now {
            entry.shelf = Shelf::Active;
            self.active.insert((entry.turn, entry.arrival, pod.clone()));
        } else {
            entry.shelf = Shelf::BackingOff;
        }
    }
}

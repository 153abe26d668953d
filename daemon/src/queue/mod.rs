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
mod shelves;
#[cfg(test)]
mod tests;

pub use backoff::Backoff;

use common::framework::{Cure, QueueSort, Queued, Turn};
use common::model::PodKey;
use shelves::{Shelf, Shelves};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// A parked pod is tried again after this long even if nothing happened that we know could cure it. As upstream; it
/// makes a missed wake-up harmless.
const PARKED_MAX: Duration = Duration::from_secs(5 * 60);

/// How long a pod waits for an owner that it claims. Owners come milliseconds apart from their pods; a claim that is
/// never made good must not hold a pod up.
const OWNER_WAIT_MAX: Duration = Duration::from_secs(1);

/// The waiting pods. No call looks at more of them than it moves.
pub struct Queue {
    pods: BTreeMap<PodKey, Entry>,
    /// The same pods in the order of their arrival.
    keys: BTreeMap<u64, PodKey>,
    shelves: Shelves,
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

impl Queue {
    /// An empty queue with these delays, in the order that `sort` says.
    pub fn new(backoff: Backoff, sort: Arc<dyn QueueSort>) -> Self {
        let (pods, keys) = (BTreeMap::new(), BTreeMap::new());
        Self { pods, keys, shelves: Shelves::default(), arrivals: 0, backoff, sort }
    }

    /// Adds a pod, or tries a known one again because it changed.
    pub fn push(&mut self, pod: &PodKey, priority: i32, now: Duration) {
        if let Some(entry) = self.pods.get_mut(pod) {
            entry.turn = self.sort.turn(&Queued { priority, arrival: entry.arrival });
        } else {
            self.arrivals += 1;
            let arrival = self.arrivals;
            let turn = self.sort.turn(&Queued { priority, arrival });
            let shelf = Shelf::Deciding;
            let entry = Entry { turn, arrival, attempts: 0, postponed: false, due: now, shelf };
            self.pods.insert(pod.clone(), entry);
            self.keys.insert(arrival, pod.clone());
        }
        self.shelve(pod, now);
    }

    /// Forgets a pod, which was bound or is gone.
    pub fn remove(&mut self, pod: &PodKey) {
        if let Some(entry) = self.pods.remove(pod) {
            self.keys.remove(&entry.arrival);
            self.shelves.take(entry.arrival, &entry.shelf);
        }
    }

    /// The next pod to decide on. It stays in the queue, to be parked or removed.
    pub fn pop(&mut self, now: Duration) -> Option<PodKey> {
        self.shelve_due(now);
        let pod = self.keys.get(&self.shelves.first_active()?)?.clone();
        let entry = self.pods.get_mut(&pod)?;
        entry.attempts = entry.attempts.saturating_add(1);
        entry.due = now.saturating_add(self.backoff.delay(entry.attempts));
        self.put(&pod, Shelf::Deciding);
        Some(pod)
    }

    /// Puts a pod aside that found no place, until something that `cures` names changes.
    pub fn park(&mut self, pod: &PodKey, cures: BTreeSet<Cure>, now: Duration) {
        self.park_for(pod, cures, PARKED_MAX, now);
    }

    /// The same, at most for `at_most`.
    pub fn park_for(&mut self, pod: &PodKey, cures: BTreeSet<Cure>, at_most: Duration, now: Duration) {
        self.put(pod, Shelf::Parked { until: now + at_most.min(PARKED_MAX), cures });
    }

    /// Puts a pod aside for a moment because it claims an owner that nobody has read yet: pods and their owners come by
    /// different ways. False if it had its moment already; then it is decided on as it is.
    pub fn postpone(&mut self, pod: &PodKey, now: Duration) -> bool {
        let Some(entry) = self.pods.get_mut(pod).filter(|entry| !entry.postponed) else { return false };
        (entry.postponed, entry.attempts, entry.due) = (true, 0, now);
        self.put(pod, Shelf::Parked { until: now + OWNER_WAIT_MAX, cures: [Cure::Owner].into() });
        true
    }

    /// Puts a pod aside whose binding failed: it will be tried again without anything having changed.
    pub fn retry(&mut self, pod: &PodKey, now: Duration) {
        self.shelve(pod, now);
    }

    /// Takes up again all parked pods that `cure` could help.
    pub fn wake(&mut self, cure: Cure, now: Duration) {
        for arrival in self.shelves.cured_by(cure) {
            self.shelve_arrival(arrival, now);
        }
    }

    /// When the next pod is due by itself: at once, if one is active.
    pub fn next_due(&self) -> Option<Duration> {
        let active = self.shelves.first_active().map(|_| Duration::ZERO);
        active.or_else(|| self.shelves.first_timed().map(|(at, _)| at))
    }

    fn shelve_due(&mut self, now: Duration) {
        while let Some((_, arrival)) = self.shelves.first_timed().filter(|(at, _)| *at <= now) {
            self.shelve_arrival(arrival, now);
        }
    }

    fn shelve_arrival(&mut self, arrival: u64, now: Duration) {
        if let Some(pod) = self.keys.get(&arrival).cloned() {
            self.shelve(&pod, now);
        }
    }

    /// Makes a pod active if it is due, else lets it back off.
    fn shelve(&mut self, pod: &PodKey, now: Duration) {
        let Some(entry) = self.pods.get(pod) else { return };
        let shelf = match entry.due <= now {
            true => Shelf::Active(entry.turn),
            false => Shelf::BackingOff { due: entry.due },
        };
        self.put(pod, shelf);
    }

    /// Moves a pod from the shelf on which it stands to another.
    fn put(&mut self, pod: &PodKey, shelf: Shelf) {
        let Some(entry) = self.pods.get_mut(pod) else { return };
        self.shelves.take(entry.arrival, &entry.shelf);
        self.shelves.put(entry.arrival, &shelf);
        entry.shelf = shelf;
    }
}

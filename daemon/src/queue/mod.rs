//! The pods that wait to be placed, on shelves.
//!
//! ```text
//!  push ──▶ active ──pop──▶ (being decided) ──park──▶ parked ──wake──▶ backing off ──time, or nothing else to do──▶ active
//!                                  └─────────retry──▶ recovering ──time──▶ active
//! ```
//!
//! *Active* pods are tried next, in the order of the QueueSort plugin: highest priority first, then in order of arrival; after
//! a try a pod stands at the end of the line. A pod that found no place is
//! *parked* until something changes that could cure it; then it is *backing off*, so that a busy cluster does not make a
//! hopeless pod spin. One for which something went wrong is *recovering*: it is tried again after a time, not before. A
//! pod that may not be looked at is *gated*.
//!
//! Knows nothing of: nodes, plugins, the API server. Time is the time since the start.

mod backoff;
mod entry;
mod shelves;
#[cfg(test)]
mod tests;

pub use backoff::Backoff;
pub use entry::{History, Pending, Why};

use common::framework::{Cure, QueueSort};
use common::model::PodKey;
use entry::Entry;
use shelves::{Shelf, Shelves};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

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
    /// Grows with each wake-up, so that a pod that is being decided on can tell which of them it missed.
    wakes: u64,
    woken: BTreeMap<Cure, u64>,
    /// How often pods came to a shelf, and why, since this was asked last.
    moves: BTreeMap<(&'static str, Why), u64>,
    backoff: Backoff,
    sort: Arc<dyn QueueSort>,
}

impl Queue {
    /// An empty queue with these delays, in the order that `sort` says.
    pub fn new(backoff: Backoff, sort: Arc<dyn QueueSort>) -> Self {
        Self {
            pods: BTreeMap::new(),
            keys: BTreeMap::new(),
            shelves: Shelves::default(),
            arrivals: 0,
            wakes: 0,
            woken: BTreeMap::new(),
            moves: BTreeMap::new(),
            backoff,
            sort,
        }
    }

    /// Adds a pod, or tries a known one again because it changed.
    pub fn push(&mut self, pod: &PodKey, priority: i32, now: Duration) {
        if !self.pods.contains_key(pod) {
            self.arrivals += 1;
            self.keys.insert(self.arrivals, pod.clone());
            self.pods.insert(pod.clone(), Entry::new(self.arrivals, now));
        }
        let Some(entry) = self.pods.get_mut(pod) else { return };
        entry.priority = priority;
        entry.line_up(&*self.sort);
        if entry.is_in_flight {
            entry.is_news = true;
        } else {
            self.shelve(pod, Why::PodAdd, now);
        }
    }

    /// Lets a pod go first within its priority.
    pub fn boost(&mut self, pod: &PodKey, priority: i32, now: Duration) {
        if let Some(entry) = self.pods.get_mut(pod).filter(|entry| !entry.is_boosted) {
            entry.is_boosted = true;
            self.push(pod, priority, now);
        }
    }

    /// Forgets a pod, which was bound or is gone.
    pub fn remove(&mut self, pod: &PodKey) {
        if let Some(entry) = self.pods.remove(pod) {
            self.keys.remove(&entry.arrival);
            self.shelves.take(entry.arrival, &entry.shelf);
        }
    }

    /// The next pod to decide on. It stays in the queue, to be parked or removed. When no pod is active, one that only
    /// backs off is tried before its time: nobody else needs the time.
    pub fn pop(&mut self, now: Duration) -> Option<PodKey> {
        self.shelve_due(now);
        let pod = self.keys.get(&self.shelves.first_ready()?)?.clone();
        let wakes = self.wakes;
        let entry = self.pods.get_mut(&pod)?;
        entry.attempts = entry.attempts.saturating_add(1);
        (entry.is_in_flight, entry.is_news, entry.seen_wakes) = (true, false, wakes);
        self.put(&pod, Shelf::Deciding, Why::PodAdd);
        Some(pod)
    }

    /// Puts a pod aside that found no place, until something that `cures` names changes. What changed while it was
    /// being decided on counts too.
    pub fn park(&mut self, pod: &PodKey, cures: BTreeSet<Cure>, now: Duration) {
        self.park_for(pod, cures, Duration::MAX, now);
    }

    /// The same, at most for `at_most`.
    pub fn park_for(&mut self, pod: &PodKey, cures: BTreeSet<Cure>, at_most: Duration, now: Duration) {
        let (backoff, woken) = (self.backoff, &self.woken);
        let Some(entry) = self.pods.get_mut(pod) else { return };
        let missed = |cure: &Cure| woken.get(cure).is_some_and(|at| *at > entry.seen_wakes);
        let is_missed = entry.is_news || cures.iter().any(missed);
        entry.rejected(now, backoff);
        self.arrivals += 1;
        entry.line = self.arrivals;
        entry.line_up(&*self.sort);
        if is_missed {
            self.shelve(pod, Why::AttemptFailed, now);
        } else {
            let until = now.saturating_add(at_most.min(backoff.parked));
            // One that waits for something certain has a time of its own.
            entry.flush_at = (at_most >= backoff.parked).then_some(until);
            entry.was_flushed = false;
            self.put(pod, Shelf::Parked { until, cures }, Why::AttemptFailed);
        }
    }

    /// Puts a pod aside that may not be looked at: this was no try.
    pub fn gate(&mut self, pod: &PodKey, now: Duration) {
        let until = now.saturating_add(self.backoff.parked);
        let Some(entry) = self.pods.get_mut(pod) else { return };
        entry.attempts = entry.attempts.saturating_sub(1);
        entry.is_in_flight = false;
        self.put(pod, Shelf::Gated { until }, Why::PodAdd);
    }

    /// Puts a pod aside for a moment because it claims an owner that nobody has read yet: pods and their owners come by
    /// different ways. False if it had its moment already; then it is decided on as it is.
    pub fn postpone(&mut self, pod: &PodKey, now: Duration) -> bool {
        let Some(entry) = self.pods.get_mut(pod).filter(|entry| !entry.postponed) else { return false };
        (entry.postponed, entry.attempts, entry.due, entry.is_in_flight) = (true, 0, now, false);
        let shelf = Shelf::Parked { until: now + OWNER_WAIT_MAX, cures: [Cure::Owner].into() };
        self.put(pod, shelf, Why::PodAdd);
        true
    }

    /// Puts a pod aside for which something went wrong: it will be tried again without anything having changed.
    pub fn retry(&mut self, pod: &PodKey, now: Duration) {
        let backoff = self.backoff;
        let Some(entry) = self.pods.get_mut(pod) else { return };
        entry.failed(now, backoff);
        self.arrivals += 1;
        entry.line = self.arrivals;
        entry.line_up(&*self.sort);
        let due = entry.due;
        self.put(pod, Shelf::Recovering { due }, Why::AttemptFailed);
    }

    /// Whether somebody decides on the pod, or it is on its way to a node.
    pub fn is_in_flight(&self, pod: &PodKey) -> bool {
        self.pods.get(pod).is_some_and(|entry| entry.is_in_flight)
    }

    /// Tries a pod that was put aside again at once, whatever it waits for.
    pub fn activate(&mut self, pod: &PodKey) {
        let Some(entry) = self.pods.get_mut(pod) else { return };
        if entry.is_in_flight {
            entry.is_news = true;
        } else {
            let turn = entry.turn;
            self.put(pod, Shelf::Active(turn), Why::Activated);
        }
    }

    /// Takes up again all parked pods that `cure` could help.
    pub fn wake(&mut self, cure: Cure, now: Duration) {
        self.wake_others(cure, None, now);
    }

    /// The same, except for one whose own doing it is.
    pub fn wake_others(&mut self, cure: Cure, except: Option<&PodKey>, now: Duration) {
        self.wakes += 1;
        self.woken.insert(cure, self.wakes);
        let except = except.and_then(|pod| self.pods.get(pod)).map(|entry| entry.arrival);
        for arrival in self.shelves.cured_by(cure) {
            if Some(arrival) != except {
                self.shelve_arrival(arrival, Why::Cured(cure), now);
            }
        }
    }

    /// When the next pod is due by itself: at once, if one is ready.
    pub fn next_due(&self) -> Option<Duration> {
        let ready = self.shelves.first_ready().map(|_| Duration::ZERO);
        ready.or_else(|| self.shelves.first_timed().map(|(at, _)| at))
    }

    /// All pods, in the order in which they came.
    pub fn pods(&self) -> Vec<PodKey> {
        self.keys.values().cloned().collect()
    }

    /// Whether the pod is about to be tried.
    pub fn is_active(&self, pod: &PodKey) -> bool {
        self.pods.get(pod).is_some_and(|entry| matches!(entry.shelf, Shelf::Active(_)))
    }

    /// How many pods stand where.
    pub fn pending(&self) -> Pending {
        self.shelves.pending()
    }

    /// What the pod has been through.
    pub fn history(&self, pod: &PodKey) -> Option<History> {
        let Entry { attempts, since, was_flushed, .. } = *self.pods.get(pod)?;
        Some(History { attempts, since, was_flushed })
    }

    /// How often pods came to a shelf, and why, since this was asked last.
    pub fn take_moves(&mut self) -> BTreeMap<(&'static str, Why), u64> {
        std::mem::take(&mut self.moves)
    }

    fn shelve_due(&mut self, now: Duration) {
        while let Some((_, arrival)) = self.shelves.first_timed().filter(|(at, _)| *at <= now) {
            self.shelve_arrival(arrival, Why::TimeIsUp, now);
        }
    }

    fn shelve_arrival(&mut self, arrival: u64, why: Why, now: Duration) {
        if let Some(pod) = self.keys.get(&arrival).cloned() {
            self.shelve(&pod, why, now);
        }
    }

    /// Makes a pod active if it is due, else lets it back off.
    fn shelve(&mut self, pod: &PodKey, why: Why, now: Duration) {
        let Some(entry) = self.pods.get_mut(pod) else { return };
        match why {
            Why::TimeIsUp => entry.was_flushed |= entry.flush_at.take().is_some_and(|at| at <= now),
            _ => (entry.flush_at, entry.was_flushed) = (None, false),
        }
        let shelf = match entry.due <= now {
            true => Shelf::Active(entry.turn),
            false => Shelf::BackingOff { due: entry.due, turn: entry.turn },
        };
        self.put(pod, shelf, why);
    }

    /// Moves a pod from the shelf on which it stands to another.
    fn put(&mut self, pod: &PodKey, shelf: Shelf, why: Why) {
        let Some(entry) = self.pods.get_mut(pod) else { return };
        self.shelves.take(entry.arrival, &entry.shelf);
        self.shelves.put(entry.arrival, &shelf);
        entry.shelf = shelf;
        if let Some(name) = entry.shelf_name() {
            *self.moves.entry((name, why)).or_default() += 1;
        }
    }
}

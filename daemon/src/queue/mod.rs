//! The scheduling queue: the pods that wait for a node, each in one sub-queue.
//!
//! ```text
//!  push ──▶ active ──pop──▶ in flight ──add_unschedulable──▶ unschedulable ──wake──▶ backoff ──time, or active is empty──▶ active
//!                               └──────────retry──▶ error backoff ──time──▶ active
//! ```
//!
//! *Active* pods are tried next, in the order of the QueueSort plugin: highest priority first, then in order of arrival; an
//! attempt counts as a new arrival. A pod that fits no node is *unschedulable* until something changes that may help it, as a plugin
//! says that refused it ([`Hints`]); then it is in *backoff*, so that it does not take too many attempts in a busy cluster. A pod
//! whose attempt failed is in *error backoff*: it is tried again after that time, and not before. A pod that must not be tried is
//! *gated*.
//!
//! Knows nothing of: nodes, the API server. Time is the time since the start.

mod backoff;
mod entry;
mod hints;
mod in_flight;
mod sub_queues;
#[cfg(test)]
mod tests;
mod wake_up;

pub use backoff::Backoff;
pub use entry::{AttemptHistory, MoveReason, PendingPods};
pub use hints::{ANY_CHANGE, Hints, RefusedBy};

use common::framework::QueueSort;
use common::model::{Pod, PodKey};
use entry::Entry;
use hints::RefusedPod;
use in_flight::InFlightChanges;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use sub_queues::{SubQueue, SubQueues};

/// How long a pod waits for an owner that it names and that was not read yet. Owners come milliseconds apart from their pods; a pod
/// whose owner does not exist must not wait for ever.
const OWNER_WAIT_MAX: Duration = Duration::from_secs(1);

/// The waiting pods. No call iterates over more of them than it moves.
pub struct Queue {
    pods: BTreeMap<PodKey, Entry>,
    /// The same pods by their number of arrival.
    keys: BTreeMap<u64, PodKey>,
    sub_queues: SubQueues,
    arrivals: u64,
    in_flight: InFlightChanges,
    /// How often pods were moved to a sub-queue, and why, since the last [`Queue::take_moves`].
    moves: BTreeMap<(&'static str, MoveReason), u64>,
    backoff: Backoff,
    /// The QueueSort plugin; `None`: by priority, and then by arrival.
    sort: Option<Arc<dyn QueueSort>>,
}

impl Queue {
    /// An empty queue with these delays and this order.
    pub fn new(backoff: Backoff, sort: Option<Arc<dyn QueueSort>>) -> Self {
        Self {
            pods: BTreeMap::new(),
            keys: BTreeMap::new(),
            sub_queues: SubQueues::default(),
            arrivals: 0,
            in_flight: InFlightChanges::default(),
            moves: BTreeMap::new(),
            backoff,
            sort,
        }
    }

    /// Adds a pod, or tries one that is in the queue again because it changed.
    pub fn push(&mut self, pod: &PodKey, priority: i32, now: Duration) {
        if !self.pods.contains_key(pod) {
            self.arrivals += 1;
            self.keys.insert(self.arrivals, pod.clone());
            self.pods.insert(pod.clone(), Entry::new(self.arrivals, now));
        }
        let Some(entry) = self.pods.get_mut(pod) else { return };
        entry.priority = priority;
        entry.update_sort_key(self.sort.as_deref());
        if entry.in_flight.is_some() {
            entry.has_changed = true;
        } else {
            self.requeue(pod, MoveReason::PodAdd, now);
        }
    }

    /// Moves a pod before all others of its priority.
    pub fn boost(&mut self, pod: &PodKey, priority: i32, now: Duration) {
        if let Some(entry) = self.pods.get_mut(pod).filter(|entry| !entry.is_boosted) {
            entry.is_boosted = true;
            self.push(pod, priority, now);
        }
    }

    /// Removes a pod, which was bound or is gone.
    pub fn remove(&mut self, pod: &PodKey) {
        self.end_flight(pod);
        if let Some(entry) = self.pods.remove(pod) {
            self.keys.remove(&entry.arrival);
            self.sub_queues.remove(entry.arrival, &entry.sub_queue);
        }
    }

    /// The next pod to decide on. It stays in the queue as in flight, until it is put aside or removed. When no pod is active, one
    /// in backoff is returned before its time.
    pub fn pop(&mut self, now: Duration) -> Option<PodKey> {
        self.requeue_due(now);
        let pod = self.keys.get(&self.sub_queues.first_ready()?)?.clone();
        let entry = self.pods.get_mut(&pod)?;
        entry.attempts = entry.attempts.saturating_add(1);
        (entry.in_flight, entry.has_changed) = (Some(self.in_flight.begin(entry.arrival)), false);
        self.move_to(&pod, SubQueue::InFlight, MoveReason::PodAdd);
        Some(pod)
    }

    /// Puts a pod aside that these plugins refused, until a change may help it. Changes while it was in flight count, too.
    pub fn add_unschedulable(
        &mut self,
        pod: &Arc<Pod>,
        refused_by: RefusedBy,
        hints: &dyn Hints,
        now: Duration,
    ) {
        self.add_unschedulable_for(pod, refused_by, Duration::MAX, hints, now);
    }

    /// The same, for at most `at_most`.
    pub fn add_unschedulable_for(
        &mut self,
        pod: &Arc<Pod>,
        refused_by: RefusedBy,
        at_most: Duration,
        hints: &dyn Hints,
        now: Duration,
    ) {
        let refused = RefusedPod { pod: Arc::clone(pod), refused_by };
        let is_missed = self.has_missed(&refused, hints);
        self.end_flight(&pod.key);
        let backoff = self.backoff;
        let Some(entry) = self.pods.get_mut(&pod.key) else { return };
        entry.rejected(now, backoff);
        self.arrivals += 1;
        entry.position = self.arrivals;
        entry.update_sort_key(self.sort.as_deref());
        if is_missed {
            self.requeue(&pod.key, MoveReason::AttemptFailed, now);
        } else {
            let until = now.saturating_add(at_most.min(backoff.unschedulable_max));
            // A pod with a time of its own is not flushed: that time is the end of a wait.
            entry.flush_at = (at_most >= backoff.unschedulable_max).then_some(until);
            entry.was_flushed = false;
            self.move_to(&pod.key, SubQueue::Unschedulable { until, refused }, MoveReason::AttemptFailed);
        }
    }

    /// Puts a pod aside that must not be tried, as these plugins say. This does not count as an attempt.
    pub fn gate(&mut self, pod: &Arc<Pod>, refused_by: RefusedBy, now: Duration) {
        self.end_flight(&pod.key);
        let until = now.saturating_add(self.backoff.unschedulable_max);
        let Some(entry) = self.pods.get_mut(&pod.key) else { return };
        entry.attempts = entry.attempts.saturating_sub(1);
        let refused = RefusedPod { pod: Arc::clone(pod), refused_by };
        self.move_to(&pod.key, SubQueue::Gated { until, refused }, MoveReason::PodAdd);
    }

    /// Puts a pod aside for a short time because it names an owner that was not read yet: pods and owners come by different
    /// watches. False if the pod was postponed before; the caller then decides on it as it is.
    pub fn postpone(&mut self, pod: &Arc<Pod>, now: Duration) -> bool {
        let Some(entry) = self.pods.get_mut(&pod.key).filter(|entry| !entry.is_postponed) else {
            return false;
        };
        (entry.is_postponed, entry.attempts, entry.due) = (true, 0, now);
        self.end_flight(&pod.key);
        let refused = RefusedPod { pod: Arc::clone(pod), refused_by: RefusedBy::new() };
        let sub_queue = SubQueue::Unschedulable { until: now + OWNER_WAIT_MAX, refused };
        self.move_to(&pod.key, sub_queue, MoveReason::PodAdd);
        true
    }

    /// Puts a pod aside whose attempt failed: it is tried again after a time, without any change.
    pub fn retry(&mut self, pod: &PodKey, now: Duration) {
        self.end_flight(pod);
        let backoff = self.backoff;
        let Some(entry) = self.pods.get_mut(pod) else { return };
        entry.failed(now, backoff);
        self.arrivals += 1;
        entry.position = self.arrivals;
        entry.update_sort_key(self.sort.as_deref());
        let due = entry.due;
        self.move_to(pod, SubQueue::ErrorBackoff { due }, MoveReason::AttemptFailed);
    }

    /// Whether the pod is in the queue.
    pub fn contains(&self, pod: &PodKey) -> bool {
        self.pods.contains_key(pod)
    }

    /// Whether the pod is being decided on or bound.
    pub fn is_in_flight(&self, pod: &PodKey) -> bool {
        self.pods.get(pod).is_some_and(|entry| entry.in_flight.is_some())
    }

    /// Makes a pod active at once, whatever it waits for.
    pub fn activate(&mut self, pod: &PodKey) {
        let Some(entry) = self.pods.get_mut(pod) else { return };
        if entry.in_flight.is_some() {
            entry.has_changed = true;
        } else {
            let sort_key = entry.sort_key;
            self.move_to(pod, SubQueue::Active(sort_key), MoveReason::Activated);
        }
    }

    /// When the next pod can be tried although nothing changes: at once, if one is ready.
    pub fn next_due(&self) -> Option<Duration> {
        let ready = self.sub_queues.first_ready().map(|_| Duration::ZERO);
        ready.or_else(|| self.sub_queues.first_timed().map(|(at, _)| at))
    }

    /// All pods, in order of arrival.
    pub fn pods(&self) -> Vec<PodKey> {
        self.keys.values().cloned().collect()
    }

    pub fn is_active(&self, pod: &PodKey) -> bool {
        self.pods.get(pod).is_some_and(|entry| matches!(entry.sub_queue, SubQueue::Active(_)))
    }

    pub fn pending(&self) -> PendingPods {
        self.sub_queues.pending()
    }

    pub fn history(&self, pod: &PodKey) -> Option<AttemptHistory> {
        let Entry { attempts, since, was_flushed, .. } = *self.pods.get(pod)?;
        Some(AttemptHistory { attempts, since, was_flushed })
    }

    /// How often pods were moved to a sub-queue, and why, since the previous call.
    pub fn take_moves(&mut self) -> BTreeMap<(&'static str, MoveReason), u64> {
        std::mem::take(&mut self.moves)
    }

    fn requeue_due(&mut self, now: Duration) {
        while let Some((_, arrival)) = self.sub_queues.first_timed().filter(|(at, _)| *at <= now) {
            self.requeue_arrival(arrival, MoveReason::TimeIsUp, now);
        }
    }

    fn requeue_arrival(&mut self, arrival: u64, reason: MoveReason, now: Duration) {
        if let Some(pod) = self.keys.get(&arrival).cloned() {
            self.requeue(&pod, reason, now);
        }
    }

    /// Moves a pod to active if its backoff is over, else to backoff.
    fn requeue(&mut self, pod: &PodKey, reason: MoveReason, now: Duration) {
        let Some(entry) = self.pods.get_mut(pod) else { return };
        match reason {
            MoveReason::TimeIsUp => entry.was_flushed |= entry.flush_at.take().is_some_and(|at| at <= now),
            _ => (entry.flush_at, entry.was_flushed) = (None, false),
        }
        let sub_queue = match entry.due <= now {
            true => SubQueue::Active(entry.sort_key),
            false => SubQueue::Backoff { due: entry.due, sort_key: entry.sort_key },
        };
        self.move_to(pod, sub_queue, reason);
    }

    fn move_to(&mut self, pod: &PodKey, sub_queue: SubQueue, reason: MoveReason) {
        let Some(entry) = self.pods.get_mut(pod) else { return };
        self.sub_queues.remove(entry.arrival, &entry.sub_queue);
        self.sub_queues.insert(entry.arrival, &sub_queue);
        entry.sub_queue = sub_queue;
        if let Some(name) = entry.queue_name() {
            *self.moves.entry((name, reason)).or_default() += 1;
        }
    }
}

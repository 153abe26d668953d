//! What the queue knows of one pod.

use super::Backoff;
use super::sub_queues::SubQueue;
use common::cluster::ClusterEvent;
use common::framework::{QueueSort, QueueSortKey, QueuedPodInfo};
use std::fmt;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) sort_key: QueueSortKey,
    pub(super) priority: i32,
    /// The number of its arrival, by which sub-queues know it.
    pub(super) arrival: u64,
    /// Its position in order of arrival. Each attempt moves it to the end, so that new pods do not wait for all that fit nowhere.
    /// As in kube-scheduler.
    pub(super) position: u64,
    /// When it was added.
    pub(super) since: Duration,
    pub(super) attempts: u32,
    /// How many attempts found no node.
    rejections: u32,
    /// How many attempts failed since the last one that did not.
    errors: u32,
    /// Whether it goes before all others of its priority.
    pub(super) is_boosted: bool,
    /// Whether it has waited for its owner before.
    pub(super) is_postponed: bool,
    /// While it is being decided on, or bound: the number of the first change that it did not see.
    pub(super) in_flight: Option<u64>,
    /// Whether it has to be tried again after the attempt, whatever comes of it.
    pub(super) has_changed: bool,
    /// When it is tried again although nothing that may help has changed.
    pub(super) flush_at: Option<Duration>,
    /// Whether its last attempt was made because of `flush_at`.
    pub(super) was_flushed: bool,
    pub(super) due: Duration,
    pub(super) sub_queue: SubQueue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptHistory {
    pub attempts: u32,
    pub since: Duration,
    /// Whether its last attempt was made only because it had been unschedulable for very long.
    pub was_flushed: bool,
}

/// The number of pods in each part of the queue, as the metric `scheduler_pending_pods` shows it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PendingPods {
    /// Pods that are tried next.
    pub active: usize,
    pub backoff: usize,
    pub unschedulable: usize,
    /// Pods that must not be tried.
    pub gated: usize,
}

/// Why a pod was moved to a sub-queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MoveReason {
    /// The pod is new, or changed.
    PodAdd,
    AttemptFailed,
    /// A change may help it.
    Event(ClusterEvent),
    /// Its backoff, or the longest time as unschedulable, is over.
    TimeIsUp,
    /// The preemption that it waited for is over.
    Activated,
}

impl Entry {
    /// A pod that is added now.
    pub(super) fn new(arrival: u64, now: Duration) -> Self {
        Self {
            sort_key: QueueSortKey::default(),
            priority: 0,
            arrival,
            position: arrival,
            since: now,
            attempts: 0,
            rejections: 0,
            errors: 0,
            is_boosted: false,
            is_postponed: false,
            in_flight: None,
            has_changed: false,
            flush_at: None,
            was_flushed: false,
            due: now,
            sub_queue: SubQueue::InFlight,
        }
    }

    pub(super) fn update_sort_key(&mut self, sort: Option<&dyn QueueSort>) {
        let arrival = if self.is_boosted { 0 } else { self.position };
        let queued = QueuedPodInfo { priority: self.priority, arrival };
        self.sort_key = sort.map_or_else(|| queued.by_priority(), |sort| sort.sort_key(&queued));
    }

    /// An attempt found no node: begins a backoff, which grows with the number of such attempts.
    pub(super) fn rejected(&mut self, now: Duration, backoff: Backoff) {
        self.rejections = self.rejections.saturating_add(1);
        self.errors = 0;
        self.due = now.saturating_add(backoff.delay(self.rejections));
    }

    pub(super) fn failed(&mut self, now: Duration, backoff: Backoff) {
        self.errors = self.errors.saturating_add(1);
        self.due = now.saturating_add(backoff.delay(self.errors));
    }

    pub(super) fn queue_name(&self) -> Option<&'static str> {
        match self.sub_queue {
            SubQueue::Active(_) => Some("active"),
            SubQueue::Backoff { .. } | SubQueue::ErrorBackoff { .. } => Some("backoff"),
            SubQueue::Unschedulable { .. } => Some("unschedulable"),
            SubQueue::Gated { .. } => Some("gated"),
            SubQueue::InFlight => None,
        }
    }
}

/// Its name in metrics: kube-scheduler's name where there is one.
impl fmt::Display for MoveReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PodAdd => f.write_str("PodAdd"),
            Self::AttemptFailed => f.write_str("ScheduleAttemptFailure"),
            Self::TimeIsUp => f.write_str("BackoffComplete"),
            Self::Activated => f.write_str("ForceActivate"),
            Self::Event(event) => event.fmt(f),
        }
    }
}

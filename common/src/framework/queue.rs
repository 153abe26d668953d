//! The extension points of the queue: PreEnqueue says whether a pod may be queued, QueueSort orders the queue.

use super::{Plugin, Rejection};
use crate::model::Pod;

/// Keeps pods out of the queue.
pub trait PreEnqueue: Plugin {
    /// Why the pod may not be queued yet; `None`: it may.
    fn check(&self, pod: &Pod) -> Option<Rejection>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuedPodInfo {
    pub priority: i32,
    /// The position of the pod in the order of arrival.
    pub arrival: u64,
}

impl QueuedPodInfo {
    /// The sort key by which higher priorities come first, and then earlier arrivals.
    pub fn by_priority(&self) -> QueueSortKey {
        (-i64::from(self.priority), i64::try_from(self.arrival).unwrap_or(i64::MAX))
    }
}

/// The key by which the queue is sorted: the pod with the smallest key comes first; of equal keys, the pod that arrived first.
pub type QueueSortKey = (i64, i64);

/// Orders the queue. A registry has exactly one such plugin.
pub trait QueueSort: Plugin {
    fn sort_key(&self, queued: &QueuedPodInfo) -> QueueSortKey;
}

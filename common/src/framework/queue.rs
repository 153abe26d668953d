//! Before a pod is looked at: may it be, and when is its turn?

use super::{Plugin, Rejection};
use crate::model::Pod;
use std::cmp::Ordering;
use std::time::Duration;

/// Keeps pods out of the queue.
pub trait PreEnqueue: Plugin {
    /// Why the pod is not to be looked at yet.
    fn check(&self, pod: &Pod) -> Option<Rejection>;
}

/// A pod in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Its priority.
    pub priority: i32,
    /// When it came, since the program started.
    pub since: Duration,
}

/// Says whose turn it is. There is exactly one of these.
pub trait QueueSort: Plugin {
    /// `Less` when `one` goes before `other`.
    fn compare(&self, one: &Queued, other: &Queued) -> Ordering;
}

//! Before a pod is looked at: may it be, and when is its turn?

use super::{Plugin, Rejection};
use crate::model::Pod;

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
    /// The how manieth it was to come.
    pub arrival: u64,
}

/// When it is a pod's turn: the smaller goes first, and of equals the one that came first.
pub type Turn = (i64, i64);

/// Says whose turn it is. There is exactly one of these.
pub trait QueueSort: Plugin {
    /// When it is this pod's turn.
    fn turn(&self, queued: &Queued) -> Turn;
}

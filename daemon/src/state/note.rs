//! What happened inside, for those who count it. A note is a value: it alters nothing, and nobody has to listen.

use super::reserving::Kept;
use common::model::ids::Text;

/// One thing worth counting.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// A pod was looked at.
    Attempt {
        /// The scheduler that did.
        profile: Text,
        /// What came of it.
        result: Attempted,
    },
    /// Something happened to a reservation.
    Reservation(Kept),
    /// A pod was bound.
    Bound {
        /// The scheduler that did.
        profile: Text,
        /// How often the pod was looked at.
        attempts: u32,
        /// How long it waited since it was first seen, in milliseconds.
        waited_ms: u64,
    },
}

/// What came of looking at a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempted {
    /// It has a node.
    Scheduled,
    /// No node can have it.
    Unschedulable,
    /// Something went wrong.
    Error,
}

//! What happened inside, for those who count it. A note is a value: it alters nothing, and nobody has to listen.

use common::cluster::compare::Difference;
use common::framework::Status;
use common::model::ExtensionPoint;
use common::model::ids::Text;
use std::time::Duration;

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
    /// A pod was bound.
    Bound {
        /// The scheduler that did.
        profile: Text,
        /// How often the pod was looked at.
        attempts: u32,
        /// How long it waited since it was first seen, in milliseconds.
        waited_ms: u64,
        /// Whether it was last tried only because it had waited for so long.
        was_flushed: bool,
    },
    /// A pod has passed an extension point that ends outside of the plugins.
    Passed {
        /// The scheduler.
        profile: Text,
        /// Which one.
        extension_point: ExtensionPoint,
        /// What came of it.
        status: Status,
        /// How long it took.
        took: Duration,
    },
    /// Others have to go for a pod.
    Preemption {
        /// How many.
        victims: usize,
        /// How many of them a disruption budget protects.
        violations: usize,
    },
    /// All who had to go for a pod are on their way, or one of them could not be made to.
    Preempted {
        /// Whether they are.
        is_done: bool,
        /// How long that took.
        took: Duration,
    },
    /// A pod got leave to be bound after it had waited for it, or did not get it.
    PermitWait {
        /// `Success` or `Unschedulable`.
        result: &'static str,
        /// How long it waited, in milliseconds.
        waited_ms: u64,
    },
    /// Pods came to a shelf of the queue.
    Queued {
        /// `active`, `backoff`, `unschedulable` or `gated`.
        queue: &'static str,
        /// What brought them there, by upstream's names.
        event: &'static str,
        /// How many.
        count: u64,
    },
    /// Events were not written because too many waited.
    EventsDropped {
        /// How many.
        count: u64,
    },
    /// A reservation was made.
    Reserved {
        /// What for, in one word.
        by: &'static str,
    },
    /// A reservation was removed.
    Released {
        /// Why, in one word.
        why: &'static str,
    },
    /// No reservation was made for a pod whose place is to be kept.
    NotReserved {
        /// Why, in one word.
        why: &'static str,
    },
    /// The room of a reservation was gone before it was used.
    Lost,
    /// A reservation gave way to a pod that is more important.
    Yielded,
    /// No places are kept for the pods of an owner because it cannot be read.
    OwnerUnreadable,
    /// All replicas have seen a reservation.
    Acknowledged {
        /// How long it took, in milliseconds.
        after_ms: u64,
    },
    /// What is believed was compared with what the API server has.
    Compared(Compared),
}

/// What came of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compared {
    /// Nothing differs.
    Equal,
    /// This differs, for certain.
    Different(Vec<Difference>),
    /// It could not be compared, and this is why.
    Unknown(String),
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

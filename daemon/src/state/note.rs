//! Notes: what happened inside the state machine, for metrics and logs. A note changes nothing, and may be ignored.

use common::cluster::compare::Difference;
use common::framework::Status;
use common::model::ExtensionPoint;
use common::model::ids::Text;
use std::time::Duration;

/// One thing that metrics count.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    Attempt {
        profile: Text,
        result: AttemptResult,
    },
    Bound {
        profile: Text,
        attempts: u32,
        /// The milliseconds from the first time that the pod was seen.
        waited_ms: u64,
        /// Whether the last attempt was made only because the pod had been unschedulable for very long.
        was_flushed: bool,
    },
    /// A pod has finished an extension point that does not end when its plugins return: PreBind of volumes, Bind.
    ExtensionPointDuration {
        profile: Text,
        extension_point: ExtensionPoint,
        status: Status,
        took: Duration,
    },
    Preemption {
        victims: usize,
        /// How many of them a PodDisruptionBudget protects.
        violations: usize,
    },
    /// The deletion of all victims of a preemption has begun, or one of them could not be deleted.
    VictimDeletion {
        is_done: bool,
        took: Duration,
    },
    /// A pod that waited for a Permit plugin was allowed or rejected.
    PermitWait {
        /// `Success` or `Unschedulable`.
        result: &'static str,
        waited_ms: u64,
    },
    /// Pods were moved into a part of the queue.
    Queued {
        /// `active`, `backoff`, `unschedulable` or `gated`.
        queue: &'static str,
        /// Why they were moved, by kube-scheduler's names.
        event: &'static str,
        count: u64,
    },
    /// Events were not written because too many waited.
    EventsDropped {
        count: u64,
    },
    Reserved {
        /// `keep` or `delete`: for a pod that asks for it, or for a deleted pod.
        by: &'static str,
    },
    Released {
        /// The reason in one word.
        why: &'static str,
    },
    /// No reservation is made for a pod that asks for one.
    NotReserved {
        /// The reason in one word.
        why: &'static str,
    },
    /// A live reservation is gone with its node, or with all annotations of the node.
    ReservationLost,
    /// A reservation yielded to a pod of higher priority.
    ReservationYielded,
    /// No reservations are made for the pods of an owner because the owner cannot be read.
    OwnerUnreadable,
    /// All replicas have seen a reservation.
    Acknowledged {
        after_ms: u64,
    },
    /// The belief was compared with what the API server has.
    Compared(ComparisonResult),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComparisonResult {
    Equal,
    Different(Vec<Difference>),
    /// Nothing could be compared, and this is why.
    Unknown(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptResult {
    Scheduled,
    Unschedulable,
    Error,
}

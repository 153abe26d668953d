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
    /// `waited_ms` counts from when the pod was first seen; `was_flushed`: the last attempt was made only because the pod had been
    /// unschedulable for very long.
    Bound {
        profile: Text,
        attempts: u32,
        waited_ms: u64,
        was_flushed: bool,
    },
    /// A pod has finished an extension point that does not end when its plugins return: PreBind of volumes, Bind.
    ExtensionPointDuration {
        profile: Text,
        extension_point: ExtensionPoint,
        status: Status,
        took: Duration,
    },
    /// `violations` says how many of the victims a PodDisruptionBudget protects.
    Preemption {
        victims: usize,
        violations: usize,
    },
    /// The deletion of all victims of a preemption has begun, or one of them could not be deleted.
    VictimDeletion {
        is_done: bool,
        took: Duration,
    },
    /// A pod that waited for a Permit plugin was allowed (`Success`) or rejected (`Unschedulable`).
    PermitWait {
        result: &'static str,
        waited_ms: u64,
    },
    /// Pods were moved into a part of the queue (`active`, `backoff`, `unschedulable` or `gated`), by kube-scheduler's names of
    /// events.
    Queued {
        queue: &'static str,
        event: String,
        count: u64,
    },
    /// Events were not written because too many waited.
    EventsDropped {
        count: u64,
    },
    /// A reservation was made by `keep` or `delete`: for a pod that asks for it, or for a deleted pod.
    Reserved {
        by: &'static str,
    },
    Released {
        why: &'static str,
    },
    /// No reservation is made for a pod that asks for one.
    NotReserved {
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

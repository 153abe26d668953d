//! The terms of one recreation: which pod, how its room is kept, and what is waited for.

use std::collections::BTreeSet;
use std::time::Duration;

/// How one pod is recreated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The UID of the pod: another pod of the same name is another pod.
    pub uid: String,
    /// The name of the pod, if its replacement has the same name.
    pub same_name: Option<String>,
    /// The node where room is kept.
    pub node: String,
    /// Whether `node` is the pod's own node; a drain keeps room on another node.
    pub is_own_node: bool,
    /// How the room is kept.
    pub keep_method: KeepMethod,
    /// The value of `reserve/seat` on the pod that takes the reservation.
    pub seat: Option<String>,
    /// Whether the deletion of the pod has begun already, so that no eviction is needed.
    pub is_leaving: bool,
    /// Whether the pod is gone already: an earlier run is resumed.
    pub is_gone: bool,
    /// The UIDs of the owner's pods that existed before: none of them is the replacement.
    pub known: BTreeSet<String>,
    /// Whether the recreation stops if no replica acknowledges the reservation.
    pub is_enforced: bool,
    /// Whether this command creates the replacement, because no controller does.
    pub creates: bool,
    pub wait_for: WaitFor,
    /// Whether a replacement on another node is a failure.
    pub is_required: bool,
    /// How long the whole recreation may take.
    pub timeout: Duration,
}

/// How the room is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepMethod {
    /// This command writes a reservation to the node.
    Reservation,
    /// This command writes the annotation `reserve/keep` to the pod, and the daemon makes the reservation.
    KeepAnnotation,
    /// The room is not kept.
    Nothing,
}

/// What is waited for, in the order in which it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitFor {
    Evicted,
    /// The end of the old pod.
    Deleted,
    /// A node for the replacement.
    Bound,
    Ready,
}

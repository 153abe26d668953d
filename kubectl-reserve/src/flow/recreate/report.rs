//! What a recreation reports: `ProgressEvent` while it runs, and `RecreationOutcome` at its end. Plain values; `render/recreate`
//! turns them into text.

use super::super::budget::BlockedEviction;
use super::observation::Observation;
use jiff::Timestamp;

/// A step of the recreation that was completed, or had to be undone.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgressEvent {
    /// A budget forbids the eviction for now.
    Blocked(Box<BlockedEviction>),
    /// The room is reserved.
    Reserved {
        /// The earliest end of the reservation, if it is known.
        until: Option<Timestamp>,
    },
    /// Every live replica of the daemon has seen the reservation.
    Acknowledged {
        /// The number of replicas; 0 if it is not known.
        replicas: usize,
    },
    /// No replica has seen the reservation, and the recreation goes on without (`--unenforced`).
    Unacknowledged,
    /// The node had too little of these resources: the reservation is taken back, and everything begins again.
    Again(Vec<String>),
    /// The reservation was taken back.
    TakenBack,
    /// The API server accepted the eviction.
    Evicted,
    /// The old pod is gone.
    Gone,
    /// This command created the replacement.
    Created,
    /// The replacement has a node.
    Bound {
        /// The name of the replacement.
        pod: String,
        /// The node of the replacement.
        node: String,
        /// Whether it is the node where room was reserved.
        node_match: NodeMatch,
    },
    /// A replacement that had a node was deleted, preempted or rejected by its kubelet. The next one is waited for.
    ReplacementGone {
        /// The name of the replacement.
        pod: String,
        /// The node that it had.
        node: String,
    },
    /// The replacement is ready.
    Ready,
    /// The replacement was ready, and is not any more.
    NotReady {
        /// The name of the replacement.
        pod: String,
    },
    /// The reservation is gone from the node.
    Released,
}

/// How the node of a replacement relates to the node where room was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeMatch {
    /// The node of the old pod, where room was reserved.
    SameNode,
    /// Another node than that of the old pod: the one where room was reserved, as in a drain.
    IntendedNode,
    /// A node where no room was reserved for the pod.
    Elsewhere,
}

/// How a recreation ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RecreationOutcome {
    /// Everything that was waited for has happened.
    Done(Box<Success>),
    /// The recreation ended early.
    Stopped {
        why: StopReason,
        /// What still keeps the room.
        leftover: Leftover,
        /// Whether the pod was evicted, or may have been.
        is_evicted: bool,
        /// Whether the user must create the replacement: the pod has no controller, and this command has not created it.
        must_create: bool,
    },
}

/// The replacement, and what still keeps room.
#[derive(Clone, Debug, PartialEq)]
pub struct Success {
    /// The name of the replacement, if it was waited for.
    pub pod: Option<String>,
    /// The UID of the replacement. In the last observation the pod with this UID was on `node`, and ready if readiness was
    /// waited for.
    pub uid: Option<String>,
    /// The node of the replacement.
    pub node: Option<String>,
    /// Whether `node` is the node where room was reserved.
    pub node_match: Option<NodeMatch>,
    /// What still keeps the room.
    pub leftover: Leftover,
}

/// What keeps the room when the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// Nothing, and nothing was reserved.
    Nothing,
    /// Nothing: the reservation was taken back.
    TakenBack,
    /// A reservation that the replacement has taken; the daemon releases it.
    Taken,
    Reservation {
        /// The end of the reservation, if it is known.
        until: Option<Timestamp>,
    },
    /// The pod's annotation `reserve/keep`, and with it the reservation that the daemon made.
    KeepAnnotation,
    /// Perhaps the reservation: it is not certain that it was taken back.
    Perhaps {
        /// The end of the reservation, if it is known.
        until: Option<Timestamp>,
    },
}

/// Why a recreation ended early.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// A budget forbade the eviction until the timeout, or will always forbid it.
    Budget(Box<BlockedEviction>),
    /// These replicas did not acknowledge the reservation in time.
    NotSeen(Vec<String>),
    /// No live replica enforces reservations.
    Nobody,
    /// The daemon refused to reserve the room.
    Denied(String),
    /// The node has too little of these resources.
    NoRoom(Vec<String>),
    /// Somebody else removed the reservation before the eviction.
    Lost,
    /// The pod is gone, and this command did not evict it.
    Gone,
    /// The timeout passed. The last observation, if there was one.
    Timeout(Option<Box<Observation>>),
    /// The replacement is ready, but not on the required node.
    Elsewhere {
        /// The name of the replacement.
        pod: String,
        /// The node of the replacement.
        node: String,
    },
    /// The replacement that this command created was deleted or preempted, and nobody else creates another one.
    ReplacementGone {
        /// The name of the replacement.
        pod: String,
        /// The node that it had.
        node: String,
    },
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The caller lacks a right.
    Forbidden {
        /// The message of the server.
        message: String,
        /// The right that is missing.
        needs: String,
    },
    /// Any other failure, in words.
    Failed(String),
}

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
    /// The room is reserved at least until this time, if it is known.
    Reserved {
        until: Option<Timestamp>,
    },
    /// Every live replica of the daemon has seen the reservation; their number is 0 if it is not known.
    Acknowledged {
        replicas: usize,
    },
    /// No replica has seen the reservation, and the recreation goes on without (`--unenforced`).
    Unacknowledged,
    /// The node had too little of these resources: the reservation is taken back, and everything begins again.
    Again(Vec<String>),
    TakenBack,
    /// The API server accepted the eviction.
    Evicted,
    /// The old pod is gone.
    Gone,
    /// This command created the replacement.
    Created,
    /// The replacement has a node.
    Bound {
        pod: String,
        node: String,
        node_match: NodeMatch,
    },
    /// A replacement that had a node was deleted, preempted or rejected by its kubelet. The next one is waited for.
    ReplacementGone {
        pod: String,
        node: String,
    },
    Ready,
    /// The replacement was ready, and is not any more.
    NotReady {
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

#[derive(Clone, Debug, PartialEq)]
pub enum RecreationOutcome {
    /// Everything that was waited for has happened.
    Done(Box<Success>),
    /// The recreation ended early.
    Stopped {
        why: StopReason,
        leftover: Leftover,
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
    pub node: Option<String>,
    /// Whether `node` is the node where room was reserved.
    pub node_match: Option<NodeMatch>,
    /// What still keeps the room.
    pub leftover: Leftover,
}

/// What keeps the room when the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftover {
    Nothing,
    /// Nothing: the reservation was taken back.
    TakenBack,
    /// A reservation that the replacement has taken; the daemon releases it.
    Taken,
    /// A reservation until this time, if it is known.
    Reservation {
        until: Option<Timestamp>,
    },
    /// The pod's annotation `reserve/keep`, and with it the reservation that the daemon made.
    KeepAnnotation,
    /// Perhaps the reservation: it is not certain that it was taken back.
    Perhaps {
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
    Elsewhere { pod: String, node: String },
    /// The replacement that this command created was deleted or preempted, and nobody else creates another one.
    ReplacementGone { pod: String, node: String },
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The caller lacks the right that is needed, as the server says.
    Forbidden { message: String, needs: String },
    /// Any other failure, in words.
    Failed(String),
}

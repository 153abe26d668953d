//! What a recreation has to say: while it goes on, and at its end.

use super::super::budget::Blocked;
use super::sight::Sight;
use jiff::Timestamp;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// A budget forbids the eviction for now.
    Blocked(Box<Blocked>),
    /// The room is kept.
    Reserved {
        /// Until when at least, if that is known.
        until: Option<Timestamp>,
    },
    /// Everybody who decides has seen it.
    Acknowledged {
        /// How many they are; 0 if that cannot be told.
        replicas: usize,
    },
    /// Nobody has, and it goes on all the same.
    Unacknowledged,
    /// The node had too little of this, so that the reservation was taken back and all begins again.
    Again(Vec<String>),
    /// The reservation was taken back.
    TakenBack,
    /// The pod was evicted.
    Evicted,
    /// The pod is gone.
    Gone,
    /// We made the replacement.
    Created,
    /// The replacement has a node.
    Bound {
        /// Its name.
        pod: String,
        /// The node.
        node: String,
        /// Which one that is.
        landed: Landed,
    },
    /// A replacement that had a node was deleted, preempted or turned away, and the next one is waited for.
    ReplacementGone {
        /// Its name.
        pod: String,
        /// The node that it had.
        node: String,
    },
    /// The replacement is ready.
    Ready,
    /// The replacement was ready, and is not any more.
    NotReady {
        /// Its name.
        pod: String,
    },
    /// The reservation is gone.
    Released,
}

/// Which node a replacement has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landed {
    /// That of the old pod, whose room was kept.
    SameNode,
    /// Another one, whose room was kept for it.
    Kept,
    /// Another one than was meant.
    Elsewhere,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// As it was to.
    Done(Box<Done>),
    /// Before its time.
    Stopped {
        /// Why.
        why: Why,
        /// What is left behind.
        stays: Stays,
        /// Whether the pod was evicted, or may have been.
        is_evicted: bool,
        /// Whether nobody will make the replacement unless somebody does it by hand.
        must_create: bool,
    },
}

/// What was achieved.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The replacement, if it was waited for.
    pub pod: Option<String>,
    /// Its UID. When it was looked at last, the pod with this UID was there, on the node, and ready if that was waited for.
    pub uid: Option<String>,
    /// Its node.
    pub node: Option<String>,
    /// Which one that is, if it has one.
    pub landed: Option<Landed>,
    /// What is left behind.
    pub stays: Stays,
}

/// What keeps the room after the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stays {
    /// Nothing.
    Nothing,
    /// Nothing any more: what was reserved was taken back.
    TakenBack,
    /// The replacement has the room, and the daemon releases the reservation.
    Taken,
    /// The reservation, until then.
    Reservation {
        /// When it ends, if that is known.
        until: Option<Timestamp>,
    },
    /// The pod's wish, and with it the reservation that the daemon made.
    Wish,
    /// Perhaps the reservation: it could not be taken back for certain.
    Perhaps {
        /// When it ends, if that is known.
        until: Option<Timestamp>,
    },
}

/// Why it ended before its time.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// A budget forbade the eviction until the time was over, or always will.
    Budget(Box<Blocked>),
    /// These replicas did not acknowledge the reservation in time.
    NotSeen(Vec<String>),
    /// There is nobody who would heed the reservation.
    Nobody,
    /// The daemon would not reserve anything.
    Denied(String),
    /// The node has too little of something.
    NoRoom(Vec<String>),
    /// The reservation was removed by somebody else before the eviction.
    Lost,
    /// The pod is gone, without our doing.
    Gone,
    /// The time is over; what was seen last.
    Timeout(Option<Box<Sight>>),
    /// It is ready, but on another node than the required one.
    Elsewhere {
        /// The replacement.
        pod: String,
        /// Its node.
        node: String,
    },
    /// The replacement that we made was deleted or preempted, and nobody else makes another.
    ReplacementGone {
        /// Its name.
        pod: String,
        /// The node that it had.
        node: String,
    },
    /// Somebody wanted it to stop.
    Interrupted,
    /// The caller may not do that: what the server said, and the right that is missing.
    Forbidden {
        /// What the server said.
        message: String,
        /// Which right is missing.
        needs: String,
    },
    /// Something else, in words.
    Failed(String),
}

//! What a recreation asks for, and what it is told: one request, one answer.

use super::Outcome;
use super::news::{News, Why};
use super::sight::Sight;
use crate::flow::budget::Blocked;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The eviction as a dry run.
    Rehearse,
    /// Keep the room: write the reservation, or the wish for one.
    Reserve,
    /// Whether the replicas have seen this version of the node; with a wish, whether the daemon has said so.
    Acknowledged {
        /// The version of the node with the reservation.
        version: u64,
    },
    /// Read node and pods once more.
    Recheck,
    /// The eviction.
    Evict,
    /// How the old pod, its node, the reservation and the replacement are.
    Look,
    /// Make the replacement.
    Create,
    /// Take back what keeps the room, unless somebody else needs it by now.
    TakeBack,
    /// Release what keeps the room, now that the replacement has it.
    Release,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The eviction would be, or is, carried out.
    Allowed,
    /// It is not.
    Refused(Refusal),
    /// The room is kept.
    Reserved {
        /// The version of the node; 0 with a wish.
        version: u64,
        /// When it ends.
        until: Option<Timestamp>,
    },
    /// The caller may not write to the node, and lets the pod wish it instead.
    MayNotReserve,
    /// So many replicas have seen it, and no live one has not.
    Seen {
        /// How many.
        replicas: usize,
    },
    /// Some have not seen it yet.
    NotSeen(Vec<String>),
    /// There is nobody who would see it.
    Nobody,
    /// The daemon will not reserve anything, for this reason.
    Denied(String),
    /// The second look.
    Rechecked(Recheck),
    /// How things are.
    Sight(Box<Sight>),
    /// The replacement was made, or is there.
    Created,
    /// Nothing keeps the room any more.
    Released,
    /// Somebody else may count on what keeps the room, so that it was left as it is.
    Needed,
    /// No answer: it may have happened or not.
    Lost(String),
    /// It cannot be done.
    Failed(Why),
}

/// Why an eviction was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// A budget forbids it.
    Budget(Box<Blocked>),
    /// Not now, but soon.
    Soon(Duration),
    /// There is no such pod any more.
    Gone,
}

/// What the second look saw.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Recheck {
    /// Whether the pod is on its way out.
    pub is_leaving: bool,
    /// Whether it is gone.
    pub is_gone: bool,
    /// Whether the reservation is no longer there.
    pub is_lost: bool,
    /// What the node has too little of, in words; empty if everything fits.
    pub lacks: Vec<String>,
    /// The UIDs of the owner's pods.
    pub known: BTreeSet<String>,
}

/// What to say, and what to do next.
#[derive(Clone, Debug, PartialEq)]
pub struct Next {
    /// What happened.
    pub news: Vec<News>,
    /// What to do.
    pub then: Then,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Then {
    /// A request, after a pause.
    Do {
        /// Which one.
        request: Request,
        /// The pause before it.
        after: Duration,
    },
    /// Nothing: it is over.
    Stop(Outcome),
}

/// The request, at once.
pub(super) fn now(request: Request) -> Then {
    after(Duration::ZERO, request)
}

/// The request, after a pause.
pub(super) fn after(pause: Duration, request: Request) -> Then {
    Then::Do { request, after: pause }
}

//! The requests that a recreation makes, and the answers that it gets: one answer for each request.

use super::RecreationOutcome;
use super::observation::Observation;
use super::report::{ProgressEvent, StopReason};
use crate::flow::budget::BlockedEviction;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::time::Duration;

/// What the caller of `Recreation::step` must do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    DryRunEvict,
    /// Keep the room: write the reservation, or the annotation `reserve/keep` that asks the daemon for one.
    Reserve,
    /// Ask whether all replicas have seen this version of the node; with `reserve/keep`: whether the daemon has answered.
    Acknowledged {
        version: u64,
    },
    /// Read the node and the pods once more before the eviction.
    Recheck,
    Evict,
    /// Read the old pod, its node, the reservation and the replacement.
    Look,
    Create,
    /// Take back the reservation or the annotation, unless somebody else needs it by now.
    TakeBack,
    /// Release the reservation: the replacement has the room.
    Release,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The API server accepted the eviction, or its dry run.
    Allowed,
    /// The API server refused the eviction.
    Refused(Refusal),
    /// The room is reserved, or asked for with `reserve/keep`.
    /// The version of the node is 0 with `reserve/keep`.
    Reserved {
        version: u64,
        /// The end of the reservation.
        until: Option<Timestamp>,
    },
    /// The caller may not write to the node, and uses `reserve/keep` instead.
    MayNotReserve,
    /// All live replicas have seen the reservation.
    Seen { replicas: usize },
    /// These replicas have not seen the reservation yet.
    NotSeen(Vec<String>),
    /// There is no live replica.
    Nobody,
    /// The daemon refuses to reserve the room, for this reason.
    Denied(String),
    /// The result of `Request::Recheck`.
    Rechecked(Recheck),
    /// The result of `Request::Look`.
    Observation(Box<Observation>),
    /// The replacement was created, or exists already.
    Created,
    /// Nothing keeps the room any more.
    Released,
    /// Somebody else may rely on the reservation, so it was not changed.
    Needed,
    /// There was no answer: the request may have had its effect or not.
    Lost(String),
    /// The request cannot be carried out.
    Failed(StopReason),
}

/// Why an eviction was refused.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    Budget(Box<BlockedEviction>),
    /// The server asks to try again after this pause.
    Soon(Duration),
    /// The pod does not exist any more.
    Gone,
}

/// What the check right before the eviction found.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Recheck {
    /// Whether the deletion of the pod has begun.
    pub is_leaving: bool,
    pub is_gone: bool,
    /// Whether the reservation is gone, or belongs to another run of the command.
    pub is_lost: bool,
    /// Whether the reservation has expired, or would end soon after the eviction.
    pub ends_soon: bool,
    /// What the node has too little of, in words; empty if everything fits.
    pub lacks: Vec<String>,
    /// The UIDs of the owner's pods that have a node: none of them is the replacement.
    pub known: BTreeSet<String>,
}

/// The result of one step: what to print, and what to do next.
#[derive(Clone, Debug, PartialEq)]
pub struct StepOutput {
    /// What has happened since the last step.
    pub events: Vec<ProgressEvent>,
    pub action: NextAction,
}

/// What to do after a step.
#[derive(Clone, Debug, PartialEq)]
pub enum NextAction {
    /// Wait, and then carry out a request.
    Do {
        request: Request,
        after: Duration,
    },
    Stop(RecreationOutcome),
}

pub(super) fn now(request: Request) -> NextAction {
    after(Duration::ZERO, request)
}

pub(super) fn after(pause: Duration, request: Request) -> NextAction {
    NextAction::Do { request, after: pause }
}

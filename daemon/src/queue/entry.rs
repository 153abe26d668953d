//! What is known of a waiting pod besides its name.

use super::Backoff;
use super::shelves::Shelf;
use common::framework::{Cure, Turn};
use std::time::Duration;

/// A waiting pod.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) turn: Turn,
    pub(super) arrival: u64,
    /// When it came.
    pub(super) since: Duration,
    /// How often it was looked at.
    pub(super) attempts: u32,
    /// How often it found no place.
    rejections: u32,
    /// How often something went wrong, since it last did not.
    errors: u32,
    /// Whether it goes first within its priority.
    pub(super) is_boosted: bool,
    /// Whether it has been given a moment for its owner to become known.
    pub(super) postponed: bool,
    /// Whether it is being decided on, or bound.
    pub(super) is_in_flight: bool,
    /// Whether it changed meanwhile.
    pub(super) is_news: bool,
    /// The wake-ups that there were before that.
    pub(super) seen_wakes: u64,
    /// When it is tried again even if nothing happened that could cure it.
    pub(super) flush_at: Option<Duration>,
    /// Whether that is why it is tried.
    pub(super) was_flushed: bool,
    /// When it may be tried again, given how often it was tried.
    pub(super) due: Duration,
    pub(super) shelf: Shelf,
}

/// What a waiting pod has been through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// How often it was looked at.
    pub attempts: u32,
    /// When it came.
    pub since: Duration,
    /// Whether it was last tried only because it had waited for so long.
    pub was_flushed: bool,
}

/// How many pods wait, and for what.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// For their turn.
    pub active: usize,
    /// For some time to pass.
    pub backoff: usize,
    /// For something to change.
    pub unschedulable: usize,
    /// For leave to be looked at.
    pub gated: usize,
}

/// Why a pod came to a shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// It is new, or changed.
    PodAdd,
    /// It was tried.
    AttemptFailed,
    /// Something happened that could cure it.
    Cured(Cure),
    /// It has waited long enough.
    TimeIsUp,
    /// Its own doing is over that kept it out.
    Activated,
}

impl Entry {
    /// A pod that has just come.
    pub(super) fn new(arrival: u64, now: Duration) -> Self {
        Self {
            turn: Turn::default(),
            arrival,
            since: now,
            attempts: 0,
            rejections: 0,
            errors: 0,
            is_boosted: false,
            postponed: false,
            is_in_flight: false,
            is_news: false,
            seen_wakes: 0,
            flush_at: None,
            was_flushed: false,
            due: now,
            shelf: Shelf::Deciding,
        }
    }

    /// It found no place. It backs off from now on, the longer the more often that happened.
    pub(super) fn rejected(&mut self, now: Duration, backoff: Backoff) {
        self.rejections = self.rejections.saturating_add(1);
        self.errors = 0;
        self.due = now.saturating_add(backoff.delay(self.rejections));
        self.is_in_flight = false;
    }

    /// Something went wrong.
    pub(super) fn failed(&mut self, now: Duration, backoff: Backoff) {
        self.errors = self.errors.saturating_add(1);
        self.due = now.saturating_add(backoff.delay(self.errors));
        self.is_in_flight = false;
    }

    /// The shelf on which it stands, as metrics call it.
    pub(super) fn shelf_name(&self) -> Option<&'static str> {
        match self.shelf {
            Shelf::Active(_) => Some("active"),
            Shelf::BackingOff { .. } | Shelf::Recovering { .. } => Some("backoff"),
            Shelf::Parked { .. } => Some("unschedulable"),
            Shelf::Gated { .. } => Some("gated"),
            Shelf::Deciding => None,
        }
    }
}

impl Why {
    /// As metrics call it: upstream's name where there is one.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PodAdd => "PodAdd",
            Self::AttemptFailed => "ScheduleAttemptFailure",
            Self::TimeIsUp => "BackoffComplete",
            Self::Activated => "ForceActivate",
            Self::Cured(Cure::Room) => "AssignedPodDelete",
            Self::Cured(Cure::Pods) => "AssignedPodAdd",
            Self::Cured(Cure::Node) => "NodeUpdate",
            Self::Cured(Cure::Storage) => "PvcUpdate",
            Self::Cured(Cure::Owner) => "OwnerUpdate",
            Self::Cured(Cure::Pod) => "UnschedulablePodUpdate",
        }
    }
}

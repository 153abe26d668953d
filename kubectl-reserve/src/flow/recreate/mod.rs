//! The recreation of one pod as a state machine: `Recreation::begin(terms)`, then `step(answer, at)` for each answer.
//!
//! ```text
//!  dry run ─▶ reserve ─▶ acknowledged? ─▶ recheck ─▶ evict ─▶ look … gone, bound, ready, released
//!     ▲ blocked: every 5 s                   │ no room   │ blocked
//!     └────────────── take back ◀────────────┴───────────┘
//! ```
//!
//! The room is reserved only after a dry run of the eviction succeeded, so that a budget that blocks the eviction never keeps
//! room. The pod is evicted only after every live replica of the daemon has seen the reservation. A recreation that ends before
//! the eviction takes its reservation back; one that ends after it leaves the reservation to its expiry and to the daemon.

mod evicting;
mod exchange;
mod observation;
mod report;
mod reserving;
mod terms;
#[cfg(test)]
mod tests;
mod watching;

pub use exchange::{Answer, NextAction, Recheck, Refusal, Request, StepOutput};
pub use observation::{NodeObservation, Observation, OldPod, SiblingPod};
pub use report::{Leftover, NodeMatch, ProgressEvent, RecreationOutcome, StopReason, Success};
pub use terms::{KeepMethod, Terms, WaitFor};

use super::budget::BlockedEviction;
use exchange::{after, now};
use jiff::Timestamp;
use std::time::Duration;

/// The pause between two tries of an eviction that a budget forbids, as in `kubectl drain`.
pub const BUDGET_PAUSE: Duration = Duration::from_secs(5);

/// How long the replicas have to acknowledge a reservation.
pub const ACKNOWLEDGED_MAX: Duration = Duration::from_secs(10);

/// The pause between two reads of the replicas' Leases.
const REPLICAS_PAUSE: Duration = Duration::from_millis(100);

/// The pause between two reads of the pods.
const LOOK_PAUSE: Duration = Duration::from_millis(500);

/// How long the daemon has to release the reservation once the replacement is ready.
pub const RELEASED_MAX: Duration = Duration::from_secs(20);

/// After so many requests in a row without an answer the recreation stops.
const LOST_MAX: u32 = 5;

/// The pause before a request without an answer is repeated.
const LOST_PAUSE: Duration = Duration::from_secs(1);

/// How often room is reserved for one pod, because the recheck found too little room, or a reservation that ends soon.
const ROUNDS_MAX: u32 = 3;

/// The request whose answer is awaited.
#[derive(Clone, Debug, PartialEq)]
enum Phase {
    DryRun,
    Reserving,
    Acknowledging {
        version: u64,
        since: Duration,
    },
    Rechecking,
    Evicting,
    Watching,
    /// The reservation is being taken back; what comes afterwards.
    TakingBack(Box<AfterTakeBack>),
    Stopped,
}

#[derive(Clone, Debug, PartialEq)]
enum AfterTakeBack {
    Stop(StopReason),
    /// Begin from the start, after a pause.
    Again(Duration),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Recreation {
    terms: Terms,
    phase: Phase,
    /// Whether a reservation or `reserve/keep` of this run may exist.
    is_reserved: bool,
    is_taken_back: bool,
    until: Option<Timestamp>,
    is_acknowledged: bool,
    is_evicted: bool,
    /// The last refusal by a budget that was reported.
    blocked: Option<Box<BlockedEviction>>,
    rounds: u32,
    lost: u32,
    /// Evictions without an answer: how many in a row, and the last error.
    unanswered: (u32, String),
    /// Whether an eviction had no answer: it may still be carried out, and then the pod goes because of this run.
    may_be_ours: bool,
    watch: watching::Watch,
    events: Vec<ProgressEvent>,
}

impl Recreation {
    /// Begins a recreation. Returns its state, and the first request.
    pub fn begin(terms: Terms) -> (Self, StepOutput) {
        let mut flow = Self {
            phase: Phase::DryRun,
            is_reserved: terms.is_gone && terms.keep_method != KeepMethod::Nothing,
            is_taken_back: false,
            until: None,
            is_acknowledged: false,
            is_evicted: terms.is_leaving || terms.is_gone,
            blocked: None,
            rounds: 1,
            lost: 0,
            unanswered: (0, String::new()),
            may_be_ours: false,
            watch: watching::Watch::default(),
            events: Vec::new(),
            terms,
        };
        let action = flow.start();
        let next = flow.next(action);
        (flow, next)
    }

    /// Takes the answer to the last request, and returns the next one. `at` is the time since the beginning.
    pub fn step(&mut self, answer: Answer, at: Duration) -> StepOutput {
        let action = match answer {
            Answer::Lost(why) => self.on_lost_answer(why, at),
            answer => {
                self.lost = 0;
                self.on_answer(answer, at)
            }
        };
        self.next(action)
    }

    /// How the room is kept. It changes to `KeepAnnotation` if the caller may not write to the node.
    pub fn keep_method(&self) -> KeepMethod {
        self.terms.keep_method
    }

    /// The user wants to stop. The first time the reservation is taken back if the pod was not evicted; the second time the
    /// recreation stops at once.
    pub fn interrupt(&mut self) -> StepOutput {
        let is_taking_back = matches!(self.phase, Phase::TakingBack(_));
        let action = if self.is_evicted || is_taking_back || !self.is_reserved {
            self.stop(StopReason::Interrupted)
        } else {
            self.take_back(AfterTakeBack::Stop(StopReason::Interrupted))
        };
        self.next(action)
    }

    fn on_answer(&mut self, answer: Answer, at: Duration) -> NextAction {
        match (self.phase.clone(), answer) {
            (Phase::TakingBack(after), answer) => self.on_take_back_answer(*after, &answer),
            (_, Answer::Failed(why)) => self.fail(why),
            (Phase::DryRun, answer) => self.on_dry_run_answer(answer, at),
            (Phase::Reserving, answer) => self.on_reserve_answer(answer, at),
            (Phase::Acknowledging { version, since }, answer) => {
                self.on_acknowledged_answer(answer, version, since, at)
            }
            (Phase::Rechecking, answer) => self.on_recheck_answer(answer),
            (Phase::Evicting, answer) => self.on_evict_answer(answer),
            (Phase::Watching, answer) => self.on_watch_answer(answer, at),
            (Phase::Stopped, _) => self.stop(StopReason::Failed("asked after the end".into())),
        }
    }

    /// The first request.
    fn start(&mut self) -> NextAction {
        if self.terms.is_gone {
            return self.watch();
        }
        if self.terms.is_leaving {
            return self.reserve();
        }
        self.phase = Phase::DryRun;
        now(Request::DryRunEvict)
    }

    /// A request had no answer.
    fn on_lost_answer(&mut self, why: String, at: Duration) -> NextAction {
        self.lost += 1;
        // The eviction may have been carried out, so the reservation is not taken back any more.
        if self.phase == Phase::Evicting && !self.is_evicted {
            self.unanswered = (self.unanswered.0 + 1, why.clone());
            (self.is_evicted, self.may_be_ours) = (true, true);
        }
        if self.phase == Phase::Watching && at >= self.terms.timeout {
            let last = self.watch.last.take();
            return self.stop(StopReason::Timeout(last));
        }
        if self.lost >= LOST_MAX && !matches!(self.phase, Phase::Watching) {
            return match self.phase.clone() {
                Phase::TakingBack(after) => self.give_up_taking_back(*after),
                _ => self.fail(StopReason::Failed(why)),
            };
        }
        let request = match self.phase {
            Phase::DryRun => Request::DryRunEvict,
            Phase::Reserving => Request::Reserve,
            Phase::Acknowledging { version, .. } => Request::Acknowledged { version },
            Phase::Rechecking => Request::Recheck,
            // It is unknown whether the eviction was carried out: reading the pod tells.
            Phase::Evicting | Phase::Watching => Request::Look,
            Phase::TakingBack(_) => Request::TakeBack,
            Phase::Stopped => return self.stop(StopReason::Failed(why)),
        };
        after(LOST_PAUSE, request)
    }

    /// Ends with an error. Before the eviction the reservation is taken back first.
    fn fail(&mut self, why: StopReason) -> NextAction {
        if self.is_reserved && !self.is_evicted {
            return self.take_back(AfterTakeBack::Stop(why));
        }
        self.stop(why)
    }

    fn stop(&mut self, why: StopReason) -> NextAction {
        self.phase = Phase::Stopped;
        let leftover = self.leftover();
        let must_create = self.terms.creates && self.is_evicted && !self.watch.is_created;
        NextAction::Stop(RecreationOutcome::Stopped {
            why,
            leftover,
            is_evicted: self.is_evicted,
            must_create,
        })
    }

    /// What would keep the room if the command ended now.
    fn leftover(&self) -> Leftover {
        match self.terms.keep_method {
            _ if !self.is_reserved && self.is_taken_back => Leftover::TakenBack,
            _ if !self.is_reserved => Leftover::Nothing,
            KeepMethod::Nothing => Leftover::Nothing,
            KeepMethod::Reservation => Leftover::Reservation { until: self.until },
            KeepMethod::KeepAnnotation => Leftover::KeepAnnotation,
        }
    }

    fn next(&mut self, action: NextAction) -> StepOutput {
        StepOutput { events: std::mem::take(&mut self.events), action }
    }
}

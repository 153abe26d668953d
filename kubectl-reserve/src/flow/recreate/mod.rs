//! Recreating one pod: reserve, acknowledged, evict, gone, bound, ready, released.
//!
//! ```text
//!  rehearse ─▶ reserve ─▶ acknowledged? ─▶ look again ─▶ evict ─▶ look around … gone, bound, ready, released
//!     ▲ blocked: every 5 s                     │ no room         │ blocked
//!     └────────────── take back ◀──────────────┴─────────────────┘
//! ```
//!
//! Nothing is reserved before a rehearsal of the eviction went well, so that a budget that blocks never keeps room; nothing
//! is evicted before every live replica of the daemon has seen the reservation. Whatever happens before the eviction ends
//! with the reservation taken back; whatever happens after it leaves the reservation to its time and to the daemon.

mod evicting;
mod exchange;
mod news;
mod reserving;
mod sight;
mod terms;
#[cfg(test)]
mod tests;
mod watching;

pub use exchange::{Answer, Next, Recheck, Refusal, Request, Then};
pub use news::{Done, Landed, News, Outcome, Stays, Why};
pub use sight::{Newcomer, NodeSight, OldPod, Sight};
pub use terms::{Keeping, Terms, Until};

use super::budget::Blocked;
use exchange::{after, now};
use jiff::Timestamp;
use std::time::Duration;

/// Between two tries of an eviction that a budget forbids, as in `kubectl drain`.
pub const BUDGET_PAUSE: Duration = Duration::from_secs(5);

/// How long the replicas have to say that they have seen a reservation.
pub const ACKNOWLEDGED_MAX: Duration = Duration::from_secs(10);

/// Between two looks at what the replicas say.
const REPLICAS_PAUSE: Duration = Duration::from_millis(100);

/// Between two looks at the pods.
const LOOK_PAUSE: Duration = Duration::from_millis(500);

/// How long the daemon has to release the reservation once the replacement is ready.
pub const RELEASED_MAX: Duration = Duration::from_secs(20);

/// So many requests without an answer, one after the other, are enough.
const LOST_MAX: u32 = 5;

/// Before a request without an answer is made again.
const LOST_PAUSE: Duration = Duration::from_secs(1);

/// How often everything is planned again because the node had too little room after all.
const ROUNDS_MAX: u32 = 3;

/// How far it has come.
#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Rehearsing,
    Reserving,
    Acknowledging {
        version: u64,
        since: Duration,
    },
    Rechecking,
    Evicting,
    Watching,
    /// Takes back what it has reserved, and then does this.
    TakingBack(Box<After>),
    Stopped,
}

#[derive(Clone, Debug, PartialEq)]
enum After {
    Stop(Why),
    /// Begin again, after a pause.
    Again(Duration),
}

/// The recreation of one pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Recreation {
    terms: Terms,
    phase: Phase,
    /// Whether something may keep the room because of us.
    is_reserved: bool,
    /// Whether something did, and was taken back.
    is_taken_back: bool,
    until: Option<Timestamp>,
    is_acknowledged: bool,
    /// Whether the eviction may have happened.
    is_evicted: bool,
    /// What was said about a budget last.
    blocked: Option<Box<Blocked>>,
    rounds: u32,
    lost: u32,
    /// Evictions without an answer: how many in a row, and what was said last.
    unanswered: (u32, String),
    /// Whether there was one: it may happen yet.
    may_be_ours: bool,
    watch: watching::Watch,
    news: Vec<News>,
}

impl Recreation {
    /// Begins.
    pub fn begin(terms: Terms) -> (Self, Next) {
        let mut flow = Self {
            phase: Phase::Rehearsing,
            is_reserved: terms.is_gone && terms.keeping != Keeping::Nothing,
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
            news: Vec::new(),
            terms,
        };
        let then = flow.start();
        let next = flow.next(then);
        (flow, next)
    }

    /// Goes on with what came of the last request, `at` so long after the beginning.
    pub fn step(&mut self, answer: Answer, at: Duration) -> Next {
        let then = match answer {
            Answer::Lost(why) => self.lost(why, at),
            answer => {
                self.lost = 0;
                self.answered(answer, at)
            }
        };
        self.next(then)
    }

    /// Somebody wants it to stop. A second time, at once.
    pub fn interrupt(&mut self) -> Next {
        let is_taking_back = matches!(self.phase, Phase::TakingBack(_));
        let then = if self.is_evicted || is_taking_back || !self.is_reserved {
            self.stop(Why::Interrupted)
        } else {
            self.take_back(After::Stop(Why::Interrupted))
        };
        self.next(then)
    }

    fn answered(&mut self, answer: Answer, at: Duration) -> Then {
        match (self.phase.clone(), answer) {
            (Phase::TakingBack(after), answer) => self.taken_back(*after, &answer),
            (_, Answer::Failed(why)) => self.fail(why),
            (Phase::Rehearsing, answer) => self.rehearsed(answer, at),
            (Phase::Reserving, answer) => self.reserved(answer, at),
            (Phase::Acknowledging { version, since }, answer) => self.heard(answer, version, since, at),
            (Phase::Rechecking, answer) => self.rechecked(answer),
            (Phase::Evicting, answer) => self.evicted(answer),
            (Phase::Watching, answer) => self.watched(answer, at),
            (Phase::Stopped, _) => self.stop(Why::Failed("asked after the end".into())),
        }
    }

    /// What comes first.
    fn start(&mut self) -> Then {
        if self.terms.is_gone {
            return self.watch();
        }
        if self.terms.is_leaving {
            return self.reserve();
        }
        self.phase = Phase::Rehearsing;
        now(Request::Rehearse)
    }

    /// A request had no answer.
    fn lost(&mut self, why: String, at: Duration) -> Then {
        self.lost += 1;
        // It may have happened, and so nothing is taken back any more.
        if self.phase == Phase::Evicting && !self.is_evicted {
            self.unanswered = (self.unanswered.0 + 1, why.clone());
            (self.is_evicted, self.may_be_ours) = (true, true);
        }
        if self.phase == Phase::Watching && at >= self.terms.timeout {
            let last = self.watch.last.take();
            return self.stop(Why::Timeout(last));
        }
        if self.lost >= LOST_MAX && !matches!(self.phase, Phase::Watching) {
            return match self.phase.clone() {
                Phase::TakingBack(after) => self.give_up_taking_back(*after),
                _ => self.fail(Why::Failed(why)),
            };
        }
        let request = match self.phase {
            Phase::Rehearsing => Request::Rehearse,
            Phase::Reserving => Request::Reserve,
            Phase::Acknowledging { version, .. } => Request::Acknowledged { version },
            Phase::Rechecking => Request::Recheck,
            // Nobody knows whether it happened: a look tells.
            Phase::Evicting | Phase::Watching => Request::Look,
            Phase::TakingBack(_) => Request::TakeBack,
            Phase::Stopped => return self.stop(Why::Failed(why)),
        };
        after(LOST_PAUSE, request)
    }

    /// It cannot go on.
    fn fail(&mut self, why: Why) -> Then {
        if self.is_reserved && !self.is_evicted {
            return self.take_back(After::Stop(why));
        }
        self.stop(why)
    }

    fn stop(&mut self, why: Why) -> Then {
        self.phase = Phase::Stopped;
        let stays = self.stays();
        let must_create = self.terms.creates && self.is_evicted && !self.watch.is_created;
        Then::Stop(Outcome::Stopped { why, stays, is_evicted: self.is_evicted, must_create })
    }

    /// What keeps the room when we leave now.
    fn stays(&self) -> Stays {
        match self.terms.keeping {
            _ if !self.is_reserved && self.is_taken_back => Stays::TakenBack,
            _ if !self.is_reserved => Stays::Nothing,
            Keeping::Nothing => Stays::Nothing,
            Keeping::Reservation => Stays::Reservation { until: self.until },
            Keeping::Wish => Stays::Wish,
        }
    }

    fn next(&mut self, then: Then) -> Next {
        Next { news: std::mem::take(&mut self.news), then }
    }
}

//! The phase `Evicting`: the eviction, and what follows from its answer.

use super::report::{ProgressEvent, StopReason};
use super::{
    AfterTakeBack, Answer, BUDGET_PAUSE, KeepMethod, LOST_MAX, NextAction, Phase, Recreation, Refusal,
    Request, after, now,
};

impl Recreation {
    pub(super) fn evict(&mut self) -> NextAction {
        self.phase = Phase::Evicting;
        now(Request::Evict)
    }

    pub(super) fn on_evict_answer(&mut self, answer: Answer) -> NextAction {
        match answer {
            Answer::Allowed => {
                self.is_evicted = true;
                self.events.push(ProgressEvent::Evicted);
                self.watch()
            }
            // Somebody else removed the pod, or an earlier eviction without an answer did. The room is kept, so the
            // replacement is waited for.
            Answer::Refused(Refusal::Gone) => {
                self.is_evicted = true;
                self.watch()
            }
            Answer::Refused(refusal) => {
                self.unanswered.0 = 0;
                self.not_now(refusal)
            }
            // The eviction had no answer, so the pod was read.
            Answer::Observation(observation) => match &observation.old {
                Some(old) if !old.is_leaving => self.evict_again(),
                _ => {
                    self.is_evicted = true;
                    self.events.push(ProgressEvent::Evicted);
                    self.watch()
                }
            },
            other => self.unexpected(&other),
        }
    }

    /// The pod still exists, so the eviction is repeated. Everything is rechecked before, because time has passed.
    fn evict_again(&mut self) -> NextAction {
        self.is_evicted = false;
        let (count, why) = &self.unanswered;
        match *count >= LOST_MAX {
            true => self.fail(StopReason::Failed(why.clone())),
            false => self.recheck(),
        }
    }

    /// The eviction was refused although its dry run was allowed: the budget was used up in between. The reservation is taken
    /// back while the budget is waited for.
    fn not_now(&mut self, refusal: Refusal) -> NextAction {
        let pause = match refusal {
            Refusal::Budget(blocked) if blocked.permanent.is_some() => {
                return self.fail(StopReason::Budget(blocked));
            }
            Refusal::Budget(blocked) => {
                self.events.push(ProgressEvent::Blocked(blocked.clone()));
                self.blocked = Some(blocked);
                BUDGET_PAUSE
            }
            Refusal::Soon(pause) => pause,
            Refusal::Gone => BUDGET_PAUSE,
        };
        if self.terms.keep_method == KeepMethod::Nothing {
            self.phase = Phase::DryRun;
            return after(pause, Request::DryRunEvict);
        }
        self.take_back(AfterTakeBack::Again(pause))
    }
}

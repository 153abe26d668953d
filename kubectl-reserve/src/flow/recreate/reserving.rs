//! The phases before the eviction: dry run, reserve, acknowledged, recheck; and taking the reservation back.

use super::report::{Leftover, ProgressEvent, StopReason};
use super::{
    ACKNOWLEDGED_MAX, AfterTakeBack, Answer, BUDGET_PAUSE, KeepMethod, NextAction, Phase, REPLICAS_PAUSE,
    ROUNDS_MAX, Recreation, RecreationOutcome, Refusal, Request, after, now,
};
use crate::flow::budget::BlockedEviction;
use std::time::Duration;

impl Recreation {
    pub(super) fn on_dry_run_answer(&mut self, answer: Answer, at: Duration) -> NextAction {
        match answer {
            // The recheck reads the UIDs of the siblings: without them a sibling could be taken for the replacement.
            Answer::Allowed if self.terms.keep_method == KeepMethod::Nothing => self.recheck(),
            Answer::Allowed => self.reserve(),
            Answer::Refused(Refusal::Gone) if self.may_be_ours => {
                self.is_evicted = true;
                self.watch()
            }
            Answer::Refused(Refusal::Gone) => self.stop(StopReason::Gone),
            Answer::Refused(Refusal::Soon(pause)) if at + pause < self.terms.timeout => {
                after(pause, Request::DryRunEvict)
            }
            Answer::Refused(Refusal::Soon(_)) => self.stop(StopReason::Timeout(None)),
            Answer::Refused(Refusal::Budget(blocked)) => self.blocked(blocked, at),
            other => self.unexpected(&other),
        }
    }

    /// A budget forbids the eviction. No room is reserved while it is waited for.
    fn blocked(&mut self, blocked: Box<BlockedEviction>, at: Duration) -> NextAction {
        if blocked.permanent.is_some() || at + BUDGET_PAUSE >= self.terms.timeout {
            return self.stop(StopReason::Budget(blocked));
        }
        if self.blocked.as_ref() != Some(&blocked) {
            self.events.push(ProgressEvent::Blocked(blocked.clone()));
            self.blocked = Some(blocked);
        }
        self.phase = Phase::DryRun;
        after(BUDGET_PAUSE, Request::DryRunEvict)
    }

    pub(super) fn reserve(&mut self) -> NextAction {
        if self.terms.keep_method == KeepMethod::Nothing {
            return self.recheck();
        }
        self.phase = Phase::Reserving;
        // From now on the reservation may exist, even if the write has no answer.
        self.is_reserved = true;
        self.is_taken_back = false;
        now(Request::Reserve)
    }

    pub(super) fn on_reserve_answer(&mut self, answer: Answer, at: Duration) -> NextAction {
        match answer {
            Answer::MayNotReserve if self.terms.keep_method == KeepMethod::Reservation => {
                self.terms.keep_method = KeepMethod::KeepAnnotation;
                now(Request::Reserve)
            }
            Answer::Reserved { version, until } => {
                self.until = until;
                self.events.push(ProgressEvent::Reserved { until });
                self.phase = Phase::Acknowledging { version, since: at };
                now(Request::Acknowledged { version })
            }
            other => self.unexpected(&other),
        }
    }

    pub(super) fn on_acknowledged_answer(
        &mut self,
        answer: Answer,
        version: u64,
        since: Duration,
        at: Duration,
    ) -> NextAction {
        let is_late = at.saturating_sub(since) >= ACKNOWLEDGED_MAX;
        match answer {
            Answer::Seen { replicas } => {
                self.is_acknowledged = true;
                self.events.push(ProgressEvent::Acknowledged { replicas });
                self.recheck()
            }
            Answer::Nobody | Answer::NotSeen(_)
                if !self.terms.is_enforced && (is_late || answer == Answer::Nobody) =>
            {
                self.events.push(ProgressEvent::Unacknowledged);
                self.recheck()
            }
            Answer::Nobody => self.fail(StopReason::Nobody),
            Answer::Denied(why) => self.fail(StopReason::Denied(why)),
            Answer::NotSeen(late) if is_late => self.fail(StopReason::NotSeen(late)),
            Answer::NotSeen(_) => after(REPLICAS_PAUSE, Request::Acknowledged { version }),
            other => self.unexpected(&other),
        }
    }

    pub(super) fn recheck(&mut self) -> NextAction {
        self.phase = Phase::Rechecking;
        now(Request::Recheck)
    }

    pub(super) fn on_recheck_answer(&mut self, answer: Answer) -> NextAction {
        let Answer::Rechecked(seen) = answer else { return self.unexpected(&answer) };
        self.terms.known.extend(seen.known);
        self.terms.known.insert(self.terms.uid.clone());
        self.is_evicted |= self.may_be_ours && (seen.is_gone || seen.is_leaving);
        if seen.is_gone && !self.terms.is_leaving && !self.may_be_ours {
            return self.fail(StopReason::Gone);
        }
        if seen.is_lost && self.terms.keep_method != KeepMethod::Nothing {
            self.is_reserved = false;
            return self.stop(StopReason::Lost);
        }
        let is_on_its_way = seen.is_leaving || seen.is_gone || self.terms.is_leaving;
        if !seen.lacks.is_empty() && !is_on_its_way {
            if self.rounds >= ROUNDS_MAX {
                return self.fail(StopReason::NoRoom(seen.lacks));
            }
            self.rounds += 1;
            self.events.push(ProgressEvent::Again(seen.lacks));
            return self.take_back(AfterTakeBack::Again(super::LOST_PAUSE));
        }
        if is_on_its_way {
            self.is_evicted = true;
            return self.watch();
        }
        if seen.ends_soon && self.terms.keep_method == KeepMethod::Reservation {
            return self.renew();
        }
        self.evict()
    }

    /// More than half of the reservation's life has passed already. It is written anew, so that it does not end while the eviction
    /// is under way.
    fn renew(&mut self) -> NextAction {
        if self.rounds >= ROUNDS_MAX {
            let why = "the API server answers so slowly that the reservation would end before the eviction";
            return self.fail(StopReason::Failed(why.into()));
        }
        self.rounds += 1;
        self.is_acknowledged = false;
        self.reserve()
    }

    pub(super) fn take_back(&mut self, follow_up: AfterTakeBack) -> NextAction {
        self.phase = Phase::TakingBack(Box::new(follow_up));
        now(Request::TakeBack)
    }

    pub(super) fn on_take_back_answer(&mut self, follow_up: AfterTakeBack, answer: &Answer) -> NextAction {
        match answer {
            Answer::Released => {
                self.is_reserved = false;
                self.is_taken_back = true;
                self.is_acknowledged = false;
                self.events.push(ProgressEvent::TakenBack);
                match follow_up {
                    AfterTakeBack::Stop(why) => self.stop(why),
                    AfterTakeBack::Again(pause) => {
                        self.phase = Phase::DryRun;
                        after(pause, Request::DryRunEvict)
                    }
                }
            }
            // The reservation stays, and the daemon releases it when nobody needs it any more.
            Answer::Needed => match follow_up {
                AfterTakeBack::Stop(why) => self.stop(why),
                AfterTakeBack::Again(pause) => {
                    self.phase = Phase::DryRun;
                    after(pause, Request::DryRunEvict)
                }
            },
            _ => self.give_up_taking_back(follow_up),
        }
    }

    /// The reservation could not be taken back: it ends by its expiry. `reserve/keep` ends with the pod.
    pub(super) fn give_up_taking_back(&mut self, follow_up: AfterTakeBack) -> NextAction {
        let why = match follow_up {
            AfterTakeBack::Stop(why) => why,
            AfterTakeBack::Again(_) => StopReason::Failed("the reservation could not be taken back".into()),
        };
        self.phase = Phase::Stopped;
        let leftover = match self.terms.keep_method {
            KeepMethod::KeepAnnotation => Leftover::KeepAnnotation,
            KeepMethod::Reservation | KeepMethod::Nothing => Leftover::Perhaps { until: self.until },
        };
        NextAction::Stop(RecreationOutcome::Stopped {
            why,
            leftover,
            is_evicted: self.is_evicted,
            must_create: false,
        })
    }

    /// The answer does not belong to the request.
    pub(super) fn unexpected(&mut self, answer: &Answer) -> NextAction {
        self.fail(StopReason::Failed(format!("an answer that makes no sense here: {answer:?}")))
    }
}

//! Up to the eviction: rehearsed, reserved, acknowledged, looked at again; and taken back.

use super::news::{News, Stays, Why};
use super::{
    ACKNOWLEDGED_MAX, After, Answer, BUDGET_PAUSE, Keeping, Outcome, Phase, REPLICAS_PAUSE, ROUNDS_MAX,
    Recreation, Refusal, Request, Then, after, now,
};
use crate::flow::budget::Blocked;
use std::time::Duration;

impl Recreation {
    pub(super) fn rehearsed(&mut self, answer: Answer, at: Duration) -> Then {
        match answer {
            // Who its siblings are has to be known, or one of them would pass for the replacement.
            Answer::Allowed if self.terms.keeping == Keeping::Nothing => self.recheck(),
            Answer::Allowed => self.reserve(),
            Answer::Refused(Refusal::Gone) if self.may_be_ours => {
                self.is_evicted = true;
                self.watch()
            }
            Answer::Refused(Refusal::Gone) => self.stop(Why::Gone),
            Answer::Refused(Refusal::Soon(pause)) if at + pause < self.terms.timeout => {
                after(pause, Request::Rehearse)
            }
            Answer::Refused(Refusal::Soon(_)) => self.stop(Why::Timeout(None)),
            Answer::Refused(Refusal::Budget(blocked)) => self.blocked(blocked, at),
            other => self.puzzled(&other),
        }
    }

    /// A budget forbids it. Nothing is reserved meanwhile.
    fn blocked(&mut self, blocked: Box<Blocked>, at: Duration) -> Then {
        if blocked.never.is_some() || at + BUDGET_PAUSE >= self.terms.timeout {
            return self.stop(Why::Budget(blocked));
        }
        if self.blocked.as_ref() != Some(&blocked) {
            self.news.push(News::Blocked(blocked.clone()));
            self.blocked = Some(blocked);
        }
        self.phase = Phase::Rehearsing;
        after(BUDGET_PAUSE, Request::Rehearse)
    }

    pub(super) fn reserve(&mut self) -> Then {
        if self.terms.keeping == Keeping::Nothing {
            return self.recheck();
        }
        self.phase = Phase::Reserving;
        // From now on something may be there, whether or not we hear of it.
        self.is_reserved = true;
        self.is_taken_back = false;
        now(Request::Reserve)
    }

    pub(super) fn reserved(&mut self, answer: Answer, at: Duration) -> Then {
        match answer {
            Answer::MayNotReserve if self.terms.keeping == Keeping::Reservation => {
                self.terms.keeping = Keeping::Wish;
                now(Request::Reserve)
            }
            Answer::Reserved { version, until } => {
                self.until = until;
                self.news.push(News::Reserved { until });
                self.phase = Phase::Acknowledging { version, since: at };
                now(Request::Acknowledged { version })
            }
            other => self.puzzled(&other),
        }
    }

    pub(super) fn heard(&mut self, answer: Answer, version: u64, since: Duration, at: Duration) -> Then {
        let is_late = at.saturating_sub(since) >= ACKNOWLEDGED_MAX;
        match answer {
            Answer::Seen { replicas } => {
                self.is_acknowledged = true;
                self.news.push(News::Acknowledged { replicas });
                self.recheck()
            }
            Answer::Nobody | Answer::NotSeen(_)
                if !self.terms.is_enforced && (is_late || answer == Answer::Nobody) =>
            {
                self.news.push(News::Unacknowledged);
                self.recheck()
            }
            Answer::Nobody => self.fail(Why::Nobody),
            Answer::Denied(why) => self.fail(Why::Denied(why)),
            Answer::NotSeen(late) if is_late => self.fail(Why::NotSeen(late)),
            Answer::NotSeen(_) => after(REPLICAS_PAUSE, Request::Acknowledged { version }),
            other => self.puzzled(&other),
        }
    }

    pub(super) fn recheck(&mut self) -> Then {
        self.phase = Phase::Rechecking;
        now(Request::Recheck)
    }

    pub(super) fn rechecked(&mut self, answer: Answer) -> Then {
        let Answer::Rechecked(seen) = answer else { return self.puzzled(&answer) };
        self.terms.known.extend(seen.known);
        // What others have left behind is not held against the replacement.
        self.terms.known.insert(self.terms.uid.clone());
        self.is_evicted |= self.may_be_ours && (seen.is_gone || seen.is_leaving);
        if seen.is_gone && !self.terms.is_leaving && !self.may_be_ours {
            return self.fail(Why::Gone);
        }
        if seen.is_lost && self.terms.keeping != Keeping::Nothing {
            self.is_reserved = false;
            return self.stop(Why::Lost);
        }
        let is_on_its_way = seen.is_leaving || seen.is_gone || self.terms.is_leaving;
        if !seen.lacks.is_empty() && !is_on_its_way {
            if self.rounds >= ROUNDS_MAX {
                return self.fail(Why::NoRoom(seen.lacks));
            }
            self.rounds += 1;
            self.news.push(News::Again(seen.lacks));
            return self.take_back(After::Again(super::LOST_PAUSE));
        }
        if is_on_its_way {
            self.is_evicted = true;
            return self.watch();
        }
        self.evict()
    }

    /// Takes back what was reserved.
    pub(super) fn take_back(&mut self, then: After) -> Then {
        self.phase = Phase::TakingBack(Box::new(then));
        now(Request::TakeBack)
    }

    pub(super) fn taken_back(&mut self, then: After, answer: &Answer) -> Then {
        match answer {
            Answer::Released => {
                self.is_reserved = false;
                self.is_taken_back = true;
                self.is_acknowledged = false;
                self.news.push(News::TakenBack);
                match then {
                    After::Stop(why) => self.stop(why),
                    After::Again(pause) => {
                        self.phase = Phase::Rehearsing;
                        after(pause, Request::Rehearse)
                    }
                }
            }
            // Whether anybody still needs it is for the daemon to find out.
            Answer::Needed => match then {
                After::Stop(why) => self.stop(why),
                After::Again(pause) => {
                    self.phase = Phase::Rehearsing;
                    after(pause, Request::Rehearse)
                }
            },
            _ => self.give_up_taking_back(then),
        }
    }

    /// It could not be taken back: its time will end it, and a wish goes with its pod.
    pub(super) fn give_up_taking_back(&mut self, then: After) -> Then {
        let why = match then {
            After::Stop(why) => why,
            After::Again(_) => Why::Failed("the reservation could not be taken back".into()),
        };
        self.phase = Phase::Stopped;
        let stays = match self.terms.keeping {
            Keeping::Wish => Stays::Wish,
            Keeping::Reservation | Keeping::Nothing => Stays::Perhaps { until: self.until },
        };
        Then::Stop(Outcome::Stopped { why, stays, is_evicted: self.is_evicted, must_create: false })
    }

    /// An answer to another question than was asked.
    pub(super) fn puzzled(&mut self, answer: &Answer) -> Then {
        self.fail(Why::Failed(format!("an answer that makes no sense here: {answer:?}")))
    }
}

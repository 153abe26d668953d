//! The eviction itself.

use super::news::{News, Why};
use super::{
    After, Answer, BUDGET_PAUSE, Keeping, LOST_MAX, Phase, Recreation, Refusal, Request, Then, after, now,
};

impl Recreation {
    pub(super) fn evict(&mut self) -> Then {
        self.phase = Phase::Evicting;
        now(Request::Evict)
    }

    pub(super) fn evicted(&mut self, answer: Answer) -> Then {
        match answer {
            Answer::Allowed => {
                self.is_evicted = true;
                self.news.push(News::Evicted);
                self.watch()
            }
            // Gone without our doing, or by a try of ours that had no answer: the room is kept, so see who comes.
            Answer::Refused(Refusal::Gone) => {
                self.is_evicted = true;
                self.watch()
            }
            Answer::Refused(refusal) => {
                self.unanswered.0 = 0;
                self.not_now(refusal)
            }
            // The eviction had no answer, and this is how things are.
            Answer::Sight(sight) => match &sight.old {
                Some(old) if !old.is_leaving => self.evict_again(),
                _ => {
                    self.is_evicted = true;
                    self.news.push(News::Evicted);
                    self.watch()
                }
            },
            other => self.puzzled(&other),
        }
    }

    /// The pod is still there. Time went by, and so everything is looked at once more before the next try.
    fn evict_again(&mut self) -> Then {
        self.is_evicted = false;
        let (count, why) = &self.unanswered;
        match *count >= LOST_MAX {
            true => self.fail(Why::Failed(why.clone())),
            false => self.recheck(),
        }
    }

    /// The budget was used up since the rehearsal: no room is kept while we wait for it.
    fn not_now(&mut self, refusal: Refusal) -> Then {
        let pause = match refusal {
            Refusal::Budget(blocked) if blocked.never.is_some() => return self.fail(Why::Budget(blocked)),
            Refusal::Budget(blocked) => {
                self.news.push(News::Blocked(blocked.clone()));
                self.blocked = Some(blocked);
                BUDGET_PAUSE
            }
            Refusal::Soon(pause) => pause,
            Refusal::Gone => BUDGET_PAUSE,
        };
        if self.terms.keeping == Keeping::Nothing {
            self.phase = Phase::Rehearsing;
            return after(pause, Request::Rehearse);
        }
        self.take_back(After::Again(pause))
    }
}

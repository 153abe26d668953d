//! After the eviction: gone, bound, ready, released.

use super::news::{Done, Landed, News, Outcome, Stays, Why};
use super::sight::Sight;
use super::{Answer, Keeping, LOOK_PAUSE, Phase, RELEASED_MAX, Recreation, Request, Then, Until, after, now};
use std::time::Duration;

/// What has been seen so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Watch {
    pub(super) is_gone: bool,
    pub(super) is_created: bool,
    /// The replacement and its node.
    pub(super) bound: Option<(String, String)>,
    ready_at: Option<Duration>,
    pub(super) last: Option<Box<Sight>>,
}

impl Recreation {
    pub(super) fn watch(&mut self) -> Then {
        self.phase = Phase::Watching;
        if self.terms.until == Until::Evicted && !self.terms.creates {
            return self.done();
        }
        now(Request::Look)
    }

    pub(super) fn watched(&mut self, answer: Answer, at: Duration) -> Then {
        match answer {
            Answer::Sight(sight) => self.seen(sight, at),
            Answer::Created => {
                self.watch.is_created = true;
                self.news.push(News::Created);
                if self.terms.until <= Until::Deleted {
                    return self.done();
                }
                now(Request::Look)
            }
            // We release it ourselves where nobody else does.
            Answer::Released => {
                self.is_reserved = false;
                self.news.push(News::Released);
                self.done()
            }
            other => self.puzzled(&other),
        }
    }

    fn seen(&mut self, sight: Box<Sight>, at: Duration) -> Then {
        let is_gone = sight.old.as_ref().is_none_or(|old| old.is_ended);
        if is_gone && !self.watch.is_gone {
            self.watch.is_gone = true;
            self.news.push(News::Gone);
        }
        if is_gone && self.terms.creates && !self.watch.is_created && self.replacement(&sight).is_none() {
            // Under the same name only one can be there.
            return if sight.old.is_none() { now(Request::Create) } else { self.again(sight, at) };
        }
        if is_gone && self.terms.until <= Until::Deleted {
            return self.done();
        }
        self.note_replacement(&sight);
        if self.watch.bound.is_some() && self.terms.until == Until::Bound {
            if sight.is_reserved == Some(false) && self.is_reserved {
                self.is_reserved = false;
                self.news.push(News::Released);
            }
            return self.done();
        }
        let is_ready = self.replacement(&sight).is_some_and(|pod| pod.is_ready || pod.is_complete);
        if is_ready && self.watch.bound.is_some() && self.watch.ready_at.is_none() {
            self.watch.ready_at = Some(at);
            self.news.push(News::Ready);
        }
        match self.watch.ready_at {
            Some(since) => self.ready(&sight, since, at),
            // Its owner has all the pods that it wants, so that the daemon released what was kept.
            None if is_gone && self.is_unneeded(&sight) => {
                self.is_reserved = false;
                self.news.push(News::Released);
                self.done()
            }
            None => self.again(sight, at),
        }
    }

    fn is_unneeded(&self, sight: &Sight) -> bool {
        let is_kept = self.terms.keeping == Keeping::Reservation && self.is_acknowledged;
        is_kept
            && sight.is_reserved == Some(false)
            && self.watch.bound.is_none()
            && sight.waiting(&self.terms.known).next().is_none()
    }

    /// Looks again, if there is time.
    fn again(&mut self, sight: Box<Sight>, at: Duration) -> Then {
        if at >= self.terms.timeout {
            return self.stop(Why::Timeout(Some(sight)));
        }
        self.watch.last = Some(sight);
        after(LOOK_PAUSE, Request::Look)
    }

    fn replacement<'s>(&self, sight: &'s Sight) -> Option<&'s super::Newcomer> {
        let terms = &self.terms;
        let (seat, name) = (terms.seat.as_deref(), terms.same_name.as_deref());
        sight.replacement(seat, &terms.node, name, &terms.known).filter(|pod| pod.uid != terms.uid)
    }

    fn note_replacement(&mut self, sight: &Sight) {
        let Some(pod) = self.replacement(sight) else { return };
        let Some(node) = pod.node.clone() else { return };
        let bound = (pod.name.clone(), node);
        if self.watch.bound.as_ref() != Some(&bound) {
            // Another one than before: the kubelet may have turned the first away.
            self.watch.ready_at = None;
            let (pod, node) = bound.clone();
            let landed = self.landed(&node);
            self.news.push(News::Bound { pod, node, landed });
            self.watch.bound = Some(bound);
        }
    }

    /// The replacement is ready: the daemon releases the reservation.
    fn ready(&mut self, sight: &Sight, since: Duration, at: Duration) -> Then {
        if self.terms.keeping == Keeping::Nothing || !self.is_reserved {
            return self.done();
        }
        match sight.is_reserved {
            Some(false) => {
                self.is_reserved = false;
                self.news.push(News::Released);
                self.done()
            }
            // The wish went with the pod, and who may not read nodes cannot see more.
            None if self.terms.keeping == Keeping::Wish => {
                self.is_reserved = false;
                self.done()
            }
            Some(true) if !self.is_acknowledged && !self.terms.is_gone => now(Request::Release),
            _ if at.saturating_sub(since) >= RELEASED_MAX => self.done(),
            _ => after(LOOK_PAUSE, Request::Look),
        }
    }

    fn landed(&self, node: &str) -> Landed {
        match (node == self.terms.node, self.terms.is_home) {
            (true, true) => Landed::Home,
            (true, false) => Landed::Kept,
            (false, _) => Landed::Elsewhere,
        }
    }

    pub(super) fn done(&mut self) -> Then {
        self.phase = Phase::Stopped;
        let (pod, node) = self.watch.bound.clone().unzip();
        let landed = node.as_deref().map(|node| self.landed(node));
        if let (Some(pod), Some(node), true, Some(Landed::Elsewhere)) =
            (&pod, &node, self.terms.is_required, landed)
        {
            return self.stop(Why::Elsewhere { pod: pod.clone(), node: node.clone() });
        }
        let is_taken = landed.is_some_and(|landed| landed != Landed::Elsewhere) && self.is_acknowledged;
        let stays = match self.stays() {
            Stays::Wish if self.watch.is_gone => Stays::Nothing,
            // Whoever is ready has waited for the release in vain.
            Stays::Reservation { .. } if is_taken && self.watch.ready_at.is_none() => Stays::Taken,
            stays => stays,
        };
        Then::Stop(Outcome::Done(Box::new(Done { pod, node, landed, stays })))
    }
}

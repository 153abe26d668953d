//! After the eviction: gone, bound, ready, released.

use super::news::{Done, Landed, News, Outcome, Stays, Why};
use super::sight::{Newcomer, Sight};
use super::{Answer, Keeping, LOOK_PAUSE, Phase, RELEASED_MAX, Recreation, Request, Then, Until, after, now};
use std::time::Duration;

/// What has been seen so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Watch {
    pub(super) is_gone: bool,
    pub(super) is_created: bool,
    /// The replacement, once it has a node.
    pub(super) bound: Option<Bound>,
    ready_at: Option<Duration>,
    /// Whether a replacement that had a node is gone.
    has_lost_one: bool,
    pub(super) last: Option<Box<Sight>>,
}

/// A replacement that has a node. Another pod of the same name is another pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bound {
    uid: String,
    name: String,
    node: String,
    /// Whether it has ended well, so that it may be deleted.
    is_complete: bool,
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
            // We release it ourselves where nobody else does. The replacement may be gone by now: a look tells.
            Answer::Released => {
                self.is_reserved = false;
                self.news.push(News::Released);
                now(Request::Look)
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
        if let Some(lost) = self.lost_replacement(&sight)
            && self.terms.creates
            && sight.pods.iter().all(|pod| pod.is_over)
        {
            // Somebody did not want the one that we made, so it is not ours to make another.
            self.watch.is_created = false;
            return self.stop(Why::ReplacementGone { pod: lost.name, node: lost.node });
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
            self.note_release(&sight);
            return self.done();
        }
        self.note_readiness(&sight, at);
        if self.watch.has_lost_one {
            self.note_release(&sight);
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
            && !self.watch.has_lost_one
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

    fn replacement<'s>(&self, sight: &'s Sight) -> Option<&'s Newcomer> {
        let terms = &self.terms;
        let (seat, name) = (terms.seat.as_deref(), terms.same_name.as_deref());
        sight.replacement(seat, &terms.node, name, &terms.known).filter(|pod| pod.uid != terms.uid)
    }

    /// The replacement that was told, if it is gone or about to go: preempted, deleted, or turned away by its kubelet. That is told,
    /// too, and the next one is waited for.
    fn lost_replacement(&mut self, sight: &Sight) -> Option<Bound> {
        let is_there = |bound: &Bound| match bound.find(sight) {
            Some(pod) => !pod.is_over || pod.is_complete,
            None => bound.is_complete,
        };
        let lost = self.watch.bound.take_if(|bound| !is_there(bound))?;
        (self.watch.ready_at, self.watch.has_lost_one) = (None, true);
        self.news.push(News::ReplacementGone { pod: lost.name.clone(), node: lost.node.clone() });
        Some(lost)
    }

    fn note_replacement(&mut self, sight: &Sight) {
        let Some(pod) = self.replacement(sight) else { return };
        let Some(node) = pod.node.clone() else { return };
        if self.watch.bound.as_ref().is_some_and(|bound| bound.uid == pod.uid) {
            return;
        }
        // Another one than before may be the one that took the reservation.
        self.watch.ready_at = None;
        let landed = self.landed(&node);
        self.news.push(News::Bound { pod: pod.name.clone(), node: node.clone(), landed });
        let (uid, name) = (pod.uid.clone(), pod.name.clone());
        self.watch.bound = Some(Bound { uid, name, node, is_complete: false });
    }

    /// Whether the very pod that was told is ready, and still is.
    fn note_readiness(&mut self, sight: &Sight, at: Duration) {
        let Some(bound) = &mut self.watch.bound else { return };
        let found = bound.find(sight);
        bound.is_complete |= found.is_some_and(|pod| pod.is_complete);
        let is_ready = bound.is_complete || found.is_some_and(|pod| pod.is_ready);
        match (is_ready, self.watch.ready_at) {
            (true, None) => {
                self.watch.ready_at = Some(at);
                self.news.push(News::Ready);
            }
            (false, Some(_)) => {
                self.watch.ready_at = None;
                self.news.push(News::NotReady { pod: bound.name.clone() });
            }
            _ => {}
        }
    }

    fn note_release(&mut self, sight: &Sight) {
        if self.is_reserved && sight.is_reserved == Some(false) {
            self.is_reserved = false;
            self.news.push(News::Released);
        }
    }

    /// The replacement is ready: the daemon releases the reservation.
    fn ready(&mut self, sight: &Sight, since: Duration, at: Duration) -> Then {
        if self.terms.keeping == Keeping::Nothing || !self.is_reserved {
            return self.done();
        }
        match sight.is_reserved {
            Some(false) => {
                self.note_release(sight);
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
            (true, true) => Landed::SameNode,
            (true, false) => Landed::Kept,
            (false, _) => Landed::Elsewhere,
        }
    }

    pub(super) fn done(&mut self) -> Then {
        self.phase = Phase::Stopped;
        let bound = self.watch.bound.clone();
        let uid = bound.as_ref().map(|bound| bound.uid.clone());
        let (pod, node) = bound.map(|bound| (bound.name, bound.node)).unzip();
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
        Then::Stop(Outcome::Done(Box::new(Done { pod, uid, node, landed, stays })))
    }
}

impl Bound {
    /// The same pod, if it is there.
    fn find<'s>(&self, sight: &'s Sight) -> Option<&'s Newcomer> {
        sight.pods.iter().find(|pod| pod.uid == self.uid)
    }
}

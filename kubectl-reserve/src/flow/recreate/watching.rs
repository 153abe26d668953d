//! The phase `Watching`, after the eviction: the old pod goes, the replacement is bound and ready, the reservation is released.

use super::observation::{Observation, SiblingPod};
use super::report::{Leftover, NodeMatch, ProgressEvent, RecreationOutcome, StopReason, Success};
use super::{
    Answer, KeepMethod, LOOK_PAUSE, NextAction, Phase, RELEASED_MAX, Recreation, Request, WaitFor, after, now,
};
use std::time::Duration;

/// What the observations have shown so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Watch {
    pub(super) is_gone: bool,
    pub(super) is_created: bool,
    /// The replacement, once it has a node.
    pub(super) bound: Option<BoundReplacement>,
    ready_at: Option<Duration>,
    /// Whether a replacement that had a node is gone again.
    has_lost_one: bool,
    pub(super) last: Option<Box<Observation>>,
}

/// A replacement that has a node, identified by its UID: another pod of the same name is another pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BoundReplacement {
    uid: String,
    name: String,
    node: String,
    /// Whether it has succeeded: then it counts as ready even if it is deleted.
    is_complete: bool,
}

impl Recreation {
    pub(super) fn watch(&mut self) -> NextAction {
        self.phase = Phase::Watching;
        if self.terms.wait_for == WaitFor::Evicted && !self.terms.creates {
            return self.done();
        }
        now(Request::Look)
    }

    pub(super) fn on_watch_answer(&mut self, answer: Answer, at: Duration) -> NextAction {
        match answer {
            Answer::Observation(observation) => self.on_observation(observation, at),
            Answer::Created => {
                self.watch.is_created = true;
                self.events.push(ProgressEvent::Created);
                if self.terms.wait_for <= WaitFor::Deleted {
                    return self.done();
                }
                now(Request::Look)
            }
            // This command has released the reservation, because no replica does. Meanwhile the replacement may have been
            // deleted, so the pods are read once more.
            Answer::Released => {
                self.is_reserved = false;
                self.events.push(ProgressEvent::Released);
                now(Request::Look)
            }
            other => self.unexpected(&other),
        }
    }

    fn on_observation(&mut self, observation: Box<Observation>, at: Duration) -> NextAction {
        let is_gone = observation.old.as_ref().is_none_or(|old| old.is_ended);
        if is_gone && !self.watch.is_gone {
            self.watch.is_gone = true;
            self.events.push(ProgressEvent::Gone);
        }
        if let Some(lost) = self.lost_replacement(&observation)
            && self.terms.creates
            && observation.pods.iter().all(|pod| pod.is_over)
        {
            // Somebody deleted the replacement that this command created, and may not want another one.
            self.watch.is_created = false;
            return self.stop(StopReason::ReplacementGone { pod: lost.name, node: lost.node });
        }
        if is_gone && self.terms.creates && !self.watch.is_created && self.replacement(&observation).is_none()
        {
            // The replacement has the name of the old pod, so the old pod must be gone before.
            return if observation.old.is_none() {
                now(Request::Create)
            } else {
                self.again(observation, at)
            };
        }
        if is_gone && self.terms.wait_for <= WaitFor::Deleted {
            return self.done();
        }
        self.note_replacement(&observation);
        if self.watch.bound.is_some() && self.terms.wait_for == WaitFor::Bound {
            self.note_release(&observation);
            return self.done();
        }
        self.note_readiness(&observation, at);
        if self.watch.has_lost_one {
            self.note_release(&observation);
        }
        match self.watch.ready_at {
            Some(since) => self.ready(&observation, since, at),
            // The owner needs no replacement (it was scaled down), so the daemon has released the reservation.
            None if is_gone && self.is_unneeded(&observation) => {
                self.is_reserved = false;
                self.events.push(ProgressEvent::Released);
                self.done()
            }
            None => self.again(observation, at),
        }
    }

    fn is_unneeded(&self, observation: &Observation) -> bool {
        let is_kept = self.terms.keep_method == KeepMethod::Reservation && self.is_acknowledged;
        is_kept
            && observation.is_reserved == Some(false)
            && self.watch.bound.is_none()
            && !self.watch.has_lost_one
            && observation.waiting(&self.terms.known).next().is_none()
    }

    /// Reads the pods again, unless the timeout has passed.
    fn again(&mut self, observation: Box<Observation>, at: Duration) -> NextAction {
        if at >= self.terms.timeout {
            return self.stop(StopReason::Timeout(Some(observation)));
        }
        self.watch.last = Some(observation);
        after(LOOK_PAUSE, Request::Look)
    }

    fn replacement<'s>(&self, observation: &'s Observation) -> Option<&'s SiblingPod> {
        let terms = &self.terms;
        let (seat, name) = (terms.seat.as_deref(), terms.same_name.as_deref());
        observation.replacement(seat, &terms.node, name, &terms.known).filter(|pod| pod.uid != terms.uid)
    }

    /// The replacement that was reported as bound, if it is gone or being deleted: preempted, deleted, or rejected by its
    /// kubelet. This is reported, and the next replacement is waited for.
    fn lost_replacement(&mut self, observation: &Observation) -> Option<BoundReplacement> {
        let is_there = |bound: &BoundReplacement| match bound.find(observation) {
            Some(pod) => !pod.is_over || pod.is_complete,
            None => bound.is_complete,
        };
        let lost = self.watch.bound.take_if(|bound| !is_there(bound))?;
        (self.watch.ready_at, self.watch.has_lost_one) = (None, true);
        self.events.push(ProgressEvent::ReplacementGone { pod: lost.name.clone(), node: lost.node.clone() });
        Some(lost)
    }

    fn note_replacement(&mut self, observation: &Observation) {
        let Some(pod) = self.replacement(observation) else { return };
        let Some(node) = pod.node.clone() else { return };
        if self.watch.bound.as_ref().is_some_and(|bound| bound.uid == pod.uid) {
            return;
        }
        // Another pod than before is the replacement now, for example because it took the reservation.
        self.watch.ready_at = None;
        let node_match = self.node_match(&node);
        self.events.push(ProgressEvent::Bound { pod: pod.name.clone(), node: node.clone(), node_match });
        let (uid, name) = (pod.uid.clone(), pod.name.clone());
        self.watch.bound = Some(BoundReplacement { uid, name, node, is_complete: false });
    }

    /// Reports when the bound replacement becomes ready, and when it is not ready any more.
    fn note_readiness(&mut self, observation: &Observation, at: Duration) {
        let Some(bound) = &mut self.watch.bound else { return };
        let found = bound.find(observation);
        bound.is_complete |= found.is_some_and(|pod| pod.is_complete);
        let is_ready = bound.is_complete || found.is_some_and(|pod| pod.is_ready);
        match (is_ready, self.watch.ready_at) {
            (true, None) => {
                self.watch.ready_at = Some(at);
                self.events.push(ProgressEvent::Ready);
            }
            (false, Some(_)) => {
                self.watch.ready_at = None;
                self.events.push(ProgressEvent::NotReady { pod: bound.name.clone() });
            }
            _ => {}
        }
    }

    fn note_release(&mut self, observation: &Observation) {
        if self.is_reserved && observation.is_reserved == Some(false) {
            self.is_reserved = false;
            self.events.push(ProgressEvent::Released);
        }
    }

    /// The replacement is ready: waits until the daemon has released the reservation.
    fn ready(&mut self, observation: &Observation, since: Duration, at: Duration) -> NextAction {
        if self.terms.keep_method == KeepMethod::Nothing || !self.is_reserved {
            return self.done();
        }
        match observation.is_reserved {
            Some(false) => {
                self.note_release(observation);
                self.done()
            }
            // The annotation ended with the old pod, and this caller may not read the node.
            None if self.terms.keep_method == KeepMethod::KeepAnnotation => {
                self.is_reserved = false;
                self.done()
            }
            Some(true) if !self.is_acknowledged && !self.terms.is_gone => now(Request::Release),
            _ if at.saturating_sub(since) >= RELEASED_MAX => self.done(),
            _ => after(LOOK_PAUSE, Request::Look),
        }
    }

    fn node_match(&self, node: &str) -> NodeMatch {
        match (node == self.terms.node, self.terms.is_own_node) {
            (true, true) => NodeMatch::SameNode,
            (true, false) => NodeMatch::IntendedNode,
            (false, _) => NodeMatch::Elsewhere,
        }
    }

    pub(super) fn done(&mut self) -> NextAction {
        self.phase = Phase::Stopped;
        let bound = self.watch.bound.clone();
        let uid = bound.as_ref().map(|bound| bound.uid.clone());
        let (pod, node) = bound.map(|bound| (bound.name, bound.node)).unzip();
        let node_match = node.as_deref().map(|node| self.node_match(node));
        if let (Some(pod), Some(node), true, Some(NodeMatch::Elsewhere)) =
            (&pod, &node, self.terms.is_required, node_match)
        {
            return self.stop(StopReason::Elsewhere { pod: pod.clone(), node: node.clone() });
        }
        let is_taken =
            node_match.is_some_and(|node_match| node_match != NodeMatch::Elsewhere) && self.is_acknowledged;
        let leftover = match self.leftover() {
            Leftover::KeepAnnotation if self.watch.is_gone => Leftover::Nothing,
            // If the replacement is ready, the release was waited for without success: the reservation is still there.
            Leftover::Reservation { .. } if is_taken && self.watch.ready_at.is_none() => Leftover::Taken,
            leftover => leftover,
        };
        NextAction::Stop(RecreationOutcome::Done(Box::new(Success { pod, uid, node, node_match, leftover })))
    }
}

impl BoundReplacement {
    fn find<'s>(&self, observation: &'s Observation) -> Option<&'s SiblingPod> {
        observation.pods.iter().find(|pod| pod.uid == self.uid)
    }
}

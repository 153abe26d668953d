//! How changes move pods of the queue: those that wait, and those that were in flight meanwhile.

use super::hints::{Hints, RefusedPod};
use super::sub_queues::SubQueue;
use super::{MoveReason, Queue};
use common::cluster::{ClusterChange, EventResource};
use common::model::{Pod, PodKey};
use std::sync::Arc;
use std::time::Duration;

impl Queue {
    /// A pod of the queue changed. If it is put aside, it is tried again if that may help.
    pub fn update(&mut self, pod: &Arc<Pod>, change: &ClusterChange, hints: &dyn Hints, now: Duration) {
        let Some(entry) = self.pods.get_mut(&pod.key) else { return };
        entry.priority = pod.spec.priority;
        let (mut sub_queue, reason) = (entry.sub_queue.clone(), MoveReason::Event(change.event));
        let (SubQueue::Unschedulable { refused, .. } | SubQueue::Gated { refused, .. }) = &mut sub_queue
        else {
            return;
        };
        refused.pod = Arc::clone(pod);
        if refused.refused_by.is_empty() || refused.is_helped(change, hints) {
            self.requeue(&pod.key, reason, now);
        } else {
            self.sub_queues.remove(entry.arrival, &entry.sub_queue);
            self.sub_queues.insert(entry.arrival, &sub_queue);
            entry.sub_queue = sub_queue;
        }
    }

    /// Moves all unschedulable pods that `change` may help to active or backoff.
    pub fn wake(&mut self, change: &Arc<ClusterChange>, hints: &dyn Hints, now: Duration) {
        self.in_flight.push(change);
        if change.event.resource == EventResource::TargetPod {
            return;
        }
        let own = change.pod_key().and_then(|key| self.pods.get(key)).map(|entry| entry.arrival);
        for arrival in self.sub_queues.helped_by(change, hints) {
            if Some(arrival) != own {
                self.requeue_arrival(arrival, MoveReason::Event(change.event), now);
            }
        }
    }

    /// Moves those of `pods` that are unschedulable to active or backoff, whatever the plugins say.
    pub fn wake_preemptors(&mut self, pods: &[PodKey], change: &ClusterChange, now: Duration) {
        for pod in pods {
            match self.pods.get_mut(pod) {
                Some(entry) if entry.in_flight.is_some() => entry.has_changed = true,
                Some(entry) if matches!(entry.sub_queue, SubQueue::Unschedulable { .. }) => {
                    self.requeue(pod, MoveReason::Event(change.event), now);
                }
                _ => {}
            }
        }
    }

    /// Whether something happened while the pod was in flight that may help it.
    pub(super) fn has_missed(&self, refused: &RefusedPod, hints: &dyn Hints) -> bool {
        let Some(entry) = self.pods.get(&refused.pod.key) else { return false };
        let mut missed = entry.in_flight.map(|begin| self.in_flight.since(begin)).into_iter();
        entry.has_changed
            || missed
                .any(|missed| missed.is_none_or(|mut all| all.any(|change| refused.is_helped(change, hints))))
    }

    pub(super) fn end_flight(&mut self, pod: &PodKey) {
        if let Some(entry) = self.pods.get_mut(pod)
            && let Some(begin) = entry.in_flight.take()
        {
            self.in_flight.end(begin, entry.arrival);
        }
    }
}

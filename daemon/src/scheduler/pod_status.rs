//! What the scheduler writes about a pod that it does not bind: the PodScheduled condition when it changes, the nomination, and the
//! event `FailedScheduling` when it says something new.

use super::Scheduler;
use crate::state::{Effect, Nomination, Now, PodEvent, Step};
use common::model::{Pod, PodKey, Uid};
use std::time::Duration;

/// An event that repeats the previous one is left out for this long. client-go counts repeated events as one series for the same
/// time. It counts in the first event; we record the event again, so that it does not expire while it is true.
const REPEAT_AFTER: Duration = Duration::from_secs(6 * 60);

pub(super) struct LastEvent {
    uid: Uid,
    message: String,
    at: Duration,
}

impl Scheduler {
    /// Writes the condition, unless the pod has the same one already, the nomination if it changes, and the event.
    pub(super) fn report_failure(
        &mut self,
        pod: &Pod,
        reason: &'static str,
        message: String,
        nomination: Nomination,
        step: &mut Step<'_>,
    ) {
        let nomination = self.nominate(pod, nomination, step);
        let known = pod.unscheduled();
        let is_written = known.is_some_and(|known| &*known.reason == reason && *known.message == message);
        if !is_written || nomination != Nomination::Keep {
            step.effects.push(Effect::Condition {
                pod: pod.key.clone(),
                uid: pod.uid.clone(),
                generation: pod.generation,
                reason,
                message: message.clone(),
                since: known.is_none().then_some(step.now.wall),
                nomination,
            });
        }
        self.record_failure(pod, message, step);
    }

    /// Takes a nomination into the belief at once. Returns what has to be written: `Keep` if the pod is nominated so already.
    fn nominate(&mut self, pod: &Pod, nomination: Nomination, step: &mut Step<'_>) -> Nomination {
        let Nomination::Change(node) = nomination else { return nomination };
        // The belief is newer than `pod`, which may have changed since the decision began.
        let known = step.cluster.pod(&pod.key).and_then(|pod| pod.nominated_node.as_deref());
        if known == node.as_ref() {
            return Nomination::Keep;
        }
        let changes = step.cluster.nominate_to(&pod.key, &pod.uid, node.clone());
        self.changed(&changes, step);
        Nomination::Change(node)
    }

    /// Nominates a pod, and writes nothing else.
    pub(super) fn nominate_only(&mut self, pod: &Pod, nomination: Nomination, step: &mut Step<'_>) {
        if let Nomination::Change(node) = self.nominate(pod, nomination, step) {
            step.effects.push(Effect::Nominate { pod: pod.key.clone(), uid: pod.uid.clone(), node });
        }
    }

    /// Records the event, unless the same one was recorded a short time ago.
    fn record_failure(&mut self, pod: &Pod, message: String, step: &mut Step<'_>) {
        let now = step.now.elapsed;
        let is_repeated = self.last_events.get(&pod.key).is_some_and(|last| {
            last.uid == pod.uid && last.message == message && now < last.at + REPEAT_AFTER
        });
        if !is_repeated {
            let last = LastEvent { uid: pod.uid.clone(), message: message.clone(), at: now };
            self.last_events.insert(pod.key.clone(), last);
            step.effects.push(pod_event(pod, PodEvent::FailedScheduling { message }, step.now));
        }
    }

    /// Removes a pod that was popped and no longer waits for a node. A pod that is being deleted gets an event, as in
    /// kube-scheduler.
    pub(super) fn skip(&mut self, key: &PodKey, step: &mut Step<'_>) {
        self.queue.remove(key);
        if let Some(pod) = step.cluster.pod(key).filter(|pod| pod.deleting && pod.node.is_none()).cloned() {
            let message = format!("skip schedule deleting pod: {key}");
            step.effects.push(pod_event(&pod, PodEvent::FailedScheduling { message }, step.now));
        }
    }
}

/// An event about `pod` in the name of its scheduler.
pub(super) fn pod_event(pod: &Pod, event: PodEvent, now: Now) -> Effect {
    Effect::WritePodEvent {
        pod: pod.key.clone(),
        uid: pod.uid.clone(),
        scheduler_name: pod.spec.scheduler_name.clone(),
        event,
        at: now.wall,
    }
}

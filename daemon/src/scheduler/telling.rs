//! What pods are told: a condition when it changes, an event when there is something new to say.

use super::Scheduler;
use crate::state::{Effect, Nomination, Now, PodEvent, Step};
use common::model::{Pod, PodKey, Uid};
use std::time::Duration;

/// An event that repeats the one before is left out for this long. As long as client-go takes a series of events to go
/// on; it keeps a count in the first event, and we say it again, so that it can be read for as long as it is true.
const REPEAT_AFTER: Duration = Duration::from_secs(6 * 60);

/// What a pod was last told by an event.
pub(super) struct Said {
    uid: Uid,
    message: String,
    at: Duration,
}

impl Scheduler {
    /// Tells the pod why it has no place, unless its condition says so already, and which node it is nominated to.
    pub(super) fn tell(
        &mut self,
        pod: &Pod,
        reason: &'static str,
        message: String,
        nomination: Nomination,
        step: &mut Step<'_>,
    ) {
        let nomination = self.nominate(pod, nomination, step);
        let known = pod.unscheduled();
        let is_told = known.is_some_and(|known| &*known.reason == reason && *known.message == message);
        if !is_told || nomination != Nomination::Keep {
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
        self.say(pod, message, step);
    }

    /// Believes a nomination at once, and says what is left to be written of it.
    fn nominate(&mut self, pod: &Pod, nomination: Nomination, step: &mut Step<'_>) -> Nomination {
        let Nomination::Change(node) = nomination else { return nomination };
        // What is believed is as new as can be; `pod` may be from before it was decided on.
        let known = step.cluster.pod(&pod.key).and_then(|pod| pod.nominated.as_deref());
        if known == node.as_ref() {
            return Nomination::Keep;
        }
        let changes = step.cluster.nominate_to(&pod.key, &pod.uid, node.clone());
        self.changed_by(Some(&pod.key), &changes, step);
        Nomination::Change(node)
    }

    /// Nominates a pod without anything else to tell it.
    pub(super) fn nominate_only(&mut self, pod: &Pod, nomination: Nomination, step: &mut Step<'_>) {
        if let Nomination::Change(node) = self.nominate(pod, nomination, step) {
            step.effects.push(Effect::Nominate { pod: pod.key.clone(), uid: pod.uid.clone(), node });
        }
    }

    /// Records why the pod has no place, unless that was said a moment ago.
    fn say(&mut self, pod: &Pod, message: String, step: &mut Step<'_>) {
        let now = step.now.elapsed;
        let is_repeated = self.said.get(&pod.key).is_some_and(|said| {
            said.uid == pod.uid && said.message == message && now < said.at + REPEAT_AFTER
        });
        if !is_repeated {
            let said = Said { uid: pod.uid.clone(), message: message.clone(), at: now };
            self.said.insert(pod.key.clone(), said);
            step.effects.push(record(pod, PodEvent::FailedScheduling { message }, step.now));
        }
    }

    /// A pod whose turn has come is no longer to be placed.
    pub(super) fn skip(&mut self, key: &PodKey, step: &mut Step<'_>) {
        self.queue.remove(key);
        if let Some(pod) = step.cluster.pod(key).filter(|pod| pod.deleting && pod.node.is_none()).cloned() {
            let message = format!("skip schedule deleting pod: {key}");
            step.effects.push(record(&pod, PodEvent::FailedScheduling { message }, step.now));
        }
    }
}

/// An event about `pod`, said by its scheduler.
pub(super) fn record(pod: &Pod, event: PodEvent, now: Now) -> Effect {
    Effect::WritePodEvent {
        pod: pod.key.clone(),
        uid: pod.uid.clone(),
        scheduler_name: pod.spec.scheduler_name.clone(),
        event,
        at: now.wall,
    }
}

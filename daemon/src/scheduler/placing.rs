//! From the node that was chosen for a pod to the binding, and what becomes of that.

use super::pending_bindings::{PendingBinding, Stage};
use super::telling::record;
use super::{SCHEDULER_ERROR, Scheduler};
use crate::queue::History;
use crate::state::{Attempted, Binding, Effect, Nomination, Note, PodEvent, Step};
use common::cluster::Assumed;
use common::cycle;
use common::framework::{Cure, Reserved, Status};
use common::model::ExtensionPoint;
use common::model::{NodeName, Pod, PodKey, Uid};
use std::sync::Arc;

impl Scheduler {
    /// Counts the pod on its node from now on, and binds it there if the plugins let it.
    pub(super) fn place(
        &mut self,
        pod: &Pod,
        node: NodeName,
        reserved: Reserved,
        step: &mut Step<'_>,
    ) -> Attempted {
        let Reserved { seat, volumes } = reserved;
        let (key, uid, since) = (&pod.key, pod.uid.clone(), step.now.wall);
        let assumed = Assumed { uid, node: node.clone(), seat: seat.clone(), since };
        step.cluster.assume(key, assumed);
        self.rejected.remove(key);
        step.cluster.choose(key, &pod.uid, volumes.clone());
        // Whoever wants to be near it, or is counted together with it, has waited for this.
        self.queue.wake(Cure::Pods, step.now.elapsed);
        if pod.nominated.is_some() {
            // It no longer needs the room that was made for it elsewhere.
            self.queue.wake(Cure::Room, step.now.elapsed);
        }
        self.flights_begun += 1;
        let (id, pod, stage) = (self.flights_begun, Arc::new(pod.clone()), Stage::Placed);
        self.clear(PendingBinding { id, pod, node, seat, volumes, stage }, step)
    }

    /// Binds a pod that has everything it needs.
    pub(super) fn bind(&mut self, pending: PendingBinding, step: &mut Step<'_>) {
        let PendingBinding { pod, node, seat, .. } = pending;
        let (pod, uid) = (pod.key.clone(), pod.uid.clone());
        self.bindings.insert(pod.clone(), step.now.elapsed);
        step.effects.push(Effect::Bind { pod, uid, node, seat });
    }

    /// Learns what has become of a binding.
    pub(crate) fn binding(&mut self, key: &PodKey, uid: &Uid, outcome: Binding, step: &mut Step<'_>) {
        self.note_binding(key, &outcome, step);
        let Some(node) = step.cluster.assumed_node(key, uid).cloned() else {
            // Seen bound, or gone, before the answer came. Its event is still due.
            if outcome == Binding::Bound {
                self.announce(key, uid, step);
            }
            return;
        };
        match outcome {
            Binding::Bound => {
                self.announce(key, uid, step);
                self.queue.remove(key);
            }
            Binding::Unknown => step.effects.push(Effect::Find { pod: key.clone(), uid: uid.clone(), node }),
            // The watch will say what has become of it.
            Binding::Lost => self.take_back(key, uid, &node, step),
            Binding::Refused { why } => {
                self.take_back(key, uid, &node, step);
                if let Some(pod) = step.cluster.pod(key).filter(|pod| pod.uid == *uid).cloned() {
                    let why = format!("binding rejected: {why}");
                    self.tell(&pod, SCHEDULER_ERROR, why, Nomination::Change(None), step);
                }
            }
        }
    }

    /// Counts how long a binding took that is no longer under way.
    fn note_binding(&mut self, key: &PodKey, outcome: &Binding, step: &mut Step<'_>) {
        let status = match outcome {
            Binding::Unknown => return,
            Binding::Bound => Status::Success,
            Binding::Lost | Binding::Refused { .. } => Status::Error,
        };
        let Some(since) = self.bindings.remove(key) else { return };
        let Some(pod) = step.cluster.pod(key) else { return };
        let (profile, took) = (pod.spec.scheduler_name.clone(), step.now.elapsed.saturating_sub(since));
        step.notes.push(Note::Passed { profile, extension_point: ExtensionPoint::Bind, status, took });
    }

    fn take_back(&mut self, key: &PodKey, uid: &Uid, node: &NodeName, step: &mut Step<'_>) {
        if let Some(pod) = step.cluster.pod(key).filter(|pod| pod.uid == *uid).cloned()
            && let Some(registry) = self.profiles.get(&pod.spec.scheduler_name)
        {
            cycle::not_bound(&pod, node, &step.cluster.snapshot(step.now.wall), registry);
        }
        let changes = step.cluster.forget(key, uid);
        self.changed(&changes, step);
        self.queue.retry(key, step.now.elapsed);
    }

    fn announce(&mut self, key: &PodKey, uid: &Uid, step: &mut Step<'_>) {
        let Some(pod) = step.cluster.pod(key).filter(|pod| pod.uid == *uid).cloned() else { return };
        let Some(node) = step.cluster.assumed_node(key, uid).or(pod.node.as_ref()).cloned() else { return };
        let profile = pod.spec.scheduler_name.clone();
        if let Some(registry) = self.profiles.get(&profile) {
            cycle::bound(&pod, &node, &step.cluster.snapshot(step.now.wall), registry);
        }
        if let Some(history) = self.queue.history(key) {
            let waited = step.now.elapsed.saturating_sub(history.since);
            let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
            let History { attempts, was_flushed, .. } = history;
            step.notes.push(Note::Bound { profile, attempts, waited_ms, was_flushed });
        }
        step.effects.push(record(&pod, PodEvent::Scheduled { node }, step.now));
    }
}

//! From the chosen node to the binding: assumes the pod on the node, sends the binding and handles its outcome.

use super::pending_bindings::{BindingPhase, PendingBinding};
use super::pod_status::pod_event;
use super::{SCHEDULER_ERROR, Scheduler};
use crate::queue::AttemptHistory;
use crate::state::{AttemptResult, BindingOutcome, Effect, Nomination, Note, PodEvent, Step};
use common::cluster::{Assumption, ClusterChange};
use common::cycle;
use common::framework::Status;
use common::model::{Claims, ExtensionPoint, NodeName, Pod, PodKey, Uid};
use std::sync::Arc;
use std::time::Duration;

pub(super) struct SentBinding {
    pending: PendingBinding,
    since: Duration,
}

impl Scheduler {
    /// Assumes the pod on its node, and binds it if the plugins permit.
    pub(super) fn place(
        &mut self,
        pod: &Pod,
        node: NodeName,
        claims: Claims,
        step: &mut Step<'_>,
    ) -> AttemptResult {
        let (key, uid, since) = (&pod.key, pod.uid.clone(), step.now.wall);
        let assumed = Assumption { uid, node: node.clone(), claims: claims.clone(), since };
        step.cluster.assume(key, assumed);
        self.unschedulable_pods.remove(key);
        // Pods with affinity to it, or that are spread together with it, may wait for this.
        let assumed = step.cluster.assumed_pod(key).cloned();
        self.wake(&Arc::new(ClusterChange::of_assigned(None, assumed)), step);
        if pod.nominated_node.is_some() {
            // The node that it was nominated to may have room for others now.
            let nominated = Some(Arc::new(pod.clone()));
            self.wake(&Arc::new(ClusterChange::of_assigned(nominated, None)), step);
        }
        self.last_binding_id += 1;
        let (id, pod, phase) = (self.last_binding_id, Arc::new(pod.clone()), BindingPhase::Assumed);
        self.try_bind(PendingBinding { id, pod, node, claims, phase }, step)
    }

    pub(super) fn bind(&mut self, pending: PendingBinding, step: &mut Step<'_>) {
        let (pod, uid) = (pending.pod.key.clone(), pending.pod.uid.clone());
        let (node, seat) = (pending.node.clone(), pending.claims.seat().cloned());
        self.bindings.insert(pod.clone(), SentBinding { pending, since: step.now.elapsed });
        step.effects.push(Effect::Bind { pod, uid, node, seat });
    }

    pub(crate) fn binding_answered(
        &mut self,
        key: &PodKey,
        uid: &Uid,
        outcome: BindingOutcome,
        step: &mut Step<'_>,
    ) {
        let sent = self.note_binding(key, &outcome, step);
        let Some(node) = step.cluster.assumed_node(key, uid).cloned() else {
            // The watch showed it bound, or gone, before the answer came. The event is still missing.
            if outcome == BindingOutcome::Bound {
                self.record_bound(key, uid, step);
            }
            return;
        };
        match outcome {
            BindingOutcome::Bound => {
                self.record_bound(key, uid, step);
                self.queue.remove(key);
            }
            BindingOutcome::Unknown => {
                step.effects.push(Effect::Find { pod: key.clone(), uid: uid.clone(), node });
            }
            // The watch will show what happened to the pod.
            BindingOutcome::Lost => self.forget_and_retry(key, uid, sent, step),
            BindingOutcome::Refused { why } => {
                self.forget_and_retry(key, uid, sent, step);
                if let Some(pod) = step.cluster.pod(key).filter(|pod| pod.uid == *uid).cloned() {
                    let why = format!("binding rejected: {why}");
                    self.report_failure(&pod, SCHEDULER_ERROR, why, Nomination::Change(None), step);
                }
            }
        }
    }

    /// Notes how long a binding took, when its outcome is known, and returns it.
    fn note_binding(
        &mut self,
        key: &PodKey,
        outcome: &BindingOutcome,
        step: &mut Step<'_>,
    ) -> Option<PendingBinding> {
        let status = match outcome {
            BindingOutcome::Unknown => return None,
            BindingOutcome::Bound => Status::Success,
            BindingOutcome::Lost | BindingOutcome::Refused { .. } => Status::Error,
        };
        let SentBinding { pending, since } = self.bindings.remove(key)?;
        let Some(pod) = step.cluster.pod(key) else { return Some(pending) };
        let (profile, took) = (pod.spec.scheduler_name.clone(), step.now.elapsed.saturating_sub(since));
        step.notes.push(Note::ExtensionPointDuration {
            profile,
            extension_point: ExtensionPoint::Bind,
            status,
            took,
        });
        Some(pending)
    }

    fn forget_and_retry(
        &mut self,
        key: &PodKey,
        uid: &Uid,
        sent: Option<PendingBinding>,
        step: &mut Step<'_>,
    ) {
        let is_there = step.cluster.pod(key).is_some_and(|pod| pod.uid == *uid);
        if let Some(sent) = sent.filter(|sent| is_there && sent.pod.uid == *uid) {
            self.unreserve(&sent, step);
        }
        let changes = step.cluster.forget(key, uid);
        self.changed(&changes, step);
        self.queue.retry(key, step.now.elapsed);
    }

    fn record_bound(&mut self, key: &PodKey, uid: &Uid, step: &mut Step<'_>) {
        let Some(pod) = step.cluster.pod(key).filter(|pod| pod.uid == *uid).cloned() else { return };
        let Some(node) = step.cluster.assumed_node(key, uid).or(pod.node.as_ref()).cloned() else { return };
        let profile = pod.spec.scheduler_name.clone();
        if let Some(registry) = self.profiles.get(&profile) {
            cycle::run_post_bind(&pod, &node, &step.cluster.snapshot(step.now.wall), registry);
        }
        if let Some(history) = self.queue.history(key) {
            let waited = step.now.elapsed.saturating_sub(history.since);
            let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
            let AttemptHistory { attempts, was_flushed, .. } = history;
            step.notes.push(Note::Bound { profile, attempts, waited_ms, was_flushed });
        }
        step.effects.push(pod_event(&pod, PodEvent::Scheduled { node }, step.now));
    }
}

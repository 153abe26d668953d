//! Pods that have a node and are not bound yet, because a Permit plugin lets them wait or its claims are not ready, such
//! as volumes that are not bound. They are
//! counted on their nodes meanwhile.
//!
//! ```text
//!   place ──▶ Permit ──wait──▶ (asked again when something changes, until the timeout)
//!               │ granted
//!               ▼
//!            claims ──▶ (checked again when something changes, until the timeout) ──▶ bind
//! ```

use super::{SCHEDULER_ERROR, Scheduler, UNSCHEDULABLE};
use crate::queue::ANY_CHANGE;
use crate::state::{AttemptResult, Effect, Nomination, Note, Step};
use common::config::print_duration;
use common::cycle::{self, BindingDecision, NoFit, Preparation};
use common::model::{Claims, NodeName, Pod, PodKey};
use jiff::SignedDuration;
use std::sync::Arc;
use std::time::Duration;

pub(super) struct PendingBinding {
    /// The number of this try: an answer to an earlier try is ignored.
    pub(super) id: u64,
    pub(super) pod: Arc<Pod>,
    pub(super) node: NodeName,
    /// What it takes there besides room.
    pub(super) claims: Claims,
    pub(super) phase: BindingPhase,
}

pub(super) enum BindingPhase {
    /// Nothing: the Permit plugins are asked in this step.
    Assumed,
    WaitingOnPermit {
        since: Duration,
        /// Each plugin with the end of the wait and its timeout.
        plugins: Vec<(&'static str, Duration, Duration)>,
    },
    Preparing {
        preparation: Preparation,
        since: Duration,
        /// When the wait times out.
        until: Duration,
    },
}

impl Scheduler {
    /// When the first wait times out.
    pub(super) fn next_pending_binding_due(&self) -> Option<Duration> {
        self.pending_bindings.values().filter_map(PendingBinding::due).min()
    }

    /// Something happened that pending bindings may wait for.
    pub(crate) fn recheck_bindings(&mut self) {
        self.has_changes = true;
    }

    /// Checks all pending bindings again if something changed, else those whose wait has timed out.
    pub(super) fn advance_pending_bindings(&mut self, step: &mut Step<'_>) {
        let has_changes = std::mem::take(&mut self.has_changes);
        let is_due = |pending: &PendingBinding| pending.due().is_some_and(|due| due <= step.now.elapsed);
        let keys: Vec<PodKey> = self
            .pending_bindings
            .iter()
            .filter(|(_, pending)| has_changes || is_due(pending))
            .map(|(key, _)| key.clone())
            .collect();
        for key in keys {
            if let Some(pending) = self.pending_bindings.remove(&key) {
                match &pending.phase {
                    BindingPhase::Assumed | BindingPhase::WaitingOnPermit { .. } => {
                        let _ = self.try_bind(pending, step);
                    }
                    BindingPhase::Preparing { .. } => self.check_preparation(pending, step),
                }
            }
        }
    }

    /// Asks the Permit, PreBind and Bind plugins, and goes on by their answer.
    pub(super) fn try_bind(&mut self, pending: PendingBinding, step: &mut Step<'_>) -> AttemptResult {
        let Some(registry) = self.profiles.get(&pending.pod.spec.scheduler_name) else {
            return AttemptResult::Error;
        };
        let world = step.cluster.snapshot(step.now.wall);
        if world.find(&pending.node).is_none() {
            // The API server would accept the binding nevertheless.
            let why = format!("node \"{}\" not found", pending.node);
            self.fail(&pending, why, step);
            return AttemptResult::Error;
        }
        let decision = cycle::decide_binding(&pending.pod, &pending.node, &world, registry);
        match decision {
            BindingDecision::Granted => {
                note_wait(&pending, "Success", step);
                self.prepare(pending, step);
                AttemptResult::Scheduled
            }
            BindingDecision::Waits(waits) => self.wait(pending, &waits, step),
            BindingDecision::Denied(no_fit) => {
                note_wait(&pending, "Unschedulable", step);
                self.mark_unschedulable(&pending.pod, &no_fit, step);
                self.give_up(&pending, UNSCHEDULABLE, no_fit.message(), step)
            }
            BindingDecision::PreBindFailed(no_fit) => {
                self.queue.retry(&pending.pod.key, step.now.elapsed);
                self.give_up(&pending, UNSCHEDULABLE, no_fit.message(), step)
            }
            BindingDecision::NoBindPlugin => {
                self.queue.retry(&pending.pod.key, step.now.elapsed);
                let why = "no plugin at bind takes care of the pod; DefaultBinder would".to_owned();
                self.give_up(&pending, SCHEDULER_ERROR, why, step)
            }
        }
    }

    /// Lets a pod wait for Permit plugins. The timeout of each counts from its first answer.
    fn wait(
        &mut self,
        mut pending: PendingBinding,
        waits: &[(&'static str, Duration)],
        step: &mut Step<'_>,
    ) -> AttemptResult {
        let now = step.now.elapsed;
        let (since, before) = match std::mem::replace(&mut pending.phase, BindingPhase::Assumed) {
            BindingPhase::WaitingOnPermit { since, plugins } => (since, plugins),
            BindingPhase::Assumed | BindingPhase::Preparing { .. } => (now, Vec::new()),
        };
        let plugin = |(name, at_most): &(&'static str, Duration)| {
            let known = before.iter().find(|(known, ..)| known == name).copied();
            known.unwrap_or((*name, now + *at_most, *at_most))
        };
        let plugins: Vec<_> = waits.iter().map(plugin).collect();
        let over = plugins.iter().filter(|(_, until, _)| *until <= now).min_by_key(|(_, until, _)| *until);
        let over = over.copied();
        pending.phase = BindingPhase::WaitingOnPermit { since, plugins };
        if let Some((name, _, at_most)) = over {
            return self.time_out(&pending, name, at_most, step);
        }
        self.nominate_to_node(&pending, step);
        self.pending_bindings.insert(pending.pod.key.clone(), pending);
        AttemptResult::Scheduled
    }

    fn time_out(
        &mut self,
        pending: &PendingBinding,
        plugin: &'static str,
        at_most: Duration,
        step: &mut Step<'_>,
    ) -> AttemptResult {
        note_wait(pending, "Unschedulable", step);
        let waited = print_duration(SignedDuration::try_from(at_most).unwrap_or_default());
        let words = format!("rejected due to timeout after waiting {waited} at plugin {plugin}");
        let no_fit: NoFit =
            cycle::denied_by_permit(&pending.node, plugin, words, &step.cluster.snapshot(step.now.wall));
        self.unreserve(pending, step);
        // It is not known what the plugin waited for.
        self.put_aside(&pending.pod, [ANY_CHANGE].into(), Duration::MAX, step);
        self.give_up(pending, UNSCHEDULABLE, no_fit.message(), step)
    }

    /// Nominates the pod to its node, for others such as the cluster autoscaler: the binding may take a while.
    pub(super) fn nominate_to_node(&mut self, pending: &PendingBinding, step: &mut Step<'_>) {
        let node = Nomination::Change(Some(pending.node.clone()));
        self.nominate_only(&pending.pod, node, step);
    }

    /// Gives the node up because of an error, and tries the pod again later.
    pub(super) fn fail(&mut self, pending: &PendingBinding, why: String, step: &mut Step<'_>) {
        self.unreserve(pending, step);
        self.queue.retry(&pending.pod.key, step.now.elapsed);
        self.give_up(pending, SCHEDULER_ERROR, why, step);
    }

    /// Forgets the assumed pod and writes why. The caller has already put the pod aside, so that other pods get the room.
    fn give_up(
        &mut self,
        pending: &PendingBinding,
        reason: &'static str,
        why: String,
        step: &mut Step<'_>,
    ) -> AttemptResult {
        let pod = &pending.pod;
        let changes = step.cluster.forget(&pod.key, &pod.uid);
        self.changed(&changes, step);
        if let Some(pod) = step.cluster.pod(&pod.key).filter(|known| known.uid == pod.uid).cloned() {
            self.report_failure(&pod, reason, why, Nomination::Change(None), step);
        }
        if reason == SCHEDULER_ERROR { AttemptResult::Error } else { AttemptResult::Unschedulable }
    }

    /// Tells the Reserve plugins that the pod is not bound, and gives its claims back. No answer to these writes is waited for.
    pub(super) fn unreserve(&self, pending: &PendingBinding, step: &mut Step<'_>) {
        let PendingBinding { id, pod, node, claims, .. } = pending;
        let Some(registry) = self.profiles.get(&pod.spec.scheduler_name) else { return };
        let world = step.cluster.snapshot(step.now.wall);
        let writes = cycle::run_unreserve(pod, node, claims, &world, registry);
        if !writes.is_empty() {
            let (pod, uid) = (pod.key.clone(), pod.uid.clone());
            step.effects.push(Effect::WriteObjects { pod, uid, id: *id, writes });
        }
    }

    /// Drops the pending binding of a pod that is being deleted, or that another scheduler bound.
    pub(super) fn abandon(&mut self, key: &PodKey, step: &mut Step<'_>) {
        let Some(pending) = self.pending_bindings.remove(key) else { return };
        self.unreserve(&pending, step);
        let changes = step.cluster.forget(key, &pending.pod.uid);
        self.changed(&changes, step);
    }
}

impl PendingBinding {
    /// When its wait times out.
    fn due(&self) -> Option<Duration> {
        match &self.phase {
            BindingPhase::Assumed => None,
            BindingPhase::WaitingOnPermit { plugins, .. } => plugins.iter().map(|(_, until, _)| *until).min(),
            BindingPhase::Preparing { until, .. } => Some(*until),
        }
    }
}

fn note_wait(pending: &PendingBinding, result: &'static str, step: &mut Step<'_>) {
    if let BindingPhase::WaitingOnPermit { since, .. } = &pending.phase {
        let waited = step.now.elapsed.saturating_sub(*since);
        let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        step.notes.push(Note::PermitWait { result, waited_ms });
    }
}

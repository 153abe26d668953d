//! Pods that have a node and are not bound yet: some plugin wants them to wait, or their volumes are under way. They are
//! counted on their nodes meanwhile.
//!
//! ```text
//!   place ──▶ leave? ──wait──▶ (asked again when something changes, at most so long)
//!               │ granted
//!               ▼
//!            volumes? ──▶ (looked at again when something changes, at most so long) ──▶ bind
//! ```

use super::{EVERY_CURE, SCHEDULER_ERROR, Scheduler, UNSCHEDULABLE};
use crate::state::{Attempted, Nomination, Note, Step};
use common::config::print_duration;
use common::cycle::{self, Clearance, NoFit};
use common::model::storage::VolumeChoice;
use common::model::{NodeName, Pod, PodKey, ReservationId};
use common::plugins::volume_binding::Asked;
use jiff::SignedDuration;
use std::sync::Arc;
use std::time::Duration;

/// A pod on its way to a node.
pub(super) struct PendingBinding {
    /// Its own number: an answer about an earlier one is none about this.
    pub(super) id: u64,
    /// The pod as it was decided on.
    pub(super) pod: Arc<Pod>,
    pub(super) node: NodeName,
    pub(super) seat: Option<ReservationId>,
    /// What its claims get.
    pub(super) volumes: Vec<VolumeChoice>,
    pub(super) stage: Stage,
}

/// How far it has come.
pub(super) enum Stage {
    /// It is about to ask for leave.
    Placed,
    /// It waits for leave.
    Waiting {
        /// Since when.
        since: Duration,
        /// From whom, until when, and how long that is.
        plugins: Vec<(&'static str, Duration, Duration)>,
    },
    /// Its volumes are under way.
    Volumes {
        /// What was asked for; the versions are known once the writes were answered.
        asked: Vec<Asked>,
        /// Whether they were.
        is_written: bool,
        /// Since when.
        since: Duration,
        /// How long it waits for them.
        until: Duration,
    },
}

impl Scheduler {
    /// When something is due about one of them.
    pub(super) fn next_flight_due(&self) -> Option<Duration> {
        self.pending_bindings.values().filter_map(PendingBinding::due).min()
    }

    /// Something happened that they may have waited for.
    pub(crate) fn stir(&mut self) {
        self.is_stirred = true;
    }

    /// Looks at all of them again if something happened, and at those whose time is over.
    pub(super) fn look_after_flights(&mut self, step: &mut Step<'_>) {
        let is_stirred = std::mem::take(&mut self.is_stirred);
        let is_due = |pending: &PendingBinding| pending.due().is_some_and(|due| due <= step.now.elapsed);
        let keys: Vec<PodKey> = self
            .pending_bindings
            .iter()
            .filter(|(_, pending)| is_stirred || is_due(pending))
            .map(|(key, _)| key.clone())
            .collect();
        for key in keys {
            if let Some(pending) = self.pending_bindings.remove(&key) {
                match &pending.stage {
                    Stage::Placed | Stage::Waiting { .. } => drop(self.clear(pending, step)),
                    Stage::Volumes { .. } => self.check_volumes(pending, step),
                }
            }
        }
    }

    /// Asks whether a pod may be bound now, and goes on with it.
    pub(super) fn clear(&mut self, pending: PendingBinding, step: &mut Step<'_>) -> Attempted {
        let Some(registry) = self.profiles.get(&pending.pod.spec.scheduler_name) else {
            return Attempted::Error;
        };
        let world = step.cluster.snapshot(step.now.wall);
        if world.find(&pending.node).is_none() {
            // The API server would take the binding all the same.
            let why = format!("node \"{}\" not found", pending.node);
            self.fail(&pending, why, step);
            return Attempted::Error;
        }
        let clearance = cycle::clear(&pending.pod, &pending.node, &world, registry);
        match clearance {
            Clearance::Granted => {
                note_wait(&pending, "Success", step);
                self.bind_volumes(pending, step);
                Attempted::Scheduled
            }
            Clearance::Waits(waits) => self.wait(pending, &waits, step),
            Clearance::Denied(no_fit) => {
                note_wait(&pending, "Unschedulable", step);
                self.park(&pending.pod, &no_fit, step);
                self.land(&pending, UNSCHEDULABLE, no_fit.message(), step)
            }
            Clearance::Unready(no_fit) => {
                self.queue.retry(&pending.pod.key, step.now.elapsed);
                self.land(&pending, UNSCHEDULABLE, no_fit.message(), step)
            }
            Clearance::NobodyBinds => {
                self.queue.retry(&pending.pod.key, step.now.elapsed);
                let why = "no plugin at bind takes care of the pod; DefaultBinder would".to_owned();
                self.land(&pending, SCHEDULER_ERROR, why, step)
            }
        }
    }

    /// Lets a pod wait for leave, at most as long as each plugin said when it was first asked.
    fn wait(
        &mut self,
        mut pending: PendingBinding,
        waits: &[(&'static str, Duration)],
        step: &mut Step<'_>,
    ) -> Attempted {
        let now = step.now.elapsed;
        let (since, before) = match std::mem::replace(&mut pending.stage, Stage::Placed) {
            Stage::Waiting { since, plugins } => (since, plugins),
            Stage::Placed | Stage::Volumes { .. } => (now, Vec::new()),
        };
        let plugin = |(name, at_most): &(&'static str, Duration)| {
            let known = before.iter().find(|(known, ..)| known == name).copied();
            known.unwrap_or((*name, now + *at_most, *at_most))
        };
        let plugins: Vec<_> = waits.iter().map(plugin).collect();
        let over = plugins.iter().filter(|(_, until, _)| *until <= now).min_by_key(|(_, until, _)| *until);
        let over = over.copied();
        pending.stage = Stage::Waiting { since, plugins };
        if let Some((name, _, at_most)) = over {
            return self.time_out(&pending, name, at_most, step);
        }
        self.expect(&pending, step);
        self.pending_bindings.insert(pending.pod.key.clone(), pending);
        Attempted::Scheduled
    }

    fn time_out(
        &mut self,
        pending: &PendingBinding,
        plugin: &'static str,
        at_most: Duration,
        step: &mut Step<'_>,
    ) -> Attempted {
        note_wait(pending, "Unschedulable", step);
        let waited = print_duration(SignedDuration::try_from(at_most).unwrap_or_default());
        let words = format!("rejected due to timeout after waiting {waited} at plugin {plugin}");
        let no_fit: NoFit =
            cycle::denied(&pending.node, plugin, words, &step.cluster.snapshot(step.now.wall));
        self.unreserve(pending, step);
        // Nobody knows what the plugin waited for.
        self.queue.park(&pending.pod.key, EVERY_CURE.into(), step.now.elapsed);
        self.land(pending, UNSCHEDULABLE, no_fit.message(), step)
    }

    /// Tells others, such as an autoscaler, where the pod is about to be bound: that may take a while.
    pub(super) fn expect(&mut self, pending: &PendingBinding, step: &mut Step<'_>) {
        let node = Nomination::Change(Some(pending.node.clone()));
        self.nominate_only(&pending.pod, node, step);
    }

    /// Gives a pod's place up because something went wrong, and tries it again later.
    pub(super) fn fail(&mut self, pending: &PendingBinding, why: String, step: &mut Step<'_>) {
        self.unreserve(pending, step);
        self.queue.retry(&pending.pod.key, step.now.elapsed);
        self.land(pending, SCHEDULER_ERROR, why, step);
    }

    /// Gives a pod's place back and tells it why. It is put aside already: the room that it leaves is for others.
    fn land(
        &mut self,
        pending: &PendingBinding,
        reason: &'static str,
        why: String,
        step: &mut Step<'_>,
    ) -> Attempted {
        let pod = &pending.pod;
        let changes = step.cluster.forget(&pod.key, &pod.uid);
        self.changed_by(Some(&pod.key), &changes, step);
        if let Some(pod) = step.cluster.pod(&pod.key).filter(|known| known.uid == pod.uid).cloned() {
            self.tell(&pod, reason, why, Nomination::Change(None), step);
        }
        if reason == SCHEDULER_ERROR { Attempted::Error } else { Attempted::Unschedulable }
    }

    /// Tells the plugins that took note of the pod that it will not be bound there.
    fn unreserve(&self, pending: &PendingBinding, step: &mut Step<'_>) {
        if let Some(registry) = self.profiles.get(&pending.pod.spec.scheduler_name) {
            cycle::not_bound(&pending.pod, &pending.node, &step.cluster.snapshot(step.now.wall), registry);
        }
    }

    /// The pod is on its way out, or was bound by somebody else: there is nobody left to bind.
    pub(super) fn abandon(&mut self, key: &PodKey, step: &mut Step<'_>) {
        let Some(pending) = self.pending_bindings.remove(key) else { return };
        self.unreserve(&pending, step);
        let changes = step.cluster.forget(key, &pending.pod.uid);
        self.changed_by(Some(key), &changes, step);
    }
}

impl PendingBinding {
    /// When its time is over.
    fn due(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Placed => None,
            Stage::Waiting { plugins, .. } => plugins.iter().map(|(_, until, _)| *until).min(),
            Stage::Volumes { until, .. } => Some(*until),
        }
    }
}

fn note_wait(pending: &PendingBinding, result: &'static str, step: &mut Step<'_>) {
    if let Stage::Waiting { since, .. } = &pending.stage {
        let waited = step.now.elapsed.saturating_sub(*since);
        let waited_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        step.notes.push(Note::PermitWait { result, waited_ms });
    }
}

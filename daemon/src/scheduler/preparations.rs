//! Prepares the claims of a pod that has a node (PreBind): carries out the writes, and waits until the claims are ready, such as
//! volumes until the volume controller has bound them.

use super::Scheduler;
use super::pending_bindings::{BindingPhase, PendingBinding};
use crate::state::{Effect, Note, Step};
use common::cycle::Preparation;
use common::framework::{ClaimProgress, Status};
use common::model::{ExtensionPoint, PodKey, Uid};
use std::time::Duration;

impl Scheduler {
    /// Binds the pod if its claims need nothing more, else begins with the next preparation.
    pub(super) fn prepare(&mut self, mut pending: PendingBinding, step: &mut Step<'_>) {
        let (before, since) = match std::mem::replace(&mut pending.phase, BindingPhase::Assumed) {
            BindingPhase::Preparing { preparation, since, .. } => (Some(preparation), since),
            BindingPhase::Assumed | BindingPhase::WaitingOnPermit { .. } => (None, step.now.elapsed),
        };
        let world = step.cluster.snapshot(step.now.wall);
        let next = self.profiles.get(&pending.pod.spec.scheduler_name).and_then(|registry| {
            Preparation::next(before.as_ref(), &pending.claims, &pending.node, &world, registry)
        });
        let Some(preparation) = next else {
            if before.is_some() {
                note(&pending, since, Status::Success, step);
            }
            return self.bind(pending, step);
        };
        let (writes, (within, _)) = (preparation.writes(), preparation.timeout());
        pending.phase = BindingPhase::Preparing { preparation, since, until: step.now.elapsed + within };
        if before.is_none() {
            self.nominate_to_node(&pending, step);
        }
        if writes.is_empty() {
            self.check_preparation(pending, step);
            return;
        }
        let (pod, uid, id) = (pending.pod.key.clone(), pending.pod.uid.clone(), pending.id);
        step.effects.push(Effect::WriteObjects { pod: pod.clone(), uid, id, writes });
        self.pending_bindings.insert(pod, pending);
    }

    pub(crate) fn writes_answered(
        &mut self,
        key: &PodKey,
        uid: &Uid,
        id: u64,
        outcome: Result<Vec<u64>, String>,
        step: &mut Step<'_>,
    ) {
        let is_same_try = |pending: &PendingBinding| pending.id == id && pending.pod.uid == *uid;
        if !self.pending_bindings.get(key).is_some_and(is_same_try) {
            return;
        }
        let Some(mut pending) = self.pending_bindings.remove(key) else { return };
        let BindingPhase::Preparing { preparation, since, .. } = &mut pending.phase else { return };
        match outcome {
            Err(why) => {
                let (why, since) = (preparation.error(&why), *since);
                note(&pending, since, Status::Error, step);
                self.fail(&pending, why, step);
            }
            Ok(versions) => {
                preparation.written(versions);
                self.check_preparation(pending, step);
            }
        }
    }

    /// Goes on if the claims are ready; gives the node up if they cannot be, or take too long.
    pub(super) fn check_preparation(&mut self, pending: PendingBinding, step: &mut Step<'_>) {
        let BindingPhase::Preparing { preparation, since, until } = &pending.phase else { return };
        let why = match preparation.progress(&pending.node, &step.cluster.snapshot(step.now.wall)) {
            ClaimProgress::Done => return self.prepare(pending, step),
            ClaimProgress::Waiting if step.now.elapsed < *until => {
                self.pending_bindings.insert(pending.pod.key.clone(), pending);
                return;
            }
            ClaimProgress::Waiting => preparation.timeout().1.to_owned(),
            ClaimProgress::Failed(why) => why,
        };
        note(&pending, *since, Status::Error, step);
        self.fail(&pending, preparation.error(&why), step);
    }
}

/// Notes how long a pod waited for its claims.
fn note(pending: &PendingBinding, since: Duration, status: Status, step: &mut Step<'_>) {
    step.notes.push(Note::ExtensionPointDuration {
        profile: pending.pod.spec.scheduler_name.clone(),
        extension_point: ExtensionPoint::PreBind,
        status,
        took: step.now.elapsed.saturating_sub(since),
    });
}

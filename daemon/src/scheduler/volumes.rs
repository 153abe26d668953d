//! Binds the volumes of a pod that has a node (PreBind of VolumeBinding): writes the claims and volumes, and waits until the volume
//! controller has bound them.

use super::Scheduler;
use super::pending_bindings::{BindingPhase, PendingBinding};
use crate::state::{Effect, Note, Step, VolumeWrite};
use common::cluster::Catalog;
use common::framework::Status;
use common::model::ExtensionPoint;
use common::model::storage::{ChosenVolume, VolumeChoice};
use common::model::{NodeName, PodKey, Uid};
use common::plugins::volume_binding::{
    VolumeBindingProgress, VolumeBindingRequest, pre_bind_error, progress,
};
use std::time::Duration;

/// How long the volumes of a pod may take, unless the profile says otherwise. kube-scheduler's default.
const VOLUMES_WITHIN: Duration = Duration::from_secs(600);

impl Scheduler {
    /// Binds the pod at once if it has no volumes to bind, else begins to bind them.
    pub(super) fn bind_volumes(&mut self, mut pending: PendingBinding, step: &mut Step<'_>) {
        if pending.volumes.is_empty() {
            self.bind(pending, step);
            return;
        }
        let within =
            self.profiles.get(&pending.pod.spec.scheduler_name).and_then(|one| one.volume_bind_timeout);
        let since = step.now.elapsed;
        let until = since + within.unwrap_or(VOLUMES_WITHIN);
        let (mut requests, mut writes) = (Vec::new(), Vec::new());
        for choice in &pending.volumes {
            let write = write(choice, &pending.node, step.cluster.catalog());
            let version = match (&write, &choice.volume) {
                // The version is known once the write is answered; until then no version is new enough.
                (Some(_), _) => u64::MAX,
                (None, ChosenVolume::Existing { version, .. }) => *version,
                (None, ChosenVolume::Provisioned) => choice.claim_version,
            };
            requests.push(VolumeBindingRequest {
                claim: choice.claim.clone(),
                volume: choice.volume.clone(),
                version,
            });
            writes.extend(write);
        }
        pending.phase =
            BindingPhase::BindingVolumes { requests, is_written: writes.is_empty(), since, until };
        self.nominate_to_node(&pending, step);
        if writes.is_empty() {
            self.check_volumes(pending, step);
            return;
        }
        let (pod, uid, id) = (pending.pod.key.clone(), pending.pod.uid.clone(), pending.id);
        step.effects.push(Effect::BindVolumes { pod: pod.clone(), uid, id, writes });
        self.pending_bindings.insert(pod, pending);
    }

    /// Handles the outcome of the writes.
    pub(crate) fn volumes_answered(
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
        match (outcome, &mut pending.phase) {
            (Err(why), _) => {
                note(&pending, Status::Error, step);
                self.fail(&pending, pre_bind_error(&why), step);
            }
            (Ok(versions), BindingPhase::BindingVolumes { requests, is_written, .. }) => {
                let unknown = requests.iter_mut().filter(|request| request.version == u64::MAX);
                unknown.zip(versions).for_each(|(request, version)| request.version = version);
                *is_written = true;
                self.check_volumes(pending, step);
            }
            (Ok(_), BindingPhase::Assumed | BindingPhase::WaitingOnPermit { .. }) => {}
        }
    }

    /// Binds the pod if its volumes are bound; gives the node up if they cannot be, or take too long.
    pub(super) fn check_volumes(&mut self, pending: PendingBinding, step: &mut Step<'_>) {
        let BindingPhase::BindingVolumes { requests, is_written, until, .. } = &pending.phase else { return };
        let progress = match is_written {
            true => progress(requests, &pending.node, &step.cluster.snapshot(step.now.wall)),
            false => VolumeBindingProgress::Waiting,
        };
        let why = match progress {
            VolumeBindingProgress::Done => {
                note(&pending, Status::Success, step);
                return self.bind(pending, step);
            }
            VolumeBindingProgress::Waiting if step.now.elapsed < *until => {
                self.pending_bindings.insert(pending.pod.key.clone(), pending);
                return;
            }
            VolumeBindingProgress::Waiting => "context deadline exceeded".to_owned(),
            VolumeBindingProgress::Failed(why) => why,
        };
        note(&pending, Status::Error, step);
        self.fail(&pending, pre_bind_error(&format!("binding volumes: {why}")), step);
    }
}

/// Notes how long a pod waited for its volumes.
fn note(pending: &PendingBinding, status: Status, step: &mut Step<'_>) {
    if let BindingPhase::BindingVolumes { since, .. } = pending.phase {
        let profile = pending.pod.spec.scheduler_name.clone();
        let took = step.now.elapsed.saturating_sub(since);
        step.notes.push(Note::ExtensionPointDuration {
            profile,
            extension_point: ExtensionPoint::PreBind,
            status,
            took,
        });
    }
}

/// The write for one claim; `None` if the object is as wanted already.
fn write(choice: &VolumeChoice, node: &NodeName, catalog: &Catalog) -> Option<VolumeWrite> {
    let (claim, claim_version) = (choice.claim.clone(), choice.claim_version);
    match &choice.volume {
        ChosenVolume::Existing { name, version } => {
            let known = catalog.volumes.named(name).and_then(|volume| volume.claim.as_deref());
            let known = known.filter(|known| known.name == claim.name && known.namespace == claim.namespace);
            if known.is_some_and(|known| known.uid == claim.uid) {
                return None;
            }
            let (name, version, is_ours) = (name.clone(), *version, known.is_none());
            Some(VolumeWrite::Volume { name, version, claim, claim_version, is_ours })
        }
        ChosenVolume::Provisioned => {
            let known = catalog.claims.get(&claim.namespace, &claim.name);
            let is_written = known.is_some_and(|known| known.selected_node.as_ref() == Some(node));
            let version = claim_version;
            (!is_written).then(|| VolumeWrite::Claim { claim, version, node: node.clone() })
        }
    }
}

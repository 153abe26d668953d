//! The volumes of a pod that has its node: what is written about them, and how long they are waited for.

use super::Scheduler;
use super::pending_bindings::{PendingBinding, Stage};
use crate::state::{Effect, Note, Step, VolumeWrite};
use common::cluster::Catalog;
use common::framework::Status;
use common::model::ExtensionPoint;
use common::model::storage::{ChosenVolume, VolumeChoice};
use common::model::{NodeName, PodKey, Uid};
use common::plugins::volume_binding::{Asked, Progress, failed, progress};
use std::time::Duration;

/// How long the volumes of a pod may take, unless the profile says otherwise. Upstream's.
const VOLUMES_WITHIN: Duration = Duration::from_secs(600);

impl Scheduler {
    /// Goes on with a pod that may be bound: at once, or when its volumes are there.
    pub(super) fn bind_volumes(&mut self, mut pending: PendingBinding, step: &mut Step<'_>) {
        if pending.volumes.is_empty() {
            self.bind(pending, step);
            return;
        }
        let within = self.profiles.get(&pending.pod.spec.scheduler_name).and_then(|one| one.volumes_within);
        let since = step.now.elapsed;
        let until = since + within.unwrap_or(VOLUMES_WITHIN);
        let (mut asked, mut writes) = (Vec::new(), Vec::new());
        for choice in &pending.volumes {
            let write = write(choice, &pending.node, step.cluster.catalog());
            let version = match (&write, &choice.volume) {
                // It is known once the write is answered, and until then none is new enough.
                (Some(_), _) => u64::MAX,
                (None, ChosenVolume::Existing { version, .. }) => *version,
                (None, ChosenVolume::Provisioned) => choice.claim_version,
            };
            asked.push(Asked { claim: choice.claim.clone(), volume: choice.volume.clone(), version });
            writes.extend(write);
        }
        pending.stage = Stage::Volumes { asked, is_written: writes.is_empty(), since, until };
        self.expect(&pending, step);
        if writes.is_empty() {
            self.check_volumes(pending, step);
            return;
        }
        let (pod, uid, id) = (pending.pod.key.clone(), pending.pod.uid.clone(), pending.id);
        step.effects.push(Effect::BindVolumes { pod: pod.clone(), uid, id, writes });
        self.pending_bindings.insert(pod, pending);
    }

    /// Learns what has become of the writes.
    pub(crate) fn volumes(
        &mut self,
        key: &PodKey,
        uid: &Uid,
        id: u64,
        outcome: Result<Vec<u64>, String>,
        step: &mut Step<'_>,
    ) {
        let is_meant = |pending: &PendingBinding| pending.id == id && pending.pod.uid == *uid;
        if !self.pending_bindings.get(key).is_some_and(is_meant) {
            return;
        }
        let Some(mut pending) = self.pending_bindings.remove(key) else { return };
        match (outcome, &mut pending.stage) {
            (Err(why), _) => {
                note(&pending, Status::Error, step);
                self.fail(&pending, failed(&why), step);
            }
            (Ok(versions), Stage::Volumes { asked, is_written, .. }) => {
                let unknown = asked.iter_mut().filter(|asked| asked.version == u64::MAX);
                unknown.zip(versions).for_each(|(asked, version)| asked.version = version);
                *is_written = true;
                self.check_volumes(pending, step);
            }
            (Ok(_), Stage::Placed | Stage::Waiting { .. }) => {}
        }
    }

    /// Binds the pod if its volumes are there; gives its place up if they never will be, or take too long.
    pub(super) fn check_volumes(&mut self, pending: PendingBinding, step: &mut Step<'_>) {
        let Stage::Volumes { asked, is_written, until, .. } = &pending.stage else { return };
        let progress = match is_written {
            true => progress(asked, &pending.node, &step.cluster.snapshot(step.now.wall)),
            false => Progress::Waiting,
        };
        let why = match progress {
            Progress::Done => {
                note(&pending, Status::Success, step);
                return self.bind(pending, step);
            }
            Progress::Waiting if step.now.elapsed < *until => {
                self.pending_bindings.insert(pending.pod.key.clone(), pending);
                return;
            }
            Progress::Waiting => "context deadline exceeded".to_owned(),
            Progress::Failed(why) => why,
        };
        note(&pending, Status::Error, step);
        self.fail(&pending, failed(&format!("binding volumes: {why}")), step);
    }
}

/// Counts how long a pod waited for its volumes.
fn note(pending: &PendingBinding, status: Status, step: &mut Step<'_>) {
    if let Stage::Volumes { since, .. } = pending.stage {
        let profile = pending.pod.spec.scheduler_name.clone();
        let took = step.now.elapsed.saturating_sub(since);
        step.notes.push(Note::Passed { profile, extension_point: ExtensionPoint::PreBind, status, took });
    }
}

/// What is to be written for a choice; nothing if it is written already.
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

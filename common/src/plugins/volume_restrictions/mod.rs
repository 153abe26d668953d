//! VolumeRestrictions: in-tree disks that two pods on a node cannot share, and claims with the access mode ReadWriteOncePod.

mod claims_in_use;
mod evidence;
#[cfg(test)]
mod tests;

use super::claims;
use super::{Descriptor, Implementations};
use crate::cluster::{
    ActionType, Catalog, ClusterChange, ClusterEvent, EventResource, Ledger, PodContext, Snapshot,
};
use crate::framework::{
    Admission, BlockerClass, EnqueueExtensions, Evidence, Filter, NodeFilter, Plugin, PreFilter,
    QueueingHint, Reason, RefusalCode, RefusalKind, StaticReason, Verdict, ledger_filter,
};
use crate::model::Pod;
use crate::model::storage::AccessMode;
use crate::model::volume::{PodVolume, VolumeSource};
use crate::model::{CatalogKind, ExtensionPoint};
use std::collections::BTreeSet;
use std::sync::Arc;

const NAME: &str = "VolumeRestrictions";

const DISK_IN_USE: StaticReason = RefusalKind::resolvable(RefusalCode::DiskInUse, BlockerClass::Storage)
    .with_text("node(s) had no available disk");
const CLAIM_IN_USE: StaticReason = RefusalKind::resolvable(
    RefusalCode::ClaimInUse,
    BlockerClass::Storage)
.with_text(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by \
         another pod",
);

pub struct VolumeRestrictions;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in(NAME, &[ExtensionPoint::PreFilter, ExtensionPoint::Filter], || {
        let plugin = Arc::new(VolumeRestrictions);
        Implementations {
            pre_filter: Some(plugin.clone()),
            filter: Some(plugin.clone()),
            enqueue_extensions: Some(plugin),
            ..Implementations::default()
        }
    })
    .upstream()
    .by_default(0)
    .watches(&[CatalogKind::PersistentVolumeClaim])
}

impl Plugin for VolumeRestrictions {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PreFilter for VolumeRestrictions {
    fn pre_filter(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Admission {
        let missing = claims::claim_names(context.pod)
            .find(|name| claims::get(world.catalog(), context.pod, name).is_none());
        missing.map_or(Admission::All, |name| claims::reject(NAME, claims::claim_not_found(name)))
    }
}

impl Filter for VolumeRestrictions {
    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let disks: Vec<&PodVolume> =
            context.pod.spec.volumes.iter().filter(|volume| is_disk(volume)).collect();
        let is_in_use = exclusive_claim_users(context.pod, world) > 0;
        if disks.is_empty() && !is_in_use {
            return None;
        }
        ledger_filter(world, move |ledger| {
            if has_conflict(&disks, ledger) {
                Verdict::RejectsStatic { plugin: NAME, reason: &DISK_IN_USE }
            } else if is_in_use {
                Verdict::RejectsStatic { plugin: NAME, reason: &CLAIM_IN_USE }
            } else {
                Verdict::Fits
            }
        })
    }

    fn evidence(
        &self,
        reason: Option<&Reason>,
        context: &PodContext<'_>,
        ledger: &Ledger,
        world: &Snapshot<'_>,
    ) -> Option<Evidence> {
        match reason?.code() {
            RefusalCode::ClaimInUse => evidence::claim_in_use(context.pod, world),
            _ => evidence::disk_in_use(context.pod, ledger),
        }
    }
}

impl EnqueueExtensions for VolumeRestrictions {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const {
            &[
                ClusterEvent::new(EventResource::AssignedPod, ActionType::DELETE),
                ClusterEvent::new(EventResource::Node, ActionType::ADD),
                ClusterEvent::catalog(CatalogKind::PersistentVolumeClaim, ActionType::ADD),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        let (gone, (_, claim)) = (change.pods().0, change.catalog_objects());
        QueueingHint::queue_if(match (gone, claim) {
            (Some(gone), _) => has_used(gone, pod),
            (None, Some(claim)) => claims::mounts(pod, claim, false),
            (None, None) => true,
        })
    }
}

/// Whether the pod that is gone used a disk or a claim that `pod` mounts.
fn has_used(gone: &Pod, pod: &Pod) -> bool {
    let conflicts = |disk: &PodVolume| gone.spec.volumes.iter().any(|other| disk.conflicts_with(other));
    let is_shared = |name: &str| claims::claim_names(gone).any(|other| other == name);
    pod.spec.volumes.iter().any(conflicts)
        || pod.key.namespace == gone.key.namespace && claims::claim_names(pod).any(is_shared)
}

/// Whether the volume is an in-tree disk that may conflict with those of other pods.
fn is_disk(volume: &PodVolume) -> bool {
    use VolumeSource::{AwsDisk, GceDisk, Iscsi, Rbd};
    matches!(volume.source, AwsDisk { .. } | GceDisk { .. } | Iscsi { .. } | Rbd(_))
}

fn has_conflict(disks: &[&PodVolume], ledger: &Ledger) -> bool {
    let is_taken = |disk: &&PodVolume| {
        ledger.pods.iter().any(|pod| pod.spec.volumes.iter().any(|volume| disk.conflicts_with(volume)))
    };
    disks.iter().any(is_taken)
}

/// How often other pods use the ReadWriteOncePod claims of the pod.
///
/// Each claim in use counts once. Pods that a supposed ledger adds or removes count as often as they name a claim of that name, in
/// any namespace: kube-scheduler counts in this way.
fn exclusive_claim_users(pod: &Pod, world: &Snapshot<'_>) -> i64 {
    let own = exclusive_claims(pod, world.catalog());
    if own.is_empty() {
        return 0;
    }
    let claims_in_use = claims_in_use::claims_in_use(world);
    let namespace = &*pod.key.namespace;
    let in_use = own.iter().filter(|name| claims_in_use.contains(namespace, name)).count();
    let names = |ledger: &Ledger| -> usize {
        ledger.pods.iter().map(|pod| claims::claim_names(pod).filter(|name| own.contains(name)).count()).sum()
    };
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let (supposed, believed) = match world.supposed() {
        Some(supposed) => (names(supposed), world.believed(supposed.id).map_or(0, names)),
        None => (0, 0),
    };
    count(in_use) + count(supposed) - count(believed)
}

/// The names of the pod's claims with ReadWriteOncePod.
fn exclusive_claims<'p>(pod: &'p Pod, catalog: &Catalog) -> BTreeSet<&'p str> {
    let is_exclusive = |name: &&str| {
        let claim = claims::get(catalog, pod, name);
        claim.is_some_and(|claim| claim.access_modes.contains(AccessMode::ReadWriteOncePod))
    };
    claims::claim_names(pod).filter(is_exclusive).collect()
}

//! Which volumes a pod would get on a node, or why it cannot. Entry point: [`VolumeFinder::new`], once for a pod; then
//! [`VolumeFinder::find`] for each node.

use super::pod_claims::PodClaims;
use crate::cluster::{Catalog, Snapshot, VolumeChoices};
use crate::framework::{BlockerClass, RefusalCode, RefusalKind, StaticReason};
use crate::model::Node;
use crate::model::affinity::NodeSelector;
use crate::model::ids::NodeName;
use crate::model::labels::Labels;
use crate::model::storage::{
    CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeChoice, VolumePhase,
};

const ELSEWHERE: StaticReason =
    reason(RefusalCode::VolumeElsewhere).with_text("node(s) didn't match PersistentVolume's node affinity");
const NO_VOLUME: StaticReason =
    reason(RefusalCode::NoVolume).with_text("node(s) didn't find available persistent volumes to bind");
const STORAGE_FULL: StaticReason =
    reason(RefusalCode::StorageFull).with_text("node(s) did not have enough free storage");
const VOLUME_GONE: StaticReason = reason(RefusalCode::VolumeGone)
    .with_text("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)");

const fn reason(code: RefusalCode) -> RefusalKind {
    RefusalKind::unresolvable(code, BlockerClass::Storage)
}

/// What does not depend on the node.
pub(super) struct VolumeFinder<'w> {
    catalog: &'w Catalog,
    /// The volumes of bound claims; `None` for one that does not exist.
    bound: Vec<Option<&'w PersistentVolume>>,
    /// Unbound claims: first those for which a volume is being provisioned, then the others, the smallest first.
    delayed: Vec<DelayedClaim<'w>>,
}

/// An unbound claim whose class has `WaitForFirstConsumer`.
struct DelayedClaim<'w> {
    claim: &'w PersistentVolumeClaim,
    class: &'w StorageClass,
    node: Option<&'w NodeName>,
    /// Volumes whose claimRef names the claim.
    prebound: Vec<&'w PersistentVolume>,
    /// Volumes that match the claim and have no claimRef, the smallest first.
    free: Vec<&'w PersistentVolume>,
    /// The capacities that suffice for the claim; `None` if the driver does not track capacity.
    capacities: Option<Vec<&'w CsiStorageCapacity>>,
}

/// The volumes that a pod would get on a node. The four flags are the reasons to reject the node.
#[derive(Debug, Default)]
pub(super) struct PodVolumes<'w> {
    /// The node affinity of a bound volume does not match the node.
    affinity_mismatch: bool,
    /// A claim has no matching volume, and none can be provisioned.
    no_volume_to_bind: bool,
    /// The storage capacity is too small to provision a volume.
    not_enough_capacity: bool,
    /// The volume of a bound claim does not exist.
    volume_not_found: bool,
    /// The claims that would be bound to existing volumes.
    pub(super) existing: Vec<(&'w PersistentVolumeClaim, &'w PersistentVolume)>,
    /// The claims for which volumes would be provisioned, with the capacity, if the driver tracks it.
    pub(super) provisioned: Vec<(&'w PersistentVolumeClaim, Option<&'w CsiStorageCapacity>)>,
}

impl<'w> VolumeFinder<'w> {
    pub(super) fn new(pod_claims: &PodClaims<'w>, world: &Snapshot<'w>) -> Self {
        let (catalog, choices) = (world.catalog(), world.volume_choices());
        let bound = pod_claims.bound.iter().map(|claim| catalog.volumes.named(claim.volume_name.as_ref()?));
        let delayed =
            pod_claims.delayed.iter().map(|(claim, class)| DelayedClaim::new(claim, class, catalog, choices));
        let mut delayed: Vec<DelayedClaim<'w>> = delayed.collect();
        // Claims for which a volume is being provisioned come first, in their order; a claim without a size is the smallest.
        delayed.sort_by_key(|delayed| {
            let size = delayed.claim.requested.unwrap_or_default();
            delayed.node.is_none().then_some(size)
        });
        Self { catalog, bound: bound.collect(), delayed }
    }

    pub(super) fn find(&self, node: &Node) -> Result<PodVolumes<'w>, String> {
        let mut volumes = PodVolumes::default();
        self.check_bound(node, &mut volumes)?;
        if self.delayed.iter().any(|delayed| delayed.node.is_some_and(|chosen| *chosen != node.name)) {
            volumes.no_volume_to_bind = true;
            return Ok(volumes);
        }
        let mut rest = Vec::new();
        for delayed in &self.delayed {
            match delayed.existing(&node.labels, &volumes.existing) {
                Some(volume) => volumes.existing.push((delayed.claim, volume)),
                None => rest.push(delayed),
            }
        }
        for delayed in rest {
            match delayed.provision(&node.labels, &mut volumes) {
                Some(capacity) => volumes.provisioned.push((delayed.claim, capacity)),
                None => {
                    volumes.provisioned.clear();
                    break;
                }
            }
        }
        Ok(volumes)
    }

    fn check_bound(&self, node: &Node, volumes: &mut PodVolumes<'_>) -> Result<(), String> {
        for volume in &self.bound {
            let Some(volume) = volume else {
                volumes.volume_not_found = true;
                break;
            };
            if !reaches(volume, node, self.catalog)? {
                volumes.affinity_mismatch = true;
                break;
            }
        }
        Ok(())
    }
}

/// Whether the node affinity of a volume matches `node`. For an in-tree volume that is migrated to CSI on the node, the labels of
/// the CSI driver count.
pub(super) fn reaches(volume: &PersistentVolume, node: &Node, catalog: &Catalog) -> Result<bool, String> {
    let is_migrated = volume.plugin().is_some_and(|plugin| {
        let csi = catalog.csi_nodes.named(node.name.as_str());
        csi.is_some_and(|csi| csi.migrated_plugins.iter().any(|name| **name == *plugin.name()))
    });
    if !is_migrated {
        return Ok(matches_nodes(volume.nodes.as_ref(), &node.labels));
    }
    volume.handle().map_err(|problem| format!("could not translate pv: {problem}"))?;
    Ok(matches_nodes(volume.migrated_nodes().as_deref(), &node.labels))
}

impl<'w> DelayedClaim<'w> {
    fn new(
        claim: &'w PersistentVolumeClaim,
        class: &'w StorageClass,
        catalog: &'w Catalog,
        choices: &'w VolumeChoices,
    ) -> Self {
        let node = choices.node_of(claim);
        let (mut prebound, mut free) = (Vec::new(), Vec::new());
        let volumes = catalog.volumes_of(&class.meta.name).filter(|_| node.is_none());
        for volume in volumes.filter(|volume| is_suitable(claim, volume)) {
            match choices.claim_of(volume) {
                Some(named) if named.refers_to(claim) => prebound.push(volume),
                Some(_) => {}
                None if is_available(claim, volume) => free.push(volume),
                None => {}
            }
        }
        free.sort_by_key(|volume| volume.capacity);
        Self { claim, class, node, prebound, free, capacities: sufficient_capacities(claim, class, catalog) }
    }

    /// The existing volume that the claim would get on a node with these labels. If a volume is prebound to the claim, only that
    /// one is considered.
    fn existing(
        &self,
        labels: &Labels,
        chosen: &[(&PersistentVolumeClaim, &PersistentVolume)],
    ) -> Option<&'w PersistentVolume> {
        let is_left = |volume: &&&'w PersistentVolume| {
            chosen.iter().all(|(_, chosen)| chosen.meta.name != volume.meta.name)
        };
        let reaches = |volume: &&&'w PersistentVolume| matches_nodes(volume.nodes.as_ref(), labels);
        match self.prebound.iter().find(is_left) {
            Some(prebound) => Some(prebound).filter(reaches).copied(),
            None => self.free.iter().filter(is_left).find(reaches).copied(),
        }
    }

    /// The capacity that a volume would be provisioned from on a node with these labels; `None` if none can be provisioned.
    fn provision(
        &self,
        labels: &Labels,
        volumes: &mut PodVolumes<'_>,
    ) -> Option<Option<&'w CsiStorageCapacity>> {
        if !self.class.has_provisioner() || !self.class.allows(labels) {
            volumes.no_volume_to_bind = true;
            return None;
        }
        let Some(capacities) = &self.capacities else { return Some(None) };
        let reaches = |capacity: &&&CsiStorageCapacity| {
            capacity.nodes.as_ref().is_some_and(|nodes| nodes.matches(labels))
        };
        let capacity = capacities.iter().find(reaches).copied();
        volumes.not_enough_capacity |= capacity.is_none();
        capacity.map(Some)
    }
}

impl PodVolumes<'_> {
    /// The reasons to reject the node, in the order of kube-scheduler.
    pub(super) fn reasons(&self) -> impl Iterator<Item = StaticReason> {
        let all = [
            (self.affinity_mismatch, ELSEWHERE),
            (self.no_volume_to_bind, NO_VOLUME),
            (self.not_enough_capacity, STORAGE_FULL),
            (self.volume_not_found, VOLUME_GONE),
        ];
        all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, reason)| reason)
    }

    pub(super) fn choices(&self) -> Vec<VolumeChoice> {
        let existing = self.existing.iter().map(|(claim, volume)| VolumeChoice::existing(claim, volume));
        let provisioned = self.provisioned.iter().map(|(claim, _)| VolumeChoice::provisioned(claim));
        existing.chain(provisioned).collect()
    }
}

/// Whether the node selector matches these labels; `None` matches all nodes. Node names are not compared.
fn matches_nodes(nodes: Option<&NodeSelector>, labels: &Labels) -> bool {
    nodes.is_none_or(|nodes| nodes.matches(labels, ""))
}

/// Whether the volume suits the claim in size, mode and class. This must also hold for a prebound volume.
fn is_suitable(claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> bool {
    volume.capacity >= claim.requested.unwrap_or_default()
        && volume.volume_mode == claim.volume_mode
        && volume.attributes_class == claim.attributes_class
        && !volume.meta.is_deleting
}

/// Whether the claim may get a volume without a claimRef: phase, labels and access modes.
fn is_available(claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> bool {
    volume.phase == VolumePhase::Available
        && claim.selector.as_ref().is_none_or(|selector| selector.matches(&volume.labels))
        && volume.access_modes.covers(claim.access_modes)
}

/// The capacities that suffice for a claim; `None` if its driver does not track capacity.
fn sufficient_capacities<'w>(
    claim: &PersistentVolumeClaim,
    class: &StorageClass,
    catalog: &'w Catalog,
) -> Option<Vec<&'w CsiStorageCapacity>> {
    let size = claim.requested?.value();
    catalog.csi_drivers.named(&class.provisioner).filter(|driver| driver.tracks_capacity)?;
    let is_enough =
        |capacity: &&CsiStorageCapacity| capacity.limit().is_some_and(|limit| limit.value() >= size);
    Some(catalog.capacities_of(&class.meta.name).filter(is_enough).collect())
}

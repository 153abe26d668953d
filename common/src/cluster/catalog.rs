//! Everything that decisions read besides nodes, pods and their owners.

use super::event::{Change, Seen};
use super::store::Store;
use crate::model::ids::NodeName;
use crate::model::other::{Other, OtherKind};
use crate::model::storage::{
    CsiDriver, CsiNode, CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass,
    VolumeAttachment,
};
use crate::model::{DisruptionBudget, Namespace, ResourceQuota, Service};
use std::collections::BTreeSet;

/// The objects of every other kind.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Namespaces.
    pub namespaces: Store<Namespace>,
    /// Services.
    pub services: Store<Service>,
    /// PersistentVolumeClaims.
    pub claims: Store<PersistentVolumeClaim>,
    /// PersistentVolumes.
    pub volumes: Store<PersistentVolume>,
    /// StorageClasses.
    pub classes: Store<StorageClass>,
    /// CSINodes.
    pub csi_nodes: Store<CsiNode>,
    /// CSIDrivers.
    pub csi_drivers: Store<CsiDriver>,
    /// CSIStorageCapacities.
    pub csi_capacities: Store<CsiStorageCapacity>,
    /// VolumeAttachments.
    pub attachments: Store<VolumeAttachment>,
    /// PodDisruptionBudgets.
    pub budgets: Store<DisruptionBudget>,
    /// ResourceQuotas.
    pub quotas: Store<ResourceQuota>,
    listed: BTreeSet<OtherKind>,
    unreadable: BTreeSet<OtherKind>,
}

impl Catalog {
    /// Whether every kind has been listed once, or cannot be read.
    pub fn is_complete(&self) -> bool {
        OtherKind::ALL.iter().all(|kind| self.listed.contains(kind) || self.unreadable.contains(kind))
    }

    /// Whether objects of `kind` can be read. If not, there may be some although none are known.
    pub fn is_readable(&self, kind: OtherKind) -> bool {
        !self.unreadable.contains(&kind)
    }

    /// What is attached to `node`, or about to be.
    pub fn attachments_of(&self, node: &NodeName) -> impl Iterator<Item = &VolumeAttachment> {
        self.attachments.grouped(node.as_str())
    }

    /// The volumes of a storage class.
    pub fn volumes_of(&self, class: &str) -> impl Iterator<Item = &PersistentVolume> {
        self.volumes.grouped(class)
    }

    /// What is left of a storage class.
    pub fn capacities_of(&self, class: &str) -> impl Iterator<Item = &CsiStorageCapacity> {
        self.csi_capacities.grouped(class)
    }

    /// Learns about objects of `kind`. Objects of another kind are passed over.
    pub(super) fn apply(&mut self, kind: OtherKind, seen: Seen<Other>, changes: &mut Vec<Change>) {
        if matches!(seen, Seen::Relisted(_)) {
            self.listed.insert(kind);
            self.unreadable.remove(&kind);
        }
        let differs = match kind {
            OtherKind::Namespace => learn(&mut self.namespaces, seen),
            OtherKind::Service => learn(&mut self.services, seen),
            OtherKind::PersistentVolumeClaim => learn(&mut self.claims, seen),
            OtherKind::PersistentVolume => learn(&mut self.volumes, seen),
            OtherKind::StorageClass => learn(&mut self.classes, seen),
            OtherKind::CsiNode => learn(&mut self.csi_nodes, seen),
            OtherKind::CsiDriver => learn(&mut self.csi_drivers, seen),
            OtherKind::CsiStorageCapacity => learn(&mut self.csi_capacities, seen),
            OtherKind::VolumeAttachment => learn(&mut self.attachments, seen),
            OtherKind::PodDisruptionBudget => learn(&mut self.budgets, seen),
            OtherKind::ResourceQuota => learn(&mut self.quotas, seen),
        };
        if differs {
            changes.push(Change::OthersChanged(kind));
        }
    }

    /// Learns that objects of `kind` cannot be read. What was read of them before stays.
    pub(super) fn cannot_read(&mut self, kind: OtherKind) {
        self.unreadable.insert(kind);
    }
}

fn learn<T>(store: &mut Store<T>, seen: Seen<Other>) -> bool
where
    T: crate::model::object::Object + PartialEq + TryFrom<Other>,
{
    seen.narrow().is_some_and(|seen| store.apply(seen))
}

//! The objects that decisions read besides nodes, pods and workloads: one [`Store`] for each kind.

use crate::cluster::belief::event::{Change, WatchEvent};
use crate::cluster::belief::store::Store;
use crate::model::catalog_object::{CatalogKind, CatalogObject};
use crate::model::ids::NodeName;
use crate::model::storage::{
    CsiDriver, CsiNode, CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass,
    VolumeAttachment,
};
use crate::model::{DisruptionBudget, Namespace, ResourceQuota, Service};
use std::collections::BTreeSet;

/// The objects of all kinds besides nodes, pods and workloads.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    pub namespaces: Store<Namespace>,
    pub services: Store<Service>,
    pub claims: Store<PersistentVolumeClaim>,
    pub volumes: Store<PersistentVolume>,
    pub classes: Store<StorageClass>,
    pub csi_nodes: Store<CsiNode>,
    pub csi_drivers: Store<CsiDriver>,
    pub csi_capacities: Store<CsiStorageCapacity>,
    pub attachments: Store<VolumeAttachment>,
    pub budgets: Store<DisruptionBudget>,
    pub quotas: Store<ResourceQuota>,
    listed: BTreeSet<CatalogKind>,
    unreadable: BTreeSet<CatalogKind>,
}

impl Catalog {
    /// Whether every kind has been listed once, or cannot be read.
    pub fn is_complete(&self) -> bool {
        CatalogKind::ALL.iter().all(|kind| self.listed.contains(kind) || self.unreadable.contains(kind))
    }

    /// Whether objects of `kind` can be read. If not, there may be objects that are not here.
    pub fn is_readable(&self, kind: CatalogKind) -> bool {
        !self.unreadable.contains(&kind)
    }

    pub fn attachments_of(&self, node: &NodeName) -> impl Iterator<Item = &VolumeAttachment> {
        self.attachments.grouped(node.as_str())
    }

    pub fn volumes_of(&self, class: &str) -> impl Iterator<Item = &PersistentVolume> {
        self.volumes.grouped(class)
    }

    pub fn capacities_of(&self, class: &str) -> impl Iterator<Item = &CsiStorageCapacity> {
        self.csi_capacities.grouped(class)
    }

    /// Applies an event about objects of `kind`. Objects of another kind are ignored.
    pub(in crate::cluster) fn apply(
        &mut self,
        kind: CatalogKind,
        event: WatchEvent<CatalogObject>,
        changes: &mut Vec<Change>,
    ) {
        if matches!(event, WatchEvent::Relisted(_)) {
            self.listed.insert(kind);
            self.unreadable.remove(&kind);
        }
        let differs = match kind {
            CatalogKind::Namespace => apply_to(&mut self.namespaces, event),
            CatalogKind::Service => apply_to(&mut self.services, event),
            CatalogKind::PersistentVolumeClaim => apply_to(&mut self.claims, event),
            CatalogKind::PersistentVolume => apply_to(&mut self.volumes, event),
            CatalogKind::StorageClass => apply_to(&mut self.classes, event),
            CatalogKind::CsiNode => apply_to(&mut self.csi_nodes, event),
            CatalogKind::CsiDriver => apply_to(&mut self.csi_drivers, event),
            CatalogKind::CsiStorageCapacity => apply_to(&mut self.csi_capacities, event),
            CatalogKind::VolumeAttachment => apply_to(&mut self.attachments, event),
            CatalogKind::PodDisruptionBudget => apply_to(&mut self.budgets, event),
            CatalogKind::ResourceQuota => apply_to(&mut self.quotas, event),
        };
        if differs {
            changes.push(Change::CatalogChanged(kind));
        }
    }

    /// Notes that objects of `kind` cannot be read. Those that were read before stay.
    pub(in crate::cluster) fn cannot_read(&mut self, kind: CatalogKind) {
        self.unreadable.insert(kind);
    }
}

fn apply_to<T>(store: &mut Store<T>, event: WatchEvent<CatalogObject>) -> bool
where
    T: crate::model::object::Object + PartialEq + TryFrom<CatalogObject>,
{
    event.narrow().is_some_and(|event| store.apply(event))
}

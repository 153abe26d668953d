//! The objects that decisions read besides nodes, pods and workloads: one [`Store`] for each kind.

use crate::cluster::belief::cluster_change::ClusterChange;
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
        let is_first_list = matches!(event, WatchEvent::Relisted(_)) && self.listed.insert(kind);
        if matches!(event, WatchEvent::Relisted(_)) {
            self.unreadable.remove(&kind);
        }
        let found = changes.len();
        match kind {
            CatalogKind::Namespace => apply_to(&mut self.namespaces, kind, event, changes),
            CatalogKind::Service => apply_to(&mut self.services, kind, event, changes),
            CatalogKind::PersistentVolumeClaim => apply_to(&mut self.claims, kind, event, changes),
            CatalogKind::PersistentVolume => apply_to(&mut self.volumes, kind, event, changes),
            CatalogKind::StorageClass => apply_to(&mut self.classes, kind, event, changes),
            CatalogKind::CsiNode => apply_to(&mut self.csi_nodes, kind, event, changes),
            CatalogKind::CsiDriver => apply_to(&mut self.csi_drivers, kind, event, changes),
            CatalogKind::CsiStorageCapacity => apply_to(&mut self.csi_capacities, kind, event, changes),
            CatalogKind::VolumeAttachment => apply_to(&mut self.attachments, kind, event, changes),
            CatalogKind::PodDisruptionBudget => apply_to(&mut self.budgets, kind, event, changes),
            CatalogKind::ResourceQuota => apply_to(&mut self.quotas, kind, event, changes),
        }
        // Nothing was decided before, so that no pod waits for one object of many.
        if is_first_list && changes.len() > found {
            changes.truncate(found);
            changes.push(ClusterChange::of_catalog(kind, None, None).into());
        }
    }

    /// Notes that objects of `kind` cannot be read. Those that were read before stay.
    pub(in crate::cluster) fn cannot_read(&mut self, kind: CatalogKind) {
        self.unreadable.insert(kind);
    }
}

fn apply_to<T>(
    store: &mut Store<T>,
    kind: CatalogKind,
    event: WatchEvent<CatalogObject>,
    changes: &mut Vec<Change>,
) where
    T: crate::model::object::Object + PartialEq + Clone + TryFrom<CatalogObject> + Into<CatalogObject>,
{
    let Some(event) = event.narrow() else { return };
    store.apply_and_report(event, |old: Option<T>, new| {
        let change = ClusterChange::of_catalog(kind, old.map(T::into), new.cloned().map(T::into));
        changes.push(change.into());
    });
}

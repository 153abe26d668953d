//! Which changes can give a pod its volumes.

use super::VolumeBinding;
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, Snapshot};
use crate::framework::{EnqueueExtensions, QueueingHint};
use crate::model::storage::{CsiDriver, CsiNode, CsiStorageCapacity, PersistentVolumeClaim, StorageClass};
use crate::model::{CatalogKind, Pod};
use crate::plugins::claims;

impl EnqueueExtensions for VolumeBinding {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const EITHER: ActionType = ActionType::ADD.or(ActionType::UPDATE);
        const {
            &[
                ClusterEvent::catalog(CatalogKind::StorageClass, EITHER),
                ClusterEvent::catalog(CatalogKind::PersistentVolumeClaim, EITHER),
                ClusterEvent::catalog(CatalogKind::PersistentVolume, EITHER),
                ClusterEvent::new(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_LABEL)),
                ClusterEvent::catalog(CatalogKind::CsiNode, EITHER),
                ClusterEvent::catalog(CatalogKind::CsiDriver, ActionType::UPDATE),
                ClusterEvent::catalog(CatalogKind::CsiStorageCapacity, EITHER),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        QueueingHint::queue_if(match change.event.resource {
            EventResource::Catalog(CatalogKind::PersistentVolumeClaim) => {
                let claim = change.catalog_objects::<PersistentVolumeClaim>().1;
                claim.is_none_or(|claim| claims::mounts(pod, claim, true))
            }
            EventResource::Catalog(CatalogKind::StorageClass) => {
                differs(change, |old: &StorageClass, new| old.allowed_topologies != new.allowed_topologies)
            }
            EventResource::Catalog(CatalogKind::CsiNode) => {
                differs(change, |old: &CsiNode, new| old.migrated_plugins != new.migrated_plugins)
            }
            EventResource::Catalog(CatalogKind::CsiDriver) => {
                differs(change, |old: &CsiDriver, new| old.tracks_capacity && !new.tracks_capacity)
            }
            // Without a limit nothing can be provisioned: `None` is less than any.
            EventResource::Catalog(CatalogKind::CsiStorageCapacity) => {
                differs(change, |old: &CsiStorageCapacity, new| new.limit() > old.limit())
            }
            _ => true,
        })
    }
}

/// Whether an object is new, or differs in this way.
fn differs<'c, T>(change: &'c ClusterChange, differs: impl Fn(&T, &T) -> bool) -> bool
where
    T: 'c,
    &'c T: TryFrom<&'c crate::model::CatalogObject>,
{
    match change.catalog_objects::<T>() {
        (Some(old), Some(new)) => differs(old, new),
        _ => true,
    }
}

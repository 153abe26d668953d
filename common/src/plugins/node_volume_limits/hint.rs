//! Which changes can let a node attach the volumes of a pod.

use super::{NodeVolumeLimits, is_counted};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, Snapshot};
use crate::framework::{EnqueueExtensions, QueueingHint};
use crate::model::storage::{CsiDriver, CsiNode, PersistentVolumeClaim, VolumeAttachment};
use crate::model::{CatalogKind, Pod};
use crate::plugins::claims;

impl EnqueueExtensions for NodeVolumeLimits {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const {
            &[
                ClusterEvent::catalog(CatalogKind::CsiNode, ActionType::ADD.or(ActionType::UPDATE)),
                ClusterEvent::new(EventResource::AssignedPod, ActionType::DELETE),
                ClusterEvent::catalog(CatalogKind::PersistentVolumeClaim, ActionType::ADD),
                ClusterEvent::catalog(CatalogKind::VolumeAttachment, ActionType::DELETE),
                ClusterEvent::catalog(CatalogKind::CsiDriver, ActionType::DELETE.or(ActionType::UPDATE)),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        QueueingHint::queue_if(match change.event.resource {
            EventResource::AssignedPod => {
                change.pods().0.is_none_or(|gone| gone.spec.volumes.iter().any(is_counted))
            }
            EventResource::Catalog(CatalogKind::CsiNode) => match change.catalog_objects::<CsiNode>() {
                (Some(old), Some(new)) => {
                    new.drivers.iter().any(|driver| limit(new, &driver.name) > limit(old, &driver.name))
                }
                _ => true,
            },
            EventResource::Catalog(CatalogKind::CsiDriver) => {
                let (old, new) = change.catalog_objects::<CsiDriver>();
                old.is_none_or(|old| old.is_required) && new.is_none_or(|new| !new.is_required)
            }
            EventResource::Catalog(CatalogKind::VolumeAttachment) => {
                let gone = change.catalog_objects::<VolumeAttachment>().0;
                gone.is_none_or(|gone| may_need(pod, gone))
            }
            _ => {
                let claim = change.catalog_objects::<PersistentVolumeClaim>().1;
                claim.is_none_or(|claim| claims::mounts(pod, claim, true))
            }
        })
    }
}

/// How many volumes the driver can attach; -1 if it is not installed.
fn limit(csi: &CsiNode, driver: &str) -> i64 {
    csi.driver(driver).map_or(-1, |driver| driver.limit.map_or(i64::MAX, i64::from))
}

/// Whether the driver of the attachment may have to attach a volume of the pod. Of a claim the driver is not looked up.
fn may_need(pod: &Pod, attachment: &VolumeAttachment) -> bool {
    pod.spec.volumes.iter().any(|volume| {
        let plugin = volume.source.plugin();
        claims::is_claim(volume) || plugin.is_some_and(|plugin| *plugin.driver() == *attachment.attacher)
    })
}

//! VolumeZone: a volume with zone or region labels can be used only on nodes in these zones and regions.

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
use crate::model::ids::Text;
use crate::model::labels::Labels;
use crate::model::storage::{BindingMode, PersistentVolume, StorageClass};
use crate::model::{CatalogKind, ExtensionPoint};
use std::collections::BTreeSet;
use std::sync::Arc;

const NAME: &str = "VolumeZone";

const OTHER_ZONE: StaticReason = RefusalKind::unresolvable(RefusalCode::VolumeZone, BlockerClass::Storage)
    .with_text("node(s) had no available volume zone");

/// The labels of volumes that are compared, each with the label that a node may have in its place.
const LABELS: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// Separates the zones in the label of a volume that is in several.
const DELIMITER: &str = "__";

pub struct VolumeZone;

/// The zones or regions that a volume requires of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ZoneRequirement<'v> {
    key: &'static str,
    fallback_key: &'static str,
    values: Vec<&'v str>,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in(NAME, &[ExtensionPoint::PreFilter, ExtensionPoint::Filter], || {
        let plugin = Arc::new(VolumeZone);
        Implementations {
            pre_filter: Some(plugin.clone()),
            filter: Some(plugin.clone()),
            enqueue_extensions: Some(plugin),
            ..Implementations::default()
        }
    })
    .upstream()
    .by_default(0)
    .watches(&[
        CatalogKind::PersistentVolumeClaim,
        CatalogKind::PersistentVolume,
        CatalogKind::StorageClass,
    ])
}

impl Plugin for VolumeZone {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PreFilter for VolumeZone {
    fn pre_filter(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Admission {
        match pod_requirements(context.pod, world.catalog()) {
            Ok(_) => Admission::All,
            Err(words) => claims::reject(NAME, words),
        }
    }
}

impl Filter for VolumeZone {
    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let requirements = pod_requirements(context.pod, world.catalog())
            .ok()
            .filter(|requirements| !requirements.is_empty())?;
        ledger_filter(world, move |ledger| {
            if meets(&requirements, &ledger.node.labels) {
                Verdict::Fits
            } else {
                Verdict::RejectsStatic { plugin: NAME, reason: &OTHER_ZONE }
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
        reason.and_then(|_| zone_mismatch(context.pod, world.catalog(), &ledger.node.labels))
    }
}

impl EnqueueExtensions for VolumeZone {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const EITHER: ActionType = ActionType::ADD.or(ActionType::UPDATE);
        const {
            &[
                ClusterEvent::catalog(CatalogKind::StorageClass, ActionType::ADD),
                ClusterEvent::new(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_LABEL)),
                ClusterEvent::catalog(CatalogKind::PersistentVolumeClaim, EITHER),
                ClusterEvent::catalog(CatalogKind::PersistentVolume, EITHER),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        let class = change.catalog_objects::<StorageClass>().1;
        let claim = change.catalog_objects().1;
        QueueingHint::queue_if(match change.catalog_objects() {
            (Some(old), Some(new)) => zones(old) != zones(new),
            _ => {
                claim.is_none_or(|claim| claims::mounts(pod, claim, false))
                    && class.is_none_or(|class| class.binding_mode == Some(BindingMode::WaitForFirstConsumer))
            }
        })
    }
}

/// What the labels of the volume require, without the order of the zones.
fn zones(volume: &PersistentVolume) -> Vec<(&str, BTreeSet<&str>)> {
    volume_requirements(volume).map(|one| (one.key, one.values.into_iter().collect())).collect()
}

/// The requirements of all volumes of the pod; or why no node fits it.
fn pod_requirements<'w>(pod: &Pod, catalog: &'w Catalog) -> Result<Vec<ZoneRequirement<'w>>, String> {
    let mut requirements = Vec::new();
    for name in claims::claim_names(pod) {
        if let Some(volume) = volume(pod, name, catalog)? {
            requirements.extend(volume_requirements(volume));
        }
    }
    Ok(requirements)
}

/// The volume of a claim; `None` for an unbound claim that waits for the first consumer.
fn volume<'w>(pod: &Pod, name: &str, catalog: &'w Catalog) -> Result<Option<&'w PersistentVolume>, String> {
    if name.is_empty() {
        return Err("PersistentVolumeClaim had no name".to_owned());
    }
    let claim = claims::get(catalog, pod, name).ok_or_else(|| claims::claim_not_found(name))?;
    if let Some(volume) = &claim.volume_name {
        return catalog.volumes.named(volume).map(Some).ok_or_else(|| claims::volume_not_found(volume));
    }
    let error = "PersistentVolumeClaim had no pv name and storageClass name";
    let class = claim.class.as_deref().ok_or(error)?;
    match catalog.classes.named(class).ok_or_else(|| claims::class_not_found(class))?.binding_mode {
        Some(BindingMode::WaitForFirstConsumer) => Ok(None),
        Some(BindingMode::Immediate) => Err("PersistentVolume had no name".to_owned()),
        None => Err(claims::binding_mode_not_set(class)),
    }
}

/// The requirements of a volume. A label that contains an empty zone is ignored.
fn volume_requirements(volume: &PersistentVolume) -> impl Iterator<Item = ZoneRequirement<'_>> {
    LABELS.into_iter().filter_map(|(key, fallback_key)| {
        let values: Vec<&str> = volume.labels.get(key)?.split(DELIMITER).map(str::trim).collect();
        (!values.contains(&"")).then_some(ZoneRequirement { key, fallback_key, values })
    })
}

/// Whether a node with these labels meets all requirements. A node without any zone or region label meets all.
fn meets(requirements: &[ZoneRequirement<'_>], labels: &Labels) -> bool {
    LABELS.iter().all(|(key, _)| !labels.has(key)) || requirements.iter().all(|one| one.is_met(labels))
}

impl ZoneRequirement<'_> {
    /// The zone or region of a node with these labels.
    fn value<'l>(&self, labels: &'l Labels) -> Option<&'l str> {
        labels.get(self.key).or_else(|| labels.get(self.fallback_key))
    }

    fn is_met(&self, labels: &Labels) -> bool {
        self.value(labels).is_some_and(|value| self.values.contains(&value))
    }
}

/// The first volume that is in other zones or regions than a node with these labels.
fn zone_mismatch(pod: &Pod, catalog: &Catalog, labels: &Labels) -> Option<Evidence> {
    claims::claim_names(pod).find_map(|name| {
        let volume = volume(pod, name, catalog).ok()??;
        let unmet = volume_requirements(volume).find(|one| !one.is_met(labels))?;
        Some(Evidence::VolumeZone {
            volume: volume.meta.name.clone(),
            key: unmet.key.into(),
            values: unmet.values.iter().copied().map(Text::from).collect(),
            has: unmet.value(labels).map(Text::from),
        })
    })
}

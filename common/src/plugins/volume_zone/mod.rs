//! VolumeZone: a volume that says in its labels in which zones and regions it is can be used there alone.

#[cfg(test)]
mod tests;

use super::claims;
use super::kit::Kit;
use crate::cluster::{Catalog, PodContext, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{Admission, Cure, Filter, NodeFilter, Plugin, PreFilter, Reason, Verdict, on_ledger};
use crate::model::Pod;
use crate::model::labels::Labels;
use crate::model::storage::{BindingMode, PersistentVolume};
use std::sync::Arc;

const NAME: &str = "VolumeZone";

const MESSAGE: &str = "node(s) had no available volume zone";

/// The labels that are looked at, each with the one that a node may have in its place.
const LABELS: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// What separates the zones of a volume that is in several.
const DELIMITER: &str = "__";

/// The plugin.
pub struct VolumeZone;

/// What a volume asks of a node's labels.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place<'v> {
    key: &'static str,
    instead: &'static str,
    values: Vec<&'v str>,
}

/// The plugin at its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    let plugin = Arc::new(VolumeZone);
    Kit { pre_filter: Some(plugin.clone()), filter: Some(plugin), ..Kit::default() }
}

impl Plugin for VolumeZone {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PreFilter for VolumeZone {
    fn pre_filter(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Admission {
        match places(pod_context.pod, world.catalog()) {
            Ok(_) => Admission::All,
            Err(words) => claims::refuses(NAME, words),
        }
    }
}

impl Filter for VolumeZone {
    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let places = places(pod_context.pod, world.catalog()).ok().filter(|places| !places.is_empty())?;
        on_ledger(world, move |ledger| {
            if admits(&places, &ledger.node.labels) {
                Verdict::Fits
            } else {
                Verdict::rejects(NAME, Reason::said_for_good(MESSAGE, Cure::Node))
            }
        })
    }
}

/// What the pod's volumes ask of a node's labels, or why none can have the pod.
fn places<'w>(pod: &Pod, catalog: &'w Catalog) -> Result<Vec<Place<'w>>, String> {
    let mut places = Vec::new();
    for name in claims::named(pod) {
        if let Some(volume) = volume(pod, name, catalog)? {
            places.extend(places_of(volume));
        }
    }
    Ok(places)
}

/// The volume of a claim; `None` if it gets one when the pod has its node.
fn volume<'w>(pod: &Pod, name: &str, catalog: &'w Catalog) -> Result<Option<&'w PersistentVolume>, String> {
    if name.is_empty() {
        return Err("PersistentVolumeClaim had no name".to_owned());
    }
    let claim = claims::get(catalog, pod, name).ok_or_else(|| claims::no_claim(name))?;
    if let Some(volume) = &claim.volume_name {
        return catalog.volumes.named(volume).map(Some).ok_or_else(|| claims::no_volume(volume));
    }
    let words = "PersistentVolumeClaim had no pv name and storageClass name";
    let class = claim.class.as_deref().ok_or(words)?;
    match catalog.classes.named(class).ok_or_else(|| claims::no_class(class))?.binding_mode {
        Some(BindingMode::WaitForFirstConsumer) => Ok(None),
        Some(BindingMode::Immediate) => Err("PersistentVolume had no name".to_owned()),
        None => Err(claims::no_mode(class)),
    }
}

/// What a volume asks of a node's labels. A label with an empty zone in it is passed over.
fn places_of(volume: &PersistentVolume) -> impl Iterator<Item = Place<'_>> {
    LABELS.into_iter().filter_map(|(key, instead)| {
        let values: Vec<&str> = volume.labels.get(key)?.split(DELIMITER).map(str::trim).collect();
        (!values.contains(&"")).then_some(Place { key, instead, values })
    })
}

/// Whether a node with these labels will do. One without any of them is in no zone, so that all volumes reach it.
fn admits(places: &[Place<'_>], labels: &Labels) -> bool {
    let fits = |place: &Place<'_>| {
        let found = labels.get(place.key).or_else(|| labels.get(place.instead));
        found.is_some_and(|value| place.values.contains(&value))
    };
    LABELS.iter().all(|(key, _)| !labels.has(key)) || places.iter().all(fits)
}

//! Decodes a PersistentVolume.

use super::{Amounts, StatusWire, access_modes};
use crate::api::DecodeError;
use crate::api::meta::{NullableList, ObjectWire, Str, decode, or_empty};
use crate::api::names::BOUND_BY_CONTROLLER;
use crate::api::object::{name, quantity};
use crate::api::selector::NodeSelectorWire;
use crate::model::storage::{ClaimRef, InTreePlugin, PersistentVolumeSource, VolumeMode, VolumePhase};
use crate::model::{PersistentVolume, Text, Uid};
use serde::Deserialize;

const KIND: &str = "PersistentVolume";

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct SpecWire<'a> {
    capacity: Option<Amounts<'a>>,
    access_modes: NullableList<Str<'a>>,
    volume_mode: Option<Str<'a>>,
    storage_class_name: Option<Str<'a>>,
    volume_attributes_class_name: Option<Str<'a>>,
    claim_ref: Option<ClaimRefWire<'a>>,
    node_affinity: Option<NodeAffinityWire<'a>>,
    csi: Option<Csi<'a>>,
    aws_elastic_block_store: Option<Disk<'a>>,
    gce_persistent_disk: Option<Disk<'a>>,
    azure_disk: Option<Disk<'a>>,
    cinder: Option<Disk<'a>>,
    portworx_volume: Option<Disk<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ClaimRefWire<'a> {
    namespace: Option<Str<'a>>,
    name: Option<Str<'a>>,
    uid: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Csi<'a> {
    driver: Option<Str<'a>>,
    volume_handle: Option<Str<'a>>,
}

/// A volume of an in-tree plugin. The field of the id has another name in each plugin.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Disk<'a> {
    #[serde(rename = "volumeID", alias = "pdName", alias = "diskURI")]
    id: Option<Str<'a>>,
    /// Only in `azureDisk`.
    kind: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct NodeAffinityWire<'a> {
    required: Option<NodeSelectorWire<'a>>,
}

pub fn volume(json: &str) -> Result<PersistentVolume, DecodeError> {
    let ObjectWire::<SpecWire<'_>, StatusWire<'_>> { metadata, spec, status } = decode(KIND, json)?;
    let capacity = spec.capacity.as_ref().and_then(|capacity| capacity.storage.as_ref());
    let mode = spec.volume_mode.as_ref();
    Ok(PersistentVolume {
        meta: metadata.object(KIND)?,
        labels: metadata.labels(),
        capacity: quantity(KIND, "spec.capacity.storage", capacity)?.unwrap_or_default(),
        access_modes: access_modes(&spec.access_modes),
        volume_mode: mode.map_or(VolumeMode::default(), |mode| VolumeMode::from_name(&mode.0)),
        class: metadata.class(spec.storage_class_name.as_ref()),
        attributes_class: name(spec.volume_attributes_class_name.as_ref()),
        claim: spec.claim_ref.as_ref().map(|claim| Box::new(claim_ref(claim))),
        is_bound_by_controller: metadata.annotation(BOUND_BY_CONTROLLER).is_some(),
        phase: status.phase.map_or(VolumePhase::default(), |phase| VolumePhase::from_name(&phase.0)),
        nodes: spec.node_affinity.as_ref().and_then(|affinity| Some(affinity.required.as_ref()?.selector())),
        source: source(&spec),
    })
}

fn claim_ref(wire: &ClaimRefWire<'_>) -> ClaimRef {
    ClaimRef {
        namespace: or_empty(wire.namespace.as_ref()),
        name: or_empty(wire.name.as_ref()),
        uid: wire.uid.as_ref().filter(|uid| !uid.0.is_empty()).map(|uid| Uid::from(&*uid.0)),
    }
}

fn source(spec: &SpecWire<'_>) -> PersistentVolumeSource {
    if let Some(csi) = &spec.csi {
        return PersistentVolumeSource::Csi {
            driver: or_empty(csi.driver.as_ref()),
            handle: or_empty(csi.volume_handle.as_ref()),
        };
    }
    let plugins = [
        (InTreePlugin::AwsEbs, &spec.aws_elastic_block_store),
        (InTreePlugin::GcePd, &spec.gce_persistent_disk),
        (InTreePlugin::AzureDisk, &spec.azure_disk),
        (InTreePlugin::Cinder, &spec.cinder),
        (InTreePlugin::Portworx, &spec.portworx_volume),
    ];
    let found = plugins.into_iter().find_map(|(plugin, disk)| Some((plugin, disk.as_ref()?)));
    found.map_or(PersistentVolumeSource::Other, |(plugin, disk)| {
        let kind = disk.kind.as_ref().filter(|_| plugin == InTreePlugin::AzureDisk);
        PersistentVolumeSource::InTree {
            plugin,
            id: or_empty(disk.id.as_ref()),
            kind: kind.map(|kind| Text::from(&*kind.0)),
        }
    })
}

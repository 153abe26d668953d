//! Decodes CSINode, CSIDriver and CSIStorageCapacity.

use crate::api::DecodeError;
use crate::api::meta::{Meta, NullableList, ObjectWire, Str, decode, or_empty};
use crate::api::names::MIGRATED_PLUGINS;
use crate::api::object::quantity;
use crate::api::selector::{SelectorWire, optional};
use crate::model::ids::Text;
use crate::model::storage::{CsiDriver, CsiNode, CsiNodeDriver, CsiStorageCapacity};
use serde::Deserialize;

const NODE: &str = "CSINode";
const DRIVER: &str = "CSIDriver";
const CAPACITY: &str = "CSIStorageCapacity";

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct NodeSpec<'a> {
    drivers: NullableList<NodeDriver<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct NodeDriver<'a> {
    name: Option<Str<'a>>,
    allocatable: Option<Allocatable>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Allocatable {
    count: Option<i32>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct DriverSpec {
    storage_capacity: Option<bool>,
    prevent_pod_scheduling_if_missing: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct CapacityWire<'a> {
    metadata: Meta<'a>,
    #[serde(default)]
    storage_class_name: Option<Str<'a>>,
    #[serde(default)]
    capacity: Option<Str<'a>>,
    #[serde(default)]
    maximum_volume_size: Option<Str<'a>>,
    #[serde(default)]
    node_topology: Option<SelectorWire<'a>>,
}

pub fn node(json: &str) -> Result<CsiNode, DecodeError> {
    let ObjectWire::<NodeSpec<'_>> { metadata, spec, .. } = decode(NODE, json)?;
    let migrated = metadata.annotation(MIGRATED_PLUGINS).unwrap_or_default();
    let driver = |wire: NodeDriver<'_>| CsiNodeDriver {
        name: or_empty(wire.name.as_ref()),
        limit: wire.allocatable.and_then(|allocatable| allocatable.count),
    };
    Ok(CsiNode {
        meta: metadata.object(NODE)?,
        drivers: spec.drivers.0.into_iter().map(driver).collect(),
        migrated_plugins: migrated.split(',').filter(|plugin| !plugin.is_empty()).map(Text::from).collect(),
    })
}

pub fn driver(json: &str) -> Result<CsiDriver, DecodeError> {
    let ObjectWire::<DriverSpec> { metadata, spec, .. } = decode(DRIVER, json)?;
    Ok(CsiDriver {
        meta: metadata.object(DRIVER)?,
        tracks_capacity: spec.storage_capacity.unwrap_or(false),
        is_required: spec.prevent_pod_scheduling_if_missing.unwrap_or(false),
    })
}

pub fn capacity(json: &str) -> Result<CsiStorageCapacity, DecodeError> {
    let wire: CapacityWire<'_> = decode(CAPACITY, json)?;
    Ok(CsiStorageCapacity {
        meta: wire.metadata.object(CAPACITY)?,
        class: or_empty(wire.storage_class_name.as_ref()),
        capacity: quantity(CAPACITY, "capacity", wire.capacity.as_ref())?,
        maximum_volume_size: quantity(CAPACITY, "maximumVolumeSize", wire.maximum_volume_size.as_ref())?,
        nodes: optional(wire.node_topology.as_ref()).ok().flatten(),
    })
}

//! Decodes CSINode, CSIDriver and CSIStorageCapacity.

use crate::api::DecodeError;
use crate::api::meta::{Meta, NullableList, Str, decode, or_empty};
use crate::api::names::MIGRATED_PLUGINS;
use crate::api::object::quantity;
use crate::api::selector::{SelectorWire, optional};
use crate::model::ids::Text;
use crate::model::storage::{CsiDriver, CsiNode, CsiNodeDriver, CsiStorageCapacity};
use serde::Deserialize;

const NODE: &str = "CSINode";
const DRIVER: &str = "CSIDriver";
const CAPACITY: &str = "CSIStorageCapacity";

#[derive(Deserialize)]
struct NodeWire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    spec: Option<NodeSpec<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct NodeSpec<'a> {
    #[serde(borrow)]
    drivers: NullableList<NodeDriver<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct NodeDriver<'a> {
    #[serde(borrow)]
    name: Option<Str<'a>>,
    allocatable: Option<Allocatable>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Allocatable {
    count: Option<i32>,
}

#[derive(Deserialize)]
struct DriverWire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(default)]
    spec: Option<DriverSpec>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct DriverSpec {
    storage_capacity: Option<bool>,
    prevent_pod_scheduling_if_missing: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CapacityWire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    storage_class_name: Option<Str<'a>>,
    #[serde(borrow, default)]
    capacity: Option<Str<'a>>,
    #[serde(borrow, default)]
    maximum_volume_size: Option<Str<'a>>,
    #[serde(borrow, default)]
    node_topology: Option<SelectorWire<'a>>,
}

pub fn node(json: &str) -> Result<CsiNode, DecodeError> {
    let NodeWire { metadata, spec } = decode(NODE, json)?;
    let migrated = metadata.annotation(MIGRATED_PLUGINS).unwrap_or_default();
    let driver = |wire: NodeDriver<'_>| CsiNodeDriver {
        name: or_empty(wire.name.as_ref()),
        limit: wire.allocatable.and_then(|allocatable| allocatable.count),
    };
    Ok(CsiNode {
        meta: metadata.object(NODE)?,
        drivers: spec.unwrap_or_default().drivers.0.into_iter().map(driver).collect(),
        migrated_plugins: migrated.split(',').filter(|plugin| !plugin.is_empty()).map(Text::from).collect(),
    })
}

pub fn driver(json: &str) -> Result<CsiDriver, DecodeError> {
    let DriverWire { metadata, spec } = decode(DRIVER, json)?;
    let spec = spec.unwrap_or_default();
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

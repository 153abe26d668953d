//! Decodes a PersistentVolumeClaim.

use super::{Amounts, access_modes};
use crate::api::DecodeError;
use crate::api::meta::{Meta, NullableList, Str, decode};
use crate::api::names::{BIND_COMPLETED, SELECTED_NODE};
use crate::api::object::{malformed, name, quantity};
use crate::api::selector::{SelectorWire, optional};
use crate::model::ids::NodeName;
use crate::model::selector::Selector;
use crate::model::storage::{ClaimPhase, PersistentVolumeClaim, VolumeMode};
use serde::Deserialize;

const KIND: &str = "PersistentVolumeClaim";

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    spec: Option<SpecWire<'a>>,
    #[serde(borrow, default)]
    status: Option<StatusWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct SpecWire<'a> {
    #[serde(borrow)]
    volume_name: Option<Str<'a>>,
    #[serde(borrow)]
    storage_class_name: Option<Str<'a>>,
    #[serde(borrow)]
    access_modes: NullableList<Str<'a>>,
    #[serde(borrow)]
    volume_mode: Option<Str<'a>>,
    #[serde(borrow)]
    resources: Option<ResourcesWire<'a>>,
    #[serde(borrow)]
    selector: Option<SelectorWire<'a>>,
    #[serde(borrow)]
    volume_attributes_class_name: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ResourcesWire<'a> {
    #[serde(borrow)]
    requests: Option<Amounts<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct StatusWire<'a> {
    #[serde(borrow)]
    phase: Option<Str<'a>>,
}

pub fn claim(json: &str) -> Result<PersistentVolumeClaim, DecodeError> {
    let Wire { metadata, spec, status } = decode(KIND, json)?;
    let spec = spec.unwrap_or_default();
    let requests = spec.resources.unwrap_or_default().requests.unwrap_or_default();
    let phase = status.unwrap_or_default().phase;
    Ok(PersistentVolumeClaim {
        meta: metadata.object(KIND)?,
        volume_name: name(spec.volume_name.as_ref()),
        class: metadata.class(spec.storage_class_name.as_ref()),
        access_modes: access_modes(&spec.access_modes),
        volume_mode: spec.volume_mode.map_or(VolumeMode::default(), |mode| VolumeMode::from_name(&mode.0)),
        requested: quantity(KIND, "spec.resources.requests.storage", requests.storage.as_ref())?,
        selector: selector(spec.selector.as_ref())?,
        attributes_class: name(spec.volume_attributes_class_name.as_ref()),
        phase: phase.map_or(ClaimPhase::default(), |phase| ClaimPhase::from_name(&phase.0)),
        is_bind_completed: metadata.annotation(BIND_COMPLETED).is_some(),
        selected_node: metadata.annotation(SELECTED_NODE).map(NodeName::from),
        controller: metadata.controller().map(|controller| controller.uid),
    })
}

/// An invalid selector is an error, because no volume can be matched with it.
fn selector(wire: Option<&SelectorWire<'_>>) -> Result<Option<Selector>, DecodeError> {
    optional(wire).map_err(|problem| malformed(KIND, format!("spec.selector: {problem}")))
}

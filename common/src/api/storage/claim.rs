//! Decodes a PersistentVolumeClaim.

use super::{Amounts, StatusWire, access_modes};
use crate::api::DecodeError;
use crate::api::meta::{NullableList, ObjectWire, Str, decode};
use crate::api::names::{BIND_COMPLETED, SELECTED_NODE};
use crate::api::object::{malformed, name, quantity};
use crate::api::selector::{SelectorWire, optional};
use crate::model::storage::{ClaimPhase, VolumeMode};
use crate::model::{NodeName, PersistentVolumeClaim, Selector};
use serde::Deserialize;

const KIND: &str = "PersistentVolumeClaim";

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct SpecWire<'a> {
    volume_name: Option<Str<'a>>,
    storage_class_name: Option<Str<'a>>,
    access_modes: NullableList<Str<'a>>,
    volume_mode: Option<Str<'a>>,
    resources: Option<ResourcesWire<'a>>,
    selector: Option<SelectorWire<'a>>,
    volume_attributes_class_name: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ResourcesWire<'a> {
    requests: Option<Amounts<'a>>,
}

pub fn claim(json: &str) -> Result<PersistentVolumeClaim, DecodeError> {
    let ObjectWire::<SpecWire<'_>, StatusWire<'_>> { metadata, spec, status } = decode(KIND, json)?;
    let requests = spec.resources.unwrap_or_default().requests.unwrap_or_default();
    Ok(PersistentVolumeClaim {
        meta: metadata.object(KIND)?,
        volume_name: name(spec.volume_name.as_ref()),
        class: metadata.class(spec.storage_class_name.as_ref()),
        access_modes: access_modes(&spec.access_modes),
        volume_mode: spec.volume_mode.map_or(VolumeMode::default(), |mode| VolumeMode::from_name(&mode.0)),
        requested: quantity(KIND, "spec.resources.requests.storage", requests.storage.as_ref())?,
        selector: selector(spec.selector.as_ref())?,
        attributes_class: name(spec.volume_attributes_class_name.as_ref()),
        phase: status.phase.map_or(ClaimPhase::default(), |phase| ClaimPhase::from_name(&phase.0)),
        is_bind_completed: metadata.annotation(BIND_COMPLETED).is_some(),
        selected_node: metadata.annotation(SELECTED_NODE).map(NodeName::from),
        controller: metadata.controller().map(|controller| controller.uid),
    })
}

/// An invalid selector is an error, because no volume can be matched with it.
fn selector(wire: Option<&SelectorWire<'_>>) -> Result<Option<Selector>, DecodeError> {
    optional(wire).map_err(|problem| malformed(KIND, format!("spec.selector: {problem}")))
}

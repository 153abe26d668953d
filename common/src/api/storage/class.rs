//! Decodes a StorageClass.

use crate::api::DecodeError;
use crate::api::meta::{Meta, NullableList, Str, decode, or_empty};
use crate::model::storage::{BindingMode, StorageClass, TopologyRequirement};
use serde::Deserialize;

const KIND: &str = "StorageClass";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct Wire<'a> {
    metadata: Meta<'a>,
    #[serde(default)]
    provisioner: Option<Str<'a>>,
    #[serde(default)]
    volume_binding_mode: Option<Str<'a>>,
    #[serde(default)]
    allowed_topologies: NullableList<TermWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct TermWire<'a> {
    match_label_expressions: NullableList<RequirementWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct RequirementWire<'a> {
    key: Option<Str<'a>>,
    values: NullableList<Str<'a>>,
}

pub fn class(json: &str) -> Result<StorageClass, DecodeError> {
    let wire: Wire<'_> = decode(KIND, json)?;
    let requirements = |term: &TermWire<'_>| -> Box<[_]> {
        term.match_label_expressions.0.iter().map(requirement).collect()
    };
    Ok(StorageClass {
        meta: wire.metadata.object(KIND)?,
        provisioner: or_empty(wire.provisioner.as_ref()),
        binding_mode: wire.volume_binding_mode.map(|mode| BindingMode::from_name(&mode.0)),
        allowed_topologies: wire.allowed_topologies.0.iter().map(requirements).collect(),
    })
}

fn requirement(wire: &RequirementWire<'_>) -> TopologyRequirement {
    TopologyRequirement { key: or_empty(wire.key.as_ref()), values: wire.values.texts() }
}

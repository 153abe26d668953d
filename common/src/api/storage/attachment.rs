//! Decodes a VolumeAttachment.

use crate::api::DecodeError;
use crate::api::meta::{Meta, Str, decode, or_empty};
use crate::api::object::name;
use crate::model::ids::NodeName;
use crate::model::storage::VolumeAttachment;
use serde::Deserialize;

const KIND: &str = "VolumeAttachment";

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    spec: Option<SpecWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct SpecWire<'a> {
    #[serde(borrow)]
    attacher: Option<Str<'a>>,
    #[serde(borrow)]
    node_name: Option<Str<'a>>,
    #[serde(borrow)]
    source: Option<Source<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Source<'a> {
    #[serde(borrow)]
    persistent_volume_name: Option<Str<'a>>,
}

pub fn attachment(json: &str) -> Result<VolumeAttachment, DecodeError> {
    let Wire { metadata, spec } = decode(KIND, json)?;
    let spec = spec.unwrap_or_default();
    Ok(VolumeAttachment {
        meta: metadata.object(KIND)?,
        attacher: or_empty(spec.attacher.as_ref()),
        node: NodeName::from(or_empty(spec.node_name.as_ref())),
        volume: name(spec.source.unwrap_or_default().persistent_volume_name.as_ref()),
    })
}

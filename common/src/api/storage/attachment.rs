//! Decodes a VolumeAttachment.

use crate::api::DecodeError;
use crate::api::meta::{ObjectWire, Str, decode, or_empty};
use crate::api::object::name;
use crate::model::{NodeName, VolumeAttachment};
use serde::Deserialize;

const KIND: &str = "VolumeAttachment";

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct SpecWire<'a> {
    attacher: Option<Str<'a>>,
    node_name: Option<Str<'a>>,
    source: Option<Source<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Source<'a> {
    persistent_volume_name: Option<Str<'a>>,
}

pub fn attachment(json: &str) -> Result<VolumeAttachment, DecodeError> {
    let ObjectWire::<SpecWire<'_>> { metadata, spec, .. } = decode(KIND, json)?;
    Ok(VolumeAttachment {
        meta: metadata.object(KIND)?,
        attacher: or_empty(spec.attacher.as_ref()),
        node: NodeName::from(or_empty(spec.node_name.as_ref())),
        volume: name(spec.source.unwrap_or_default().persistent_volume_name.as_ref()),
    })
}

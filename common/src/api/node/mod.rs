//! Decodes a Node, including the reservations in its annotations.

#[cfg(test)]
mod tests;

use super::meta::{Meta, NullableList, Pairs, Str, decode};
use super::{DecodeError, names, reservation};
use crate::model::chain::chain;
use crate::model::excerpt::excerpt;
use crate::model::ids::{NodeName, Text, Uid};
use crate::model::node::{AnnotationSize, Image, Node};
use crate::model::quantity::Quantity;
use crate::model::resources::Resources;
use crate::model::taint::{Taint, TaintEffect};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;

#[derive(Deserialize)]
struct NodeWire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    spec: Option<SpecWire<'a>>,
    #[serde(borrow, default)]
    status: Option<StatusWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SpecWire<'a> {
    unschedulable: Option<bool>,
    #[serde(borrow)]
    taints: Option<Vec<TaintWire<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TaintWire<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow)]
    value: Cow<'a, str>,
    #[serde(borrow)]
    effect: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct StatusWire<'a> {
    #[serde(borrow)]
    allocatable: Option<Pairs<'a>>,
    #[serde(borrow)]
    images: NullableList<ImageWire<'a>>,
    #[serde(borrow)]
    declared_features: NullableList<Str<'a>>,
    #[serde(borrow)]
    conditions: NullableList<ConditionWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ConditionWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    status: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ImageWire<'a> {
    #[serde(borrow)]
    names: NullableList<Str<'a>>,
    size_bytes: Option<i64>,
}

/// The part of a node that is read if the whole object is invalid.
#[derive(Deserialize)]
struct StubWire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
}

/// Decodes a node. An invalid node has no allocatable resources, so that it takes no pods, and has the reason in `problem`.
pub fn node(json: &str) -> Result<Node, DecodeError> {
    match decode("Node", json) {
        Ok(wire) => Ok(whole(wire)),
        Err(error) => {
            let StubWire { metadata } = decode("Node", json)?;
            let stub = whole(NodeWire { metadata, spec: None, status: None });
            Ok(Node { problem: Some(chain(&error).into_boxed_str()), ..stub })
        }
    }
}

fn whole(wire: NodeWire<'_>) -> Node {
    let NodeWire { metadata, spec, status } = wire;
    let (spec, status) = (spec.unwrap_or_default(), status.unwrap_or_default());
    let (allocatable, problem) = match allocatable(&status) {
        Ok(allocatable) => (allocatable, None),
        Err(problem) => (Resources::default(), Some(problem.into_boxed_str())),
    };
    let annotations = metadata.annotations.as_ref().map_or(&[][..], |annotations| &annotations.0);
    let reservations = reservation::parse(annotations.iter().map(|(key, value)| (&**key, &**value)));
    Node {
        name: NodeName::from(&*metadata.name),
        uid: Uid::from(&*metadata.uid),
        resource_version: metadata.version(),
        labels: metadata.labels(),
        taints: spec.taints.unwrap_or_default().iter().map(taint).collect(),
        unschedulable: spec.unschedulable.unwrap_or(false),
        is_ready: !status.conditions.0.iter().any(|one| one.kind == "Ready" && one.status != "True"),
        allocatable,
        images: status.images.0.iter().map(image).map(Arc::new).collect(),
        features: features(&status),
        reservations: reservations.into_boxed_slice(),
        annotations: size(annotations),
        problem,
    }
}

fn size(annotations: &[(Cow<'_, str>, Cow<'_, str>)]) -> AnnotationSize {
    let mut size = AnnotationSize::default();
    for (key, value) in annotations {
        let bytes = u32::try_from(key.len() + value.len()).unwrap_or(u32::MAX);
        size.bytes = size.bytes.saturating_add(bytes);
        if key.starts_with(names::NODE_PREFIX) {
            size.our_bytes = size.our_bytes.saturating_add(bytes);
            size.our_keys += 1;
        }
    }
    size
}

fn taint(wire: &TaintWire<'_>) -> Taint {
    Taint {
        key: Text::from(&*wire.key),
        value: Text::from(&*wire.value),
        effect: TaintEffect::from_name(&wire.effect),
    }
}

fn image(wire: &ImageWire<'_>) -> Image {
    Image { names: wire.names.texts(), size: wire.size_bytes.unwrap_or(0) }
}

fn features(status: &StatusWire<'_>) -> Box<[Text]> {
    let mut features = status.declared_features.texts();
    features.sort_unstable();
    features
}

/// `status.allocatable`. A missing resource has the amount zero, as in kube-scheduler.
fn allocatable(status: &StatusWire<'_>) -> Result<Resources, String> {
    let mut allocatable = Resources::default();
    for (name, text) in status.allocatable.as_ref().map_or(&[][..], |pairs| &pairs.0) {
        let quantity = Quantity::parse(text)
            .map_err(|error| format!("status.allocatable[\"{}\"]: {error}", excerpt(name, 40)))?;
        allocatable.add_quantity(name, quantity);
    }
    Ok(allocatable)
}

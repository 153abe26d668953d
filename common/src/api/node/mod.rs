//! Decodes a Node, including the reservations in its annotations.

#[cfg(test)]
mod tests;

use super::meta::{NullableList, ObjectWire, Pairs, Str, decode};
use super::{DecodeError, names, reservation};
use crate::model::chain::chain;
use crate::model::excerpt::excerpt;
use crate::model::node::AnnotationSize;
use crate::model::{Image, Node, NodeName, Quantity, Resources, Taint, TaintEffect, Text, Uid};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;

type NodeWire<'a> = ObjectWire<'a, SpecWire<'a>, StatusWire<'a>>;

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct SpecWire<'a> {
    unschedulable: Option<bool>,
    taints: Option<Vec<TaintWire<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct TaintWire<'a> {
    key: Str<'a>,
    value: Str<'a>,
    effect: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct StatusWire<'a> {
    allocatable: Option<Pairs<'a>>,
    images: NullableList<ImageWire<'a>>,
    declared_features: NullableList<Str<'a>>,
    conditions: NullableList<ConditionWire<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ConditionWire<'a> {
    #[serde(rename = "type")]
    kind: Str<'a>,
    status: Str<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct ImageWire<'a> {
    names: NullableList<Str<'a>>,
    size_bytes: Option<i64>,
}

/// Decodes a node. An invalid node has no allocatable resources, so that it takes no pods, and has the reason in `problem`.
pub fn node(json: &str) -> Result<Node, DecodeError> {
    match decode("Node", json) {
        Ok(wire) => Ok(whole(wire)),
        Err(error) => {
            // Its name and its annotations are read, even if the rest is invalid.
            let ObjectWire { metadata, .. } = decode::<ObjectWire<'_>>("Node", json)?;
            let stub = whole(NodeWire { metadata, spec: SpecWire::default(), status: StatusWire::default() });
            Ok(Node { problem: Some(chain(&error).into_boxed_str()), ..stub })
        }
    }
}

fn whole(wire: NodeWire<'_>) -> Node {
    let ObjectWire { metadata, spec, status } = wire;
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
        is_ready: !status.conditions.0.iter().any(|one| &*one.kind == "Ready" && &*one.status != "True"),
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

//! The JSON patch that replaces the annotations of one reservation, provided that they have not changed since they were read. Entry
//! point: [`patch`]. The daemon and the command write to nodes only with this patch.

use super::parse;
use crate::api::names;
use crate::model::{Reservation, ReservationId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A node as the writer has read it.
#[derive(Clone, Copy, Debug)]
pub struct ObservedNode<'n> {
    pub uid: &'n str,
    /// `metadata.resourceVersion` of the node.
    pub version: &'n str,
    pub annotations: &'n BTreeMap<String, String>,
}

/// Replaces `old` by `new`, provided that `old` is unchanged. With `if_unchanged` the whole node must be unchanged.
pub fn patch(
    node: &ObservedNode<'_>,
    old: &[(&str, &str)],
    new: &[(String, String)],
    if_unchanged: bool,
) -> Value {
    let mut steps = vec![json!({ "op": "test", "path": "/metadata/uid", "value": node.uid })];
    if if_unchanged {
        steps.push(json!({ "op": "test", "path": "/metadata/resourceVersion", "value": node.version }));
    }
    for (key, value) in old {
        steps.push(json!({ "op": "test", "path": pointer(key), "value": value }));
    }
    if node.annotations.is_empty() && !new.is_empty() {
        steps.push(json!({ "op": "add", "path": "/metadata/annotations", "value": {} }));
    }
    for (key, _) in old.iter().filter(|(key, _)| !new.iter().any(|(other, _)| other == key)) {
        steps.push(json!({ "op": "remove", "path": pointer(key) }));
    }
    for (key, value) in new {
        steps.push(json!({ "op": "add", "path": pointer(key), "value": value }));
    }
    Value::Array(steps)
}

pub fn pointer(key: &str) -> String {
    format!("/metadata/annotations/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The annotations of the reservation `id`, well-formed or not.
pub fn keys_of<'n>(annotations: &'n BTreeMap<String, String>, id: &ReservationId) -> Vec<(&'n str, &'n str)> {
    let id = id.to_string();
    let has_id = |key: &str| {
        key.starts_with(names::NODE_PREFIX) && key.split_once('/').is_some_and(|(_, name)| name == id)
    };
    let all = annotations.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    all.filter(|(key, _)| has_id(key)).collect()
}

/// The reservation in these annotations, if they are well-formed.
pub fn reservation_of(keys: &[(&str, &str)]) -> Option<Reservation> {
    parse(keys.iter().copied())
        .iter()
        .find_map(|parsed| parsed.valid())
        .map(|reservation| (**reservation).clone())
}

#[cfg(test)]
mod tests {
    use super::pointer;

    #[test]
    fn keys_are_escaped() {
        assert_eq!(pointer("a/b~c"), "/metadata/annotations/a~1b~0c");
    }
}

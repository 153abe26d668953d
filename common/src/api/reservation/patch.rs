//! The JSON patch that turns the annotations of one reservation into others, on the condition that they are still what was
//! seen. The daemon and the command write nodes with it and with nothing else.

use super::parse;
use crate::api::names;
use crate::model::{Reservation, ReservationId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A node as it was seen.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'n> {
    /// Which node of its name.
    pub uid: &'n str,
    /// The version of the object.
    pub version: &'n str,
    /// All its annotations.
    pub annotations: &'n BTreeMap<String, String>,
}

/// Turns `old` into `new`, provided that `old` is still there; and, `if_unchanged`, that nothing else happened.
pub fn patch(seen: &Seen<'_>, old: &[(&str, &str)], new: &[(String, String)], if_unchanged: bool) -> Value {
    let mut steps = vec![json!({ "op": "test", "path": "/metadata/uid", "value": seen.uid })];
    if if_unchanged {
        steps.push(json!({ "op": "test", "path": "/metadata/resourceVersion", "value": seen.version }));
    }
    for (key, value) in old {
        steps.push(json!({ "op": "test", "path": pointer(key), "value": value }));
    }
    if seen.annotations.is_empty() && !new.is_empty() {
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

/// Where an annotation is, in a JSON patch.
pub fn pointer(key: &str) -> String {
    format!("/metadata/annotations/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The annotations of one reservation, well-formed or not.
pub fn keys_of<'n>(annotations: &'n BTreeMap<String, String>, id: &ReservationId) -> Vec<(&'n str, &'n str)> {
    let id = id.to_string();
    let is_its = |key: &str| {
        key.starts_with(names::NODE_PREFIX) && key.split_once('/').is_some_and(|(_, name)| name == id)
    };
    let all = annotations.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    all.filter(|(key, _)| is_its(key)).collect()
}

/// The reservation that these annotations amount to, if they are one.
pub fn reservation_of(keys: &[(&str, &str)]) -> Option<Reservation> {
    parse(keys.iter().copied()).iter().find_map(|parsed| parsed.valid()).map(|found| (**found).clone())
}

#[cfg(test)]
mod tests {
    use super::pointer;

    #[test]
    fn keys_are_escaped() {
        assert_eq!(pointer("a/b~c"), "/metadata/annotations/a~1b~0c");
    }
}

//! Events are stored once, as those of the core group, and read in the words of either group.

use crate::resources::Resource;
use serde_json::{Value, json};

/// A field as `events.k8s.io` and as the core group call it.
const NAMES: [(&str, &str); 7] = [
    ("note", "message"),
    ("regarding", "involvedObject"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

/// How an object of the kind is stored.
pub(super) fn stored(resource: &Resource) -> impl Fn(Value) -> Value {
    let is_new = resource.is_new_event();
    move |object| if is_new { renamed(object, "v1", |(new, core)| (new, core)) } else { object }
}

/// How a stored object is shown in the words of the kind.
pub(crate) fn shown(resource: &Resource, object: &Value) -> Value {
    match resource.is_new_event() {
        true => renamed(object.clone(), "events.k8s.io/v1", |(new, core)| (core, new)),
        false => object.clone(),
    }
}

fn renamed(
    mut object: Value,
    version: &str,
    way: impl Fn((&'static str, &'static str)) -> (&'static str, &'static str),
) -> Value {
    if let Some(fields) = object.as_object_mut() {
        for (from, to) in NAMES.map(way) {
            if let Some(value) = fields.remove(from).filter(|value| *value != "") {
                fields.insert(to.to_owned(), value);
            }
        }
    }
    object["apiVersion"] = json!(version);
    object
}

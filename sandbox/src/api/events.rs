//! Events are stored as events of the core group, and can be read and written with the field names of both API groups.

use crate::resources::Resource;
use serde_json::{Value, json};

/// The name of a field in `events.k8s.io` and in the core group.
const NAMES: [(&str, &str); 7] = [
    ("note", "message"),
    ("regarding", "involvedObject"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

/// Converts an object of the kind to its stored form.
pub(super) fn to_core(resource: &Resource) -> impl Fn(Value) -> Value {
    let is_new = resource.is_new_event();
    move |object| if is_new { rename_fields(object, "v1", |(new, core)| (new, core)) } else { object }
}

/// Converts a stored object to the form of the kind.
pub(crate) fn for_resource(resource: &Resource, object: &Value) -> Value {
    match resource.is_new_event() {
        true => rename_fields(object.clone(), "events.k8s.io/v1", |(new, core)| (core, new)),
        false => object.clone(),
    }
}

fn rename_fields(
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

//! Compares an object in the cluster with its manifest: every field of the manifest must be there with the same value. Other fields
//! may have been added by the server, by defaulting or by other controllers.

use serde_json::Value;

/// The first field of `wanted` that `live` does not have with the same value, such as `spec.rules[2].verbs`.
pub(crate) fn difference(wanted: &Value, live: &Value) -> Option<String> {
    at(wanted, live, String::new())
}

fn at(wanted: &Value, live: &Value, place: String) -> Option<String> {
    match (wanted, live) {
        (Value::Object(wanted), Value::Object(live)) => wanted.iter().find_map(|(key, value)| {
            let dot = if place.is_empty() { "" } else { "." };
            at(value, live.get(key).unwrap_or(&Value::Null), format!("{place}{dot}{key}"))
        }),
        (Value::Array(wanted), Value::Array(live)) if wanted.len() == live.len() => {
            let mut pairs = wanted.iter().zip(live).enumerate();
            pairs.find_map(|(index, (wanted, live))| at(wanted, live, format!("{place}[{index}]")))
        }
        // The server may drop an empty object.
        (Value::Object(wanted), Value::Null) if wanted.is_empty() => None,
        (wanted, live) if wanted == live => None,
        _ => Some(place),
    }
}

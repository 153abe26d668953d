//! Whether an object in the cluster says what we say: everything that we say is there, and what is there besides was
//! added by the server, by a default, or by somebody whom it concerns.

use serde_json::Value;

/// The first place at which `live` is not what `wanted` says, as `spec.rules[2].verbs`.
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
        // What is empty need not be stored.
        (Value::Object(wanted), Value::Null) if wanted.is_empty() => None,
        (wanted, live) if wanted == live => None,
        _ => Some(place),
    }
}

//! Keeps the fields of a `reserve.info` record that this version does not know. A newer version may write such fields with the same
//! `v`.
//!
//! [`unknown`] extracts these fields when a record is read, and [`merge`] adds them when the record is written again.

use serde_json::{Map, Value};

/// The fields of a record that this version reads.
const RECORD: [&str; 13] = [
    "v",
    "owner",
    "replaces",
    "priority",
    "created",
    "expires",
    "life",
    "request",
    "by",
    "reason",
    "placement",
    "resources",
    "ports",
];

/// The objects inside a record, with the fields of each that this version reads.
const INSIDE: [(&str, &[&str]); 2] =
    [("owner", &["kind", "namespace", "name", "uid"]), ("replaces", &["name", "uid", "seat"])];

/// The unknown fields of the record `json`, as the text of a JSON object in the same shape; `None` if there are none.
pub(super) fn unknown(json: &str) -> Option<Box<str>> {
    let Ok(Value::Object(record)) = serde_json::from_str(json) else { return None };
    let mut rest = without(&record, &RECORD);
    for (name, fields) in INSIDE {
        if let Some(Value::Object(inside)) = record.get(name) {
            let inside = without(inside, fields);
            if !inside.is_empty() {
                rest.insert(name.into(), Value::Object(inside));
            }
        }
    }
    (!rest.is_empty()).then(|| Value::Object(rest).to_string().into())
}

/// The record `known` with the fields of `unknown` added. If both have a field, the value of `known` is kept. An unknown field
/// inside an object that `known` does not have is dropped.
pub(super) fn merge(known: Value, unknown: &str) -> Value {
    let (Value::Object(mut record), Ok(Value::Object(unknown))) =
        (known.clone(), serde_json::from_str(unknown))
    else {
        return known;
    };
    for (name, value) in unknown {
        match (record.get_mut(&name), value) {
            (Some(Value::Object(inside)), Value::Object(more)) => {
                for (name, value) in more {
                    inside.entry(name).or_insert(value);
                }
            }
            (Some(_), _) => {}
            (None, value) if !RECORD.contains(&&*name) => drop(record.insert(name, value)),
            (None, _) => {}
        }
    }
    Value::Object(record)
}

fn without(object: &Map<String, Value>, fields: &[&str]) -> Map<String, Value> {
    let rest = object.iter().filter(|(name, _)| !fields.contains(&name.as_str()));
    rest.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::{merge, unknown};
    use serde_json::{Value, json};

    #[test]
    fn fields_that_nobody_knows_are_found_at_both_levels_and_put_back() {
        let record = json!({ "v": 1, "by": "", "devices": [{ "driver": "gpu" }],
            "owner": { "kind": "Pod", "apiVersion": "v1" }, "replaces": { "name": "a", "zone": "z" } });
        let rest = unknown(&record.to_string()).unwrap();
        let expected = json!({ "devices": [{ "driver": "gpu" }], "owner": { "apiVersion": "v1" },
            "replaces": { "zone": "z" } });
        assert_eq!(serde_json::from_str::<Value>(&rest).unwrap(), expected);
        let known = json!({ "v": 1, "owner": { "kind": "Job" } });
        let merged = json!({ "v": 1, "owner": { "kind": "Job", "apiVersion": "v1" },
            "devices": [{ "driver": "gpu" }] });
        assert_eq!(merge(known, &rest), merged, "what is no longer replaced has no zone");
        assert_eq!(unknown(&json!({ "v": 1, "owner": { "kind": "Pod" }, "ports": [] }).to_string()), None);
    }

    #[test]
    fn a_known_field_is_never_replaced() {
        let known = json!({ "v": 1, "owner": { "kind": "Job" } });
        assert_eq!(merge(known.clone(), r#"{"v":2,"owner":{"kind":"Pod"},"expires":"never"}"#), known);
        assert_eq!(merge(known.clone(), "no JSON"), known);
    }
}

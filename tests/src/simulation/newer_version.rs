//! Simulates a newer version of the daemon, whose records have a field that the current version does not know.

use common::api::names;
use common::api::reservation::INFO_LEN_MAX;
use serde_json::Value;

const FIELD: &str = "laterField";

/// A JSON patch of a node as a newer version of the daemon would write it. That version also knows the limit for records, and
/// leaves the field out if the record would be too long.
pub(super) fn with_newer_field(patch: &Value) -> Value {
    let mut patch = patch.clone();
    for step in patch.as_array_mut().into_iter().flatten() {
        let is_record =
            step["path"].as_str().is_some_and(|path| path.contains(names::INFO)) && step["op"] != "test";
        let record = step["value"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(mut record) = record.filter(|record| is_record && record.is_object()) {
            record[FIELD] = "from a newer version".into();
            let text = record.to_string();
            if text.len() <= INFO_LEN_MAX {
                step["value"] = text.into();
            }
        }
    }
    patch
}

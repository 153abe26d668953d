//! Decodes manifests as the API server does: quantities may be numbers, and with `--validate=strict` a field that the type does not
//! have is an error. Entry point: [`decode`].

use common::model::owner::OwnerKind;
use k8s_openapi::api::{apps::v1 as apps, batch::v1 as batch, core::v1 as core};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The fields whose values are quantities, by resource.
const QUANTITY_MAPS: [&str; 4] = ["limits", "requests", "overhead", "capacity"];

/// The fields that are one quantity.
const QUANTITIES: [&str; 2] = ["sizeLimit", "divisor"];

/// How many unknown fields an error names.
const NAMED_MAX: usize = 5;

/// The manifest of a pod (`None`) or of a workload, with all quantities as strings. Fails, in the words of the API server, if its type
/// does not have a field, or if a value is of another type.
pub(super) fn decode(manifest: &Value, kind: Option<OwnerKind>) -> Result<Value, String> {
    let mut normal = manifest.clone();
    write_quantities(&mut normal);
    let read = match kind {
        None => read::<core::Pod>(&normal),
        Some(OwnerKind::Deployment) => read::<apps::Deployment>(&normal),
        Some(OwnerKind::StatefulSet) => read::<apps::StatefulSet>(&normal),
        Some(OwnerKind::DaemonSet) => read::<apps::DaemonSet>(&normal),
        Some(OwnerKind::ReplicaSet) => read::<apps::ReplicaSet>(&normal),
        Some(OwnerKind::ReplicationController) => read::<core::ReplicationController>(&normal),
        Some(OwnerKind::Job) => read::<batch::Job>(&normal),
        Some(OwnerKind::CronJob) => read::<batch::CronJob>(&normal),
        // Only the definition of a custom resource says which fields it has.
        Some(OwnerKind::Foreign) => return Ok(normal),
    };
    let failed = |why: String| {
        let (version, kind) = (manifest["apiVersion"].as_str(), manifest["kind"].as_str());
        let (version, kind) = (version.unwrap_or_default(), kind.unwrap_or_default());
        format!("{kind} in version {version:?} cannot be handled as a {kind}: {why}")
    };
    let mut unknown = Vec::new();
    unknown_fields(&normal, &read.map_err(failed)?, "", &mut unknown);
    if unknown.is_empty() {
        return Ok(normal);
    }
    let more = unknown.len().saturating_sub(NAMED_MAX);
    let mut named: Vec<String> =
        unknown.iter().take(NAMED_MAX).map(|path| format!("unknown field \"{path}\"")).collect();
    named.extend((more > 0).then(|| format!("and {more} more")));
    Err(failed(format!("strict decoding error: {}", named.join(", "))))
}

/// What is left of the manifest after it was decoded: all fields that the type has.
fn read<T: DeserializeOwned + Serialize>(manifest: &Value) -> Result<Value, String> {
    let object: T = serde_json::from_value(manifest.clone()).map_err(|error| error.to_string())?;
    serde_json::to_value(object).map_err(|error| error.to_string())
}

/// Writes every quantity that is a number as a string: `cpu: 1` means the same as `cpu: "1"`.
fn write_quantities(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::Number(number) if QUANTITIES.contains(&&**name) => {
                        *field = number.to_string().into()
                    }
                    Value::Object(amounts) if QUANTITY_MAPS.contains(&&**name) => {
                        amounts.values_mut().for_each(write_quantity);
                    }
                    _ => write_quantities(field),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(write_quantities),
        _ => {}
    }
}

fn write_quantity(value: &mut Value) {
    if let Value::Number(number) = value {
        *value = number.to_string().into();
    }
}

/// The paths of the fields in `written` that are not in `known`. A field without a value says nothing.
fn unknown_fields(written: &Value, known: &Value, path: &str, unknown: &mut Vec<String>) {
    match (written, known) {
        (Value::Object(fields), Value::Object(known)) => {
            for (name, field) in fields.iter().filter(|(_, field)| !field.is_null()) {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                match known.get(name) {
                    Some(known) => unknown_fields(field, known, &path, unknown),
                    None => unknown.push(path),
                }
            }
        }
        (Value::Array(elements), Value::Array(known)) => {
            for (at, (element, known)) in elements.iter().zip(known).enumerate() {
                unknown_fields(element, known, &format!("{path}[{at}]"), unknown);
            }
        }
        _ => {}
    }
}

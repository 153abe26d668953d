//! I6: our programs write to nodes only guarded JSON patches of their own annotations.

use super::{CheckSettings, Counts, History, Version, VersionedObject, Violation};
use crate::control_plane::Write;
use common::api::names;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The beginning of our command's User-Agent.
const COMMAND: &str = "kubectl-reserve";
const ANNOTATIONS: &str = "/metadata/annotations/";

/// Whether our command sent this write.
pub(super) fn is_of_command(write: &Write) -> bool {
    write.user_agent.starts_with(COMMAND)
}

/// Checks all writes to nodes by our programs.
pub(super) fn check(history: &History, settings: &CheckSettings, counts: &mut Counts) -> Vec<Violation> {
    let mut versions: Vec<&Version> = history.versions.iter().collect();
    versions.sort_by_key(|version| version.revision);
    let mut last: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut steps: BTreeMap<u64, (Option<&Value>, &Value)> = BTreeMap::new();
    for version in versions {
        if let VersionedObject::Node(node, json) = &version.object {
            let before = last.insert(node.name.as_str(), json);
            steps.insert(version.revision, (before, json));
        }
    }
    let ours = |write: &&Write| settings.daemons.contains(&write.user) || is_of_command(write);
    let writes = history.writes.iter().filter(|write| write.resource.split('/').next() == Some("nodes"));
    let mut violations = Vec::new();
    for write in writes.filter(ours).filter(|write| write.is_stored()).filter(|write| !is_cordon(write)) {
        let revision = write.resource_version_after.as_ref().and_then(|text| text.parse().ok()).unwrap_or(0);
        counts.check("I6");
        let unguarded = unguarded(write);
        let foreign = steps.get(&revision).and_then(|(before, after)| foreign(before.as_ref()?, after));
        let stripped = steps
            .get(&revision)
            .and_then(|(before, after)| stripped(&annotations(before.as_ref()?), &annotations(after)));
        for what in unguarded.into_iter().chain(foreign).chain(stripped) {
            violations.push(Violation::new(
                "I6",
                revision,
                format!("{} wrote {}: {what}", write.user, write.name),
            ));
        }
    }
    violations
}

/// Whether the write only cordons the node, as `kubectl reserve drain` does.
fn is_cordon(write: &Write) -> bool {
    is_of_command(write) && write.request_object == Some(json!({ "spec": { "unschedulable": true } }))
}

/// What is wrong with the form of a write: it must be a JSON patch that tests what it removes or replaces.
fn unguarded(write: &Write) -> Option<String> {
    let Some(operations) = write.request_object.as_ref().and_then(Value::as_array) else {
        return Some(format!("{} is no JSON patch", write.verb));
    };
    let text = |operation: &Value, field: &str| operation[field].as_str().unwrap_or_default().to_owned();
    let mut tested: Vec<String> = Vec::new();
    for operation in operations {
        let (verb, path) = (text(operation, "op"), text(operation, "path"));
        if verb == "test" {
            tested.push(path);
            continue;
        }
        let is_own = path.strip_prefix(ANNOTATIONS).is_some_and(|key| key.starts_with(names::NODE_PREFIX));
        if !is_own {
            return Some(format!("{verb} {path} is not ours to write"));
        }
        if verb != "add" && !tested.contains(&path) {
            return Some(format!("{verb} {path} without a test of what was there"));
        }
    }
    tested.is_empty().then(|| "nothing is tested".to_owned())
}

fn annotations(node: &Value) -> BTreeMap<String, String> {
    let all = node["metadata"]["annotations"].as_object().into_iter().flatten();
    all.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

/// The field that a rewritten record has lost: a writer must also keep fields that it does not know. A record of another request
/// under the same key is a new record, which need not have the fields of the old one.
pub fn stripped(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Option<String> {
    let parsed = |text: &String| serde_json::from_str::<Value>(text).ok();
    let records = after.iter().filter(|(key, _)| key.starts_with(names::INFO));
    let mut rewritten = records.filter_map(|(key, new)| Some((key, before.get(key)?, new)));
    rewritten.find_map(|(key, old, new)| {
        let (old, new) = (parsed(old).filter(|_| old != new)?, parsed(new)?);
        let fields = old.as_object().filter(|_| old["request"] == new["request"])?;
        let lost = fields.keys().find(|field| new.get(*field).is_none())?;
        Some(format!("{key} is rewritten without the field {lost}"))
    })
}

/// Whether two versions of a node differ in anything but our own annotations; as a message.
fn foreign(before: &Value, after: &Value) -> Option<String> {
    let aside = |node: &Value| {
        let mut node = node.clone();
        // Objects of a list have no kind, objects of a watch have one.
        if let Some(fields) = node.as_object_mut() {
            fields.retain(|field, _| field != "kind" && field != "apiVersion");
        }
        if let Some(metadata) = node["metadata"].as_object_mut() {
            metadata.retain(|field, _| field != "resourceVersion" && field != "managedFields");
            if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
                annotations.retain(|key, _| !key.starts_with(names::NODE_PREFIX));
            }
        }
        node
    };
    (aside(before) != aside(after)).then(|| "something that is not ours changed with it".to_owned())
}

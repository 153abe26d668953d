//! JSON patch, merge patch, and strategic merge patch.

use crate::refusal::{Answer, Refusal};
use http::StatusCode;
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patch {
    Json,
    Merge,
    Strategic,
}

impl Patch {
    /// The type by the content type; `None` for others, also for server-side apply.
    pub(crate) fn of(content_type: &str) -> Option<Self> {
        match content_type.split(';').next().unwrap_or("").trim() {
            "application/json-patch+json" => Some(Self::Json),
            "application/merge-patch+json" => Some(Self::Merge),
            "application/strategic-merge-patch+json" => Some(Self::Strategic),
            _ => None,
        }
    }

    pub(crate) fn apply(self, mut object: Value, patch: &Value) -> Answer<Value> {
        match self {
            Self::Json => json_patch(&mut object, patch)?,
            _ => merge(&mut object, patch, self == Self::Strategic),
        }
        Ok(object)
    }
}

/// Merges a patch into an object. A strategic merge patch merges some lists, and has directives that begin with `$`.
fn merge(target: &mut Value, patch: &Value, is_strategic: bool) {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() || patch.get("$patch").is_some_and(|word| word == "replace") {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (key, value) in patch {
        let elements = value.as_array().filter(|_| is_strategic);
        match (elements, merge_key(key), key.strip_prefix("$deleteFromPrimitiveList/")) {
            (Some(gone), _, Some(field)) => {
                let found = target.get_mut(field).and_then(Value::as_array_mut);
                found.into_iter().for_each(|found| found.retain(|one| !gone.contains(one)));
            }
            _ if is_strategic && key.starts_with('$') => {}
            (Some(elements), Some(by), _) => {
                if let Value::Array(found) = target.entry(key).or_insert_with(|| Value::Array(Vec::new())) {
                    join(found, elements, by);
                }
            }
            _ if value.is_null() => drop(target.remove(key)),
            _ => merge(target.entry(key).or_insert(Value::Null), value, is_strategic),
        }
    }
}

/// The merge key of a list field; empty: elements are compared as a whole. `None`: the list is replaced.
fn merge_key(field: &str) -> Option<&'static str> {
    const NAMED: &str =
        "containers initContainers env volumes imagePullSecrets schedulingGates containerStatuses";
    match field {
        "conditions" | "addresses" => Some("type"),
        "volumeMounts" => Some("mountPath"),
        "ownerReferences" => Some("uid"),
        "ports" => Some("containerPort"),
        "finalizers" => Some(""),
        _ => NAMED.split(' ').any(|named| named == field).then_some("name"),
    }
}

/// Merges the elements of a patch into a list with the merge key `by`. As upstream, new elements come first.
fn join(found: &mut Vec<Value>, elements: &[Value], by: &str) {
    let id = |one: &Value| if by.is_empty() { one.clone() } else { one[by].clone() };
    let before: Vec<Value> = found.iter().map(id).collect();
    for element in elements {
        let at = found.iter().position(|one| id(one) == id(element));
        match at {
            Some(at) if element.get("$patch").is_some_and(|word| word == "delete") => drop(found.remove(at)),
            Some(at) => merge(&mut found[at], element, true),
            None => found.push(element.clone()),
        }
    }
    if !by.is_empty() {
        found.sort_by_key(|one| before.contains(&id(one)));
    }
}

fn json_patch(object: &mut Value, patch: &Value) -> Answer<()> {
    let broken = || Refusal::bad_request("error decoding patch: it is no list of operations");
    for operation in patch.as_array().ok_or_else(broken)? {
        let word = |name: &str| operation.get(name).and_then(Value::as_str);
        let (op, path) = word("op").zip(word("path")).ok_or_else(broken)?;
        let value = || operation.get("value").cloned();
        let from = || word("from").and_then(|from| object.pointer(from).cloned());
        let is_done = match op {
            "test" => object.pointer(path).unwrap_or(&Value::Null) == &value().unwrap_or(Value::Null),
            "add" => value().is_some_and(|value| put(object, path, value, false)),
            "replace" => value().is_some_and(|value| put(object, path, value, true)),
            "remove" => take(object, path),
            "copy" => from().is_some_and(|value| put(object, path, value, false)),
            "move" => match from() {
                Some(value) => take(object, word("from").unwrap_or("")) && put(object, path, value, false),
                None => false,
            },
            _ => return Err(broken()),
        };
        if !is_done {
            return Err(failed());
        }
    }
    Ok(())
}

fn failed() -> Refusal {
    let message = "the server rejected our request due to an error in our request";
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
}

/// The parent of the value at `path`, and the last part of the path.
fn parent<'a>(object: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let (parent, last) = path.rsplit_once('/')?;
    Some((object.pointer_mut(parent)?, last.replace("~1", "/").replace("~0", "~")))
}

fn put(object: &mut Value, path: &str, value: Value, is_there: bool) -> bool {
    if path.is_empty() {
        *object = value;
        return true;
    }
    match parent(object, path) {
        Some((Value::Object(map), last)) if !is_there || map.contains_key(&last) => {
            map.insert(last, value);
            true
        }
        Some((Value::Array(list), last)) => {
            let at = if last == "-" { Some(list.len()) } else { last.parse::<usize>().ok() };
            match at {
                Some(at) if is_there && at < list.len() => list[at] = value,
                Some(at) if !is_there && at <= list.len() => list.insert(at, value),
                _ => return false,
            }
            true
        }
        _ => false,
    }
}

fn take(object: &mut Value, path: &str) -> bool {
    match parent(object, path) {
        Some((Value::Object(map), last)) => map.remove(&last).is_some(),
        Some((Value::Array(list), last)) => {
            last.parse::<usize>().ok().filter(|at| *at < list.len()).map(|at| list.remove(at)).is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::Patch;
    use serde_json::{Value, json};

    #[expect(clippy::needless_pass_by_value, reason = "patches are written as a table, by value")]
    fn patched(how: Patch, object: Value, patch: Value) -> Result<Value, u16> {
        how.apply(object, &patch).map_err(|refusal| refusal.code.as_u16())
    }

    #[test]
    fn a_merge_patch_replaces_lists_and_null_removes() {
        let object = json!({ "a": { "b": 1, "c": 2 }, "l": [1, 2] });
        let patch = json!({ "a": { "b": null, "d": 3 }, "l": [3], "x": { "y": { "z": null } } });
        let expected = json!({ "a": { "c": 2, "d": 3 }, "l": [3], "x": { "y": {} } });
        assert_eq!(patched(Patch::Merge, object, patch), Ok(expected));
    }

    #[test]
    fn a_strategic_patch_joins_lists() {
        let object = json!({ "spec": { "containers": [{ "name": "a", "image": "x" }, { "name": "b" }], "args": [1] },
            "status": { "conditions": [{ "type": "Ready", "status": "True" }] }, "metadata": { "finalizers": ["f", "g"] } });
        let patch = json!({ "spec": { "containers": [{ "name": "a", "image": "y" }, { "name": "b", "$patch": "delete" }, { "name": "c" }],
                            "$setElementOrder/containers": [], "args": [2] },
            "status": { "conditions": [{ "type": "PodScheduled", "status": "False" }] },
            "metadata": { "$deleteFromPrimitiveList/finalizers": ["f"], "finalizers": ["h"] } });
        let expected = json!({ "spec": { "containers": [{ "name": "c" }, { "name": "a", "image": "y" }], "args": [2] },
            "status": { "conditions": [{ "type": "PodScheduled", "status": "False" }, { "type": "Ready", "status": "True" }] },
            "metadata": { "finalizers": ["g", "h"] } });
        assert_eq!(patched(Patch::Strategic, object, patch), Ok(expected));
    }

    #[test]
    fn a_json_patch_does_all_or_nothing() {
        let object = || json!({ "m": { "a/b": "1" }, "l": [1, 3] });
        let step = |op: &str, path: &str, value: Value| json!({ "op": op, "path": path, "value": value });
        let good = json!([step("test", "/m/a~1b", json!("1")), step("add", "/l/1", json!(2)), step("add", "/l/-", json!(4)),
            step("replace", "/l/0", json!(0)), { "op": "remove", "path": "/m/a~1b" }, { "op": "copy", "from": "/l/0", "path": "/m/c" }]);
        assert_eq!(patched(Patch::Json, object(), good), Ok(json!({ "m": { "c": 0 }, "l": [0, 2, 3, 4] })));
        let refused = [
            step("test", "/m/a~1b", json!("2")),
            step("replace", "/m/x", json!(1)),
            step("add", "/x/y", json!(1)),
            step("add", "/l/9", json!(1)),
            json!({ "op": "remove", "path": "/m/x" }),
        ];
        for step in refused {
            assert_eq!(patched(Patch::Json, object(), json!([step])), Err(422), "{step}");
        }
        for odd in [json!({}), json!([{ "op": "dance", "path": "/m" }]), json!([{ "op": "add" }])] {
            assert_eq!(patched(Patch::Json, object(), odd), Err(400));
        }
    }
}

//! Strategic merge patches, as in kustomize: maps are merged, and so are lists whose items have a merge key; any other list is
//! replaced.

use serde_json::Value;

/// Lists that are merged, with the merge key of their items.
const MERGED: [(&str, &str); 4] =
    [("containers", "name"), ("ports", "containerPort"), ("volumeMounts", "mountPath"), ("volumes", "name")];

/// Merges `patch` into the object of its kind and name.
pub(super) fn apply(objects: &mut [Value], patch: &Value) -> Result<(), String> {
    let is_it = |object: &&mut Value| {
        object["kind"] == patch["kind"] && object["metadata"]["name"] == patch["metadata"]["name"]
    };
    let object = objects.iter_mut().find(is_it);
    let object = object.ok_or_else(|| format!("nothing to lay {} over", patch["metadata"]["name"]))?;
    merge(object, patch);
    Ok(())
}

fn merge(base: &mut Value, patch: &Value) {
    let (Value::Object(base), Value::Object(patch)) = (&mut *base, patch) else {
        *base = patch.clone();
        return;
    };
    for (key, value) in patch {
        let known = base.entry(key.clone()).or_insert(Value::Null);
        match MERGED.iter().find(|(list, _)| list == key) {
            Some((_, name)) if has_names(value, name) => merge_list(known, value, name),
            _ => merge(known, value),
        }
    }
}

fn has_names(list: &Value, name: &str) -> bool {
    list.as_array().is_some_and(|items| items.iter().all(|item| item.get(name).is_some()))
}

fn merge_list(base: &mut Value, patch: &Value, name: &str) {
    let mut items = base.as_array().cloned().unwrap_or_default();
    // New items come first, in the order of the patch.
    let mut all = Vec::new();
    for item in patch.as_array().into_iter().flatten() {
        match items.iter_mut().find(|known| known[name] == item[name]) {
            Some(known) => merge(known, item),
            None => all.push(item.clone()),
        }
    }
    all.extend(items);
    *base = Value::Array(all);
}

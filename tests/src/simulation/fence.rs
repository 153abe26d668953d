//! The policy `reserve-fence`, as far as both tiers need it: a replica that does not hold the Lease may only add reservations.

use serde_json::Value;

/// Whether a patch of a node by one of our programs only adds annotations: a patch tests each annotation that it changes or
/// removes.
pub(super) fn only_adds(patch: &Value) -> bool {
    let steps = patch.as_array().map(Vec::as_slice).unwrap_or_default();
    let is_about_old = |step: &Value| {
        step["op"] != "add"
            && step["path"].as_str().is_some_and(|path| path.starts_with("/metadata/annotations"))
    };
    !steps.is_empty() && !steps.iter().any(is_about_old)
}

#[cfg(test)]
mod tests {
    use super::only_adds;
    use serde_json::json;

    #[test]
    fn what_is_tested_is_changed() {
        let uid = json!({ "op": "test", "path": "/metadata/uid", "value": "u" });
        let add = json!({ "op": "add", "path": "/metadata/annotations/reserve.cpu~1u.a", "value": "1" });
        let test = json!({ "op": "test", "path": "/metadata/annotations/reserve.cpu~1u.a", "value": "1" });
        let remove = json!({ "op": "remove", "path": "/metadata/annotations/reserve.cpu~1u.a" });
        assert!(only_adds(&json!([uid, add])));
        assert!(!only_adds(&json!([uid, test, add])));
        assert!(!only_adds(&json!([uid, remove])));
        assert!(!only_adds(&json!({ "metadata": { "annotations": { "reserve.cpu/u.a": "1" } } })));
    }
}

//! Changes of the pod template of a workload, so that all of its pods get them.

use super::describe::{kubectl_in, right};
use crate::explain::input::Input;
use crate::explain::report::RequiredRight;
use common::model::owner::OwnerKind;
use serde_json::{Value, json};

/// The taints that the API server lets every pod tolerate for some minutes, unless its template says something else about them.
const TOLERATED_BY_DEFAULT: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/// Whether the pods of such a workload are replaced when its template changes.
pub(super) fn is_rolled_out(kind: OwnerKind) -> bool {
    matches!(kind, OwnerKind::Deployment | OwnerKind::StatefulSet | OwnerKind::DaemonSet)
}

/// The patch of a workload that adds tolerations to its template. A patch replaces the whole list, so those that the pod has from its
/// template are part of it. `None` if `pod` is not the JSON of a pod.
pub(super) fn with_tolerations(pod: &Value, new: Vec<Value>) -> Option<Value> {
    let is_own = |one: &&Value| {
        let is_default =
            one["effect"] == "NoExecute" && one["operator"] == "Exists" && one["tolerationSeconds"] == 300;
        !is_default || !TOLERATED_BY_DEFAULT.iter().any(|key| one["key"] == *key)
    };
    let own = pod.get("spec")?.get("tolerations").and_then(Value::as_array);
    let all: Vec<Value> = own.into_iter().flatten().filter(is_own).cloned().chain(new).collect();
    Some(json!({ "spec": { "template": { "spec": { "tolerations": all } } } }))
}

/// The command that deletes the pod, and the right for it: a StatefulSet does not replace a pod that never became ready.
pub(super) fn delete_pod(input: &Input<'_>) -> (Vec<String>, RequiredRight) {
    let key = &input.pod.key;
    let words = ["delete".to_owned(), "pod".to_owned(), key.name.to_string()];
    (kubectl_in(input, &key.namespace, &words), right("delete", "pods", Some(&key.namespace)))
}

#[cfg(test)]
mod tests {
    use super::with_tolerations;
    use serde_json::json;

    #[test]
    fn a_patch_keeps_what_the_template_has_and_leaves_out_what_admission_added() {
        let default = |key: &str| json!({ "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 });
        let own = json!({ "key": "spot", "operator": "Exists" });
        let longer = json!({ "key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 900 });
        let all = json!([
            own,
            default("node.kubernetes.io/not-ready"),
            default("node.kubernetes.io/unreachable"),
            longer
        ]);
        let new = json!({ "key": "dedicated", "value": "db" });
        let patch = with_tolerations(&json!({ "spec": { "tolerations": all } }), vec![new.clone()]).unwrap();
        assert_eq!(patch["spec"]["template"]["spec"]["tolerations"], json!([own, longer, new]));
        assert_eq!(with_tolerations(&json!({}), vec![]), None);
    }
}

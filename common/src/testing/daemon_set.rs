//! Builders of DaemonSets and their pods.

use super::{PodBuilder, uid};
use crate::api;
use crate::model::owner::{OwnerKind, Workload};
use serde_json::{Value, json};

/// A DaemonSet in the namespace `default` with the spec of `template`, which selects pods by `labels`.
pub(crate) fn daemon_set(name: &str, template: &PodBuilder, labels: &[(&str, &str)]) -> Workload {
    let selector: Value = labels.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    let json = json!({
        "metadata": { "name": name, "namespace": "default", "resourceVersion": "1",
                      "uid": uid(&format!("DaemonSet/{name}")).to_string() },
        "spec": { "selector": { "matchLabels": selector }, "template": { "spec": template.0["spec"] } },
    });
    api::workload::workload(OwnerKind::DaemonSet, &json.to_string()).unwrap()
}

impl PodBuilder {
    /// Has the node affinity to `node` that a DaemonSet's controller adds.
    pub(crate) fn tied_to(self, node: &str) -> Self {
        let field = json!({ "key": "metadata.name", "operator": "In", "values": [node] });
        let required = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
        self.with(required, json!({ "nodeSelectorTerms": [{ "matchFields": [field] }] }))
    }
}

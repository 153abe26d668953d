//! The controller of ReplicaSets.

use super::{delete_pod, is_active, is_ready, owned, pod_of};
use crate::api::{State, kind, pods};
use crate::value::{is_deleting, name, namespace, number, text};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn run(state: &mut State) {
    let resource = kind("apps", "replicasets");
    for set in state.all(resource) {
        let mut active = owned(state, pods(), &set);
        active.retain(|pod| is_active(pod));
        if !is_deleting(&set) {
            create_or_delete_pods(state, &set, &mut active);
        }
        let count = |test: fn(&Value) -> bool| active.iter().filter(|pod| test(pod)).count();
        let status = json!({
            "replicas": active.len(), "fullyLabeledReplicas": active.len(), "readyReplicas": count(is_ready),
            "availableReplicas": count(is_ready), "observedGeneration": set["metadata"]["generation"],
        });
        state.set_status(resource, &set, status);
    }
}

/// Creates missing pods, or deletes surplus pods.
fn create_or_delete_pods(state: &mut State, set: &Value, active: &mut Vec<Arc<Value>>) {
    let wanted = usize::try_from(number(set, "/spec/replicas").unwrap_or(0)).unwrap_or(0);
    while active.len() < wanted {
        let mut pod = pod_of(kind("apps", "replicasets"), set);
        pod["metadata"]["generateName"] = format!("{}-", name(set)).into();
        match state.create(pods(), namespace(set), pod, false) {
            Ok(pod) => active.push(pod),
            // The namespace is being deleted.
            Err(_) => return,
        }
    }
    // Pods that are not bound, not running or not ready are deleted first; then the youngest.
    active.sort_by_key(|pod| {
        let (is_bound, is_running) =
            (!text(pod, "/spec/nodeName").is_empty(), text(pod, "/status/phase") == "Running");
        (
            std::cmp::Reverse((is_bound, is_running, is_ready(pod))),
            text(pod, "/metadata/creationTimestamp").to_owned(),
        )
    });
    for pod in active.drain(wanted..).rev() {
        delete_pod(state, &pod);
    }
}

//! The controller of StatefulSets: pods with ordinals, in order, each recreated under its own name.

use super::{delete_pod, is_active, is_ended, is_ready, owned, pod_of};
use crate::api::{State, kind, pods};
use crate::value::{hash, is_deleting, name, namespace, number, text};
use serde_json::{Value, json};
use std::sync::Arc;

const REVISION: &str = "controller-revision-hash";

pub(super) fn run(state: &mut State) {
    let resource = kind("apps", "statefulsets");
    for set in state.all(resource) {
        let mut found = owned(state, pods(), &set);
        found.sort_by_key(|pod| ordinal(pod));
        let revision = format!("{}-{}", name(&set), hash(&set["spec"]["template"]));
        if !is_deleting(&set) {
            step(state, &set, &found, &revision);
        }
        let count = |test: &dyn Fn(&Value) -> bool| found.iter().filter(|pod| test(pod)).count();
        let is_updated = |pod: &Value| pod["metadata"]["labels"][REVISION] == *revision;
        let status = json!({
            "replicas": found.len(), "readyReplicas": count(&is_ready), "availableReplicas": count(&is_ready),
            "updatedReplicas": count(&is_updated), "currentReplicas": count(&is_updated), "updateRevision": revision,
            "currentRevision": revision, "observedGeneration": set["metadata"]["generation"], "collisionCount": 0,
        });
        state.set_status(resource, &set, status);
    }
}

fn ordinal(pod: &Value) -> i64 {
    name(pod).rsplit_once('-').and_then(|(_, number)| number.parse().ok()).unwrap_or(-1)
}

/// Takes the next step: creates the first missing pod, else deletes the last surplus pod, else deletes an outdated pod.
fn step(state: &mut State, set: &Value, found: &[Arc<Value>], revision: &str) {
    let wanted = number(set, "/spec/replicas").unwrap_or(1);
    let is_parallel = text(set, "/spec/podManagementPolicy") == "Parallel";
    for number in 0..wanted {
        match found.iter().find(|pod| ordinal(pod) == number) {
            None => create_pod(state, set, number, revision),
            // It is recreated under the same name once it is gone.
            Some(pod) if is_ended(pod) && !is_deleting(pod) => delete_pod(state, pod),
            Some(pod) if is_active(pod) && is_ready(pod) => continue,
            Some(_) => {}
        }
        if !is_parallel {
            return;
        }
    }
    let surplus = found.iter().rev().filter(|pod| ordinal(pod) >= wanted);
    let is_old = |pod: &&Arc<Value>| pod["metadata"]["labels"][REVISION] != *revision;
    let is_rolled = text(set, "/spec/updateStrategy/type") != "OnDelete";
    let old = found.iter().rev().filter(is_old).filter(|_| is_rolled);
    let Some(next) = surplus.chain(old).next() else { return };
    if found.iter().all(|pod| is_active(pod)) {
        delete_pod(state, next);
    }
}

fn create_pod(state: &mut State, set: &Value, number: i64, revision: &str) {
    let mut pod = pod_of(kind("apps", "statefulsets"), set);
    let called = format!("{}-{number}", name(set));
    pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"] = called.as_str().into();
    pod["metadata"]["labels"]["apps.kubernetes.io/pod-index"] = number.to_string().into();
    pod["metadata"]["labels"][REVISION] = revision.into();
    pod["metadata"]["name"] = called.as_str().into();
    pod["spec"]["hostname"] = called.into();
    let _ = state.create(pods(), namespace(set), pod, false);
}

//! The controllers and kubelets: plain functions over the state, each of which looks at all it is about and takes the next
//! step. Nobody remembers anything; [`pump`] repeats them until nothing more is to be done.

mod budget;
mod deployment;
mod kubelet;
mod owners;
mod replicas;
mod stateful;

pub use kubelet::Pace;

use crate::api::{DeleteOptions, State, pods};
use crate::resources::Resource;
use crate::store::Key;
use crate::value::{condition, is_controlled_by, is_deleting, name, namespace, text, uid};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

/// Rounds after which controllers that undo each other's work are left alone.
const ROUNDS_MAX: usize = 1000;

/// Does all that is to be done by now. Returns when something more will be due by itself.
pub(crate) fn pump(state: &mut State, pace: Pace) -> Option<Timestamp> {
    let mut due = None;
    for _ in 0..ROUNDS_MAX {
        let before = state.store.revision();
        deployment::run(state);
        replicas::run(state);
        stateful::run(state);
        budget::run(state);
        owners::run(state);
        due = kubelet::run(state, pace);
        if state.store.revision() == before {
            break;
        }
    }
    due
}

/// Whether a pod is still to come, or there.
fn is_active(pod: &Value) -> bool {
    !is_deleting(pod) && !is_ended(pod)
}

/// Whether a pod will do nothing more.
fn is_ended(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

fn is_ready(pod: &Value) -> bool {
    condition(pod, "Ready") == "True"
}

/// All objects of a kind that `owner` controls.
fn owned(state: &State, resource: &'static Resource, owner: &Value) -> Vec<Arc<Value>> {
    let is_owned = |one: &&Arc<Value>| namespace(one) == namespace(owner) && is_controlled_by(one, owner);
    state.store.all(resource).filter(is_owned).cloned().collect()
}

/// The entry of `ownerReferences` that says who controls an object.
fn owner_reference(resource: &Resource, owner: &Value) -> Value {
    json!({ "apiVersion": resource.api_version(), "kind": resource.kind, "name": name(owner), "uid": uid(owner),
            "controller": true, "blockOwnerDeletion": true })
}

/// A pod as the template of its owner says.
fn pod_of(resource: &Resource, owner: &Value) -> Value {
    let template = &owner["spec"]["template"];
    let mut pod = json!({ "metadata": template["metadata"], "spec": template["spec"] });
    if !pod["metadata"].is_object() {
        pod["metadata"] = json!({});
    }
    pod["metadata"]["ownerReferences"] = json!([owner_reference(resource, owner)]);
    pod
}

fn delete_pod(state: &mut State, pod: &Value) {
    // Somebody else may have been faster.
    let _ = state.delete(&Key::of(pods(), pod), &DeleteOptions::only(pod));
}

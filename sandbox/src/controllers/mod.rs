//! The controllers and kubelets: functions over the state. Each reads all objects of its kind and takes the next step, without
//! memory between calls. Entry point: [`reconcile`], which repeats them until nothing changes.

mod budget;
mod deployment;
mod garbage_collector;
mod kubelet;
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

/// The most rounds, in case controllers undo each other's work for ever.
const ROUNDS_MAX: usize = 1000;

/// Runs all controllers until nothing more is to be done now. Returns when a pod is due next.
pub(crate) fn reconcile(state: &mut State, pace: Pace) -> Option<Timestamp> {
    let mut due = None;
    for _ in 0..ROUNDS_MAX {
        let before = state.store.revision();
        deployment::run(state);
        replicas::run(state);
        stateful::run(state);
        budget::run(state);
        garbage_collector::run(state);
        due = kubelet::run(state, pace);
        if state.store.revision() == before {
            break;
        }
    }
    due
}

/// Whether a pod has not ended and is not being deleted.
fn is_active(pod: &Value) -> bool {
    !is_deleting(pod) && !is_ended(pod)
}

fn is_ended(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

fn is_ready(pod: &Value) -> bool {
    condition(pod, "Ready") == "True"
}

fn owned(state: &State, resource: &'static Resource, owner: &Value) -> Vec<Arc<Value>> {
    let is_owned = |one: &&Arc<Value>| namespace(one) == namespace(owner) && is_controlled_by(one, owner);
    state.store.all(resource).filter(is_owned).cloned().collect()
}

/// An entry of `ownerReferences` for the controller of an object.
fn owner_reference(resource: &Resource, owner: &Value) -> Value {
    json!({ "apiVersion": resource.api_version(), "kind": resource.kind, "name": name(owner), "uid": uid(owner),
            "controller": true, "blockOwnerDeletion": true })
}

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
    // The pod may be gone already.
    let _ = state.delete(&Key::of(pods(), pod), &DeleteOptions::only(pod));
}

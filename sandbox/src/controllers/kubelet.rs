//! The kubelets, one for each node: they start bound pods, refuse pods for which there is no room, and stop deleted pods within
//! the grace period. A kubelet works unless the condition Ready of its node is False or Unknown.

use super::is_ended;
use crate::api::{DeleteOptions, State, kind, pods};
use crate::store::Key;
use crate::value::{condition, is_deleting, list, name, number, second, set_condition, text, time};
use common::model::{ResourceName, Resources};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How long kubelets take to start and stop pods.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The time from the binding until the pod runs.
    pub start: Duration,
    /// The time from the deletion until the pod is gone, unless its grace period is shorter.
    pub stop: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { start: Duration::from_secs(1), stop: Duration::from_secs(2) }
    }
}

/// Runs all kubelets. Returns when the next pod is due.
pub(super) fn run(state: &mut State, pace: Pace) -> Option<Timestamp> {
    let mut due = Vec::new();
    for node in state.all(kind("", "nodes")) {
        register_node(state, &node);
        if matches!(condition(&node, "Ready"), "False" | "Unknown") {
            continue;
        }
        let of_node: Vec<Arc<Value>> = state
            .store
            .all(pods())
            .filter(|pod| text(pod, "/spec/nodeName") == name(&node))
            .cloned()
            .collect();
        due.extend(of_node.iter().filter_map(|pod| sync_pod(state, &node, pod, pace)));
    }
    due.into_iter().min()
}

/// Sets the status of a new node: a node without the condition Ready becomes ready.
fn register_node(state: &mut State, node: &Value) {
    if !condition(node, "Ready").is_empty() {
        return;
    }
    let mut status = if node["status"].is_object() { node["status"].clone() } else { json!({}) };
    if status["allocatable"].is_null() {
        status["allocatable"] = status["capacity"].clone();
    }
    status["nodeInfo"] = json!({
        "kubeletVersion": "sandbox", "osImage": "none", "kernelVersion": "none", "containerRuntimeVersion": "none",
        "architecture": "", "bootID": "", "kubeProxyVersion": "", "machineID": "", "operatingSystem": "", "systemUUID": "",
    });
    let ready = json!({ "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "the sandbox's kubelet is ready" });
    set_condition(&mut status, ready, state.now);
    state.set_status(kind("", "nodes"), node, status);
}

/// Does what is due for a pod, or returns when it will be due.
fn sync_pod(state: &mut State, node: &Value, pod: &Value, pace: Pace) -> Option<Timestamp> {
    let started = time(pod, "/status/startTime");
    let (at, act): (Timestamp, fn(&mut State, &Value)) = if is_deleting(pod) {
        (end_time(pod, pace, started), finish_pod)
    } else if is_ended(pod) || text(pod, "/status/phase") == "Running" {
        return None;
    } else if let Some(started) = started {
        (later(started, pace.start), start_pod)
    } else {
        admit(state, node, pod);
        return None;
    };
    if at > state.now {
        return Some(at);
    }
    act(state, pod);
    None
}

fn later(time: Timestamp, by: Duration) -> Timestamp {
    time.saturating_add(by).unwrap_or(time)
}

/// When a pod that is being deleted is gone: when it has stopped, at the latest at the end of its grace period.
fn end_time(pod: &Value, pace: Pace, started: Option<Timestamp>) -> Timestamp {
    let last = time(pod, "/metadata/deletionTimestamp").unwrap_or_default();
    let grace = SignedDuration::from_secs(number(pod, "/metadata/deletionGracePeriodSeconds").unwrap_or(0));
    let begun = last.checked_sub(grace).unwrap_or(last);
    if started.is_none() || is_ended(pod) { begun } else { later(begun, pace.stop).min(last) }
}

fn finish_pod(state: &mut State, pod: &Value) {
    let options = DeleteOptions { grace: Some(0), ..DeleteOptions::only(pod) };
    let _ = state.delete(&Key::of(pods(), pod), &options);
}

/// Accepts a pod if there is room for it, else lets it fail.
fn admit(state: &mut State, node: &Value, pod: &Value) {
    let mut status = pod["status"].clone();
    match missing_resource(state, node, pod) {
        Some((resource, why)) => {
            status["phase"] = "Failed".into();
            status["reason"] = format!("OutOf{resource}").into();
            status["message"] =
                format!("Pod was rejected: Node didn't have enough resource: {resource}, {why}").into();
        }
        None => {
            let waiting = json!({ "waiting": { "reason": "ContainerCreating" } });
            status["containerStatuses"] = containers(pod, false, &waiting);
        }
    }
    let now = state.now;
    set_condition(&mut status, json!({ "type": "PodScheduled", "status": "True" }), now);
    status["startTime"] = second(now);
    state.set_status(pods(), pod, status);
}

/// The resource of which the node has too little for the pod, beside the accepted pods, and a message with the numbers.
fn missing_resource(state: &State, node: &Value, pod: &Value) -> Option<(String, String)> {
    let asks = requests(pod)?;
    let allocatable = common::api::node::node(&node.to_string()).ok()?.allocatable;
    let mut used = Resources::default();
    let is_here = |one: &Value| text(one, "/spec/nodeName") == name(node) && !is_ended(one);
    let is_taken = |one: &&Arc<Value>| is_here(one) && !text(one, "/status/startTime").is_empty();
    let taken = state.store.all(pods()).filter(is_taken).filter_map(|one| requests(one));
    taken.for_each(|one| used.add_assign(&one));
    let is_short =
        |(resource, amount): &(ResourceName, i64)| used.get(resource) + amount > allocatable.get(resource);
    let mut short = asks.iter().filter(|(_, amount)| *amount > 0).filter(is_short);
    let (resource, amount) = short.next()?;
    let (used, all) = (used.get(&resource), allocatable.get(&resource));
    Some((resource.as_str().to_owned(), format!("requested: {amount}, used: {used}, capacity: {all}")))
}

fn requests(pod: &Value) -> Option<Resources> {
    Some(common::api::pod::pod(&pod.to_string()).ok()?.spec.requests.counted().clone())
}

/// Sets a pod to running and ready.
fn start_pod(state: &mut State, pod: &Value) {
    let mut status = pod["status"].clone();
    status["containerStatuses"] =
        containers(pod, true, &json!({ "running": { "startedAt": second(state.now) } }));
    status["phase"] = "Running".into();
    for kind in ["Initialized", "ContainersReady", "Ready"] {
        set_condition(&mut status, json!({ "type": kind, "status": "True" }), state.now);
    }
    state.set_status(pods(), pod, status);
}

fn containers(pod: &Value, is_up: bool, state: &Value) -> Value {
    let one = |container: &Value| {
        json!({ "name": container["name"], "image": container["image"], "imageID": "", "ready": is_up, "started": is_up,
                "restartCount": 0, "state": state })
    };
    list(pod, "/spec/containers").iter().map(one).collect()
}

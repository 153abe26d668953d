//! Pods: those that are there already, and those that are to be placed.

use serde_json::{Map, Value, json};

use super::containers::{self, Size};
use super::labels::{NAMESPACES, POD_LABELS, labels};
use super::nodes::{EFFECTS, TAINTS};
use super::rng::Rng;
use super::town::Town;
use super::{affinity, spread, volumes, workloads};

/// Priorities, the usual ones and those of system pods.
const PRIORITIES: [i64; 6] = [-10, 0, 5, 1000, 1000, 2_000_000_000];
/// The start of all pods, to which seconds are added.
const DAY: &str = "2026-01-31T12";

/// A pod that has a node already, or, rarely, waits for one that was nominated.
pub(super) fn existing(town: &mut Town, rng: &mut Rng, number: u64) -> Value {
    let index = rng.index(town.nodes.len());
    let plot = &town.nodes[index];
    let size = Size { milli: plot.milli / 4, bytes: plot.bytes / 4 };
    let node = if rng.chance(1) { "node-that-left".to_owned() } else { plot.name.clone() };
    let mut pod = pod(town, rng, &format!("there-{number:03}"), size);
    if rng.chance(town.mix.nominated) {
        pod["status"]["nominatedNodeName"] = json!(node);
        return pod;
    }
    pod["spec"]["nodeName"] = json!(node);
    let phases = ["Running", "Running", "Running", "Running", "Pending", "Succeeded", "Failed"];
    pod["status"]["phase"] = json!(rng.pick(&phases));
    pod["status"]["startTime"] = json!(moment(rng));
    if rng.chance(6) {
        pod["metadata"]["deletionTimestamp"] = json!(moment(rng));
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    }
    if rng.chance(town.mix.resizing) {
        containers::resizing(rng, &town.mix, size, &mut pod);
    }
    pod
}

/// A pod that is to be placed.
pub(super) fn pending(town: &mut Town, rng: &mut Rng, number: u64) -> Value {
    let index = rng.index(town.nodes.len());
    let plot = &town.nodes[index];
    // Mostly of a size that some nodes have room for, sometimes larger than any.
    let parts = *rng.pick(&[1, 2, 4, 8, 8, 16]);
    let size = Size { milli: plot.milli * 2 / parts, bytes: plot.bytes * 2 / parts };
    let mut pod = pod(town, rng, &format!("new-{number:03}"), size);
    if rng.chance(town.mix.named) {
        let index = rng.index(town.nodes.len());
        let other = if rng.chance(10) { "no-such-node" } else { town.nodes[index].name.as_str() };
        pod["spec"]["nodeName"] = json!(other);
    }
    if rng.chance(town.mix.gates) {
        pod["spec"]["schedulingGates"] = json!([{ "name": "example.com/wait" }]);
    }
    if rng.chance(5) {
        pod["spec"]["preemptionPolicy"] = json!("Never");
    }
    pod
}

/// What both kinds have in common.
fn pod(town: &mut Town, rng: &mut Rng, name: &str, size: Size) -> Value {
    let namespace = *rng.pick(&NAMESPACES);
    let mut spec = json!({
        "schedulerName": "default-scheduler",
        "tolerations": tolerations(rng, town.mix.tolerations),
    });
    containers::fill(rng, &town.mix, size, &mut spec);
    if rng.chance(town.mix.priorities) {
        spec["priority"] = json!(rng.pick(&PRIORITIES));
    }
    affinity::fill(rng, &town.mix, &town.nodes, &mut spec);
    if rng.chance(town.mix.spread) {
        spec["topologySpreadConstraints"] = spread::constraints(rng);
    }
    if rng.chance(town.mix.volumes) {
        spec["volumes"] = json!(volumes::mounted(rng, &town.storage, namespace));
    }
    declared(rng, &mut spec);
    let mut metadata = json!({
        "name": name, "namespace": namespace, "uid": rng.uid(), "labels": labels(rng, &POD_LABELS, 65),
        "creationTimestamp": moment(rng),
    });
    if let Some(owner) = workloads::owner(rng, namespace) {
        metadata["ownerReferences"] = json!([owner]);
    }
    json!({ "metadata": metadata, "spec": spec, "status": { "phase": "Pending" } })
}

/// What only nodes that declare it can do.
fn declared(rng: &mut Rng, spec: &mut Value) {
    if rng.chance(7) {
        spec["hostNetwork"] = json!(true);
        spec["hostUsers"] = json!(false);
    }
}

fn tolerations(rng: &mut Rng, percent: u64) -> Vec<Value> {
    let mut tolerations = Vec::new();
    while tolerations.len() < 4 && rng.chance(percent) {
        tolerations.push(toleration(rng));
    }
    tolerations
}

fn toleration(rng: &mut Rng) -> Value {
    let (key, values) = *rng.pick(&TAINTS);
    let mut toleration = Map::new();
    let mut put = |name: &str, value: &str| drop(toleration.insert(name.to_owned(), json!(value)));
    let everything = rng.chance(6);
    if everything {
        put("operator", "Exists");
    } else if rng.chance(10) {
        put("key", "node.kubernetes.io/unschedulable");
        put("operator", "Exists");
    } else if rng.chance(50) {
        put("key", key);
        put("operator", "Exists");
    } else {
        // Without a key it is not for the API server, but schedulers have a rule for it.
        if !rng.chance(5) {
            put("key", key);
        }
        let value = *rng.pick(values);
        put("value", value);
        match rng.below(20) {
            0..=9 => put("operator", "Equal"),
            // Behind a gate that is off, and so tolerating nothing.
            10 => put("operator", "Gt"),
            _ => {}
        }
    }
    if rng.chance(50) {
        let effect = *rng.pick(&EFFECTS);
        put("effect", effect);
    }
    Value::Object(toleration)
}

fn moment(rng: &mut Rng) -> String {
    format!("{DAY}:{:02}:{:02}Z", rng.below(60), rng.below(60))
}

//! The other actors: users, tenants with forged claims, a scheduler that knows nothing of reservations, an autoscaler, and other
//! writers to nodes. Each acts on the current state of the cluster, without faults.

use super::record::text;
use super::scenario::{PodScheduler, WorkloadSpec, node, template};
use super::sim::Sim;
use super::tenants::{clone_pods, forge_lease};
use fastrand::Rng;
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The most nodes that the autoscaler makes.
const NODES_MAX: usize = 6;

/// Does one random action.
pub(super) fn act(sim: &Sim, rng: &mut Rng, workloads: &[WorkloadSpec]) {
    match rng.u8(0..19) {
        0..=4 => delete_pod(sim, rng),
        5 | 6 => scale(sim, rng, workloads),
        7 | 8 => set_keep(sim, rng, workloads),
        9 => wipe_annotations(sim, rng),
        10 => annotate_node(sim, rng),
        11 => add_node(sim, rng),
        12 => remove_node(sim, rng),
        13 => forge_owner(sim, rng),
        14 => add_preset_pod(sim, rng),
        16 => forge_lease(sim, rng),
        17 | 18 => clone_pods(sim, rng),
        _ => cordon(sim, rng, rng.clone().bool()),
    }
}

fn random_object(rng: &mut Rng, sim: &Sim, plural: &str) -> Option<Value> {
    let objects = sim.record.objects(plural);
    let index = (!objects.is_empty()).then(|| rng.usize(..objects.len()))?;
    objects.values().nth(index).map(|object| Value::clone(object))
}

fn path(object: &Value, plural: &str) -> String {
    let root = if matches!(plural, "pods" | "nodes") { "/api/v1" } else { "/apis/apps/v1" };
    match text(object, "/metadata/namespace") {
        "" => format!("{root}/{plural}/{}", text(object, "/metadata/name")),
        namespace => format!("{root}/namespaces/{namespace}/{plural}/{}", text(object, "/metadata/name")),
    }
}

fn delete_pod(sim: &Sim, rng: &mut Rng) {
    if let Some(pod) = random_object(rng, sim, "pods") {
        let options = if rng.u8(0..5) == 0 { json!({ "gracePeriodSeconds": 0 }) } else { json!({}) };
        sim.admin.ask(Method::DELETE, &path(&pod, "pods"), &options);
    }
}

fn scale(sim: &Sim, rng: &mut Rng, workloads: &[WorkloadSpec]) {
    let Some(one) = rng.choice(workloads) else { return };
    let plural = if one.kind == "Deployment" { "deployments" } else { "statefulsets" };
    let path = format!("/apis/apps/v1/namespaces/default/{plural}/{}", one.name);
    let replicas = rng.usize(0..one.replicas + 2);
    sim.admin.ask(Method::PATCH, &path, &json!({ "spec": { "replicas": replicas } }));
}

/// A user sets or removes `reserve/keep` of a workload or of a pod.
fn set_keep(sim: &Sim, rng: &mut Rng, workloads: &[WorkloadSpec]) {
    let keep = [json!("true"), json!("45s"), json!("1s"), json!("soon"), Value::Null][rng.usize(..5)].clone();
    let patch = json!({ "metadata": { "annotations": { "reserve/keep": keep } } });
    let object = match rng.choice(workloads).filter(|_| rng.clone().bool()) {
        Some(one) if one.kind == "Deployment" => {
            format!("/apis/apps/v1/namespaces/default/deployments/{}", one.name)
        }
        Some(one) => format!("/apis/apps/v1/namespaces/default/statefulsets/{}", one.name),
        None => random_object(rng, sim, "pods").map(|pod| path(&pod, "pods")).unwrap_or_default(),
    };
    sim.admin.ask(Method::PATCH, &object, &patch);
}

/// Another program replaces a node with PUT without a resourceVersion, and so wipes its annotations.
fn wipe_annotations(sim: &Sim, rng: &mut Rng) {
    if let Some(mut node) = random_object(rng, sim, "nodes").filter(|_| rng.clone().bool()) {
        node["metadata"]["annotations"] = json!({ "other/kept": "yes" });
        node["metadata"]["resourceVersion"] = Value::Null;
        sim.api_as("careless").ask(Method::PUT, &path(&node, "nodes"), &node);
    }
}

/// Another program writes its own annotation to a node.
fn annotate_node(sim: &Sim, rng: &mut Rng) {
    if let Some(node) = random_object(rng, sim, "nodes") {
        let patch = json!({ "metadata": { "annotations": { "other/note": rng.u32(..).to_string() } } });
        sim.api_as("scribbler").ask(Method::PATCH, &path(&node, "nodes"), &patch);
    }
}

fn add_node(sim: &Sim, rng: &mut Rng) {
    let nodes = sim.record.objects("nodes");
    let name = format!("n{}", rng.u8(1..9));
    if nodes.len() < NODES_MAX && !nodes.contains_key(&format!("/{name}")) {
        sim.make(&node(&name, rng.u64(2..4)));
    }
}

/// The autoscaler deletes a node and the pods on it.
fn remove_node(sim: &Sim, rng: &mut Rng) {
    let nodes = sim.record.objects("nodes");
    let Some(node) = random_object(rng, sim, "nodes").filter(|_| nodes.len() > 2) else { return };
    let autoscaler = sim.api_as("autoscaler");
    autoscaler.ask(Method::DELETE, &path(&node, "nodes"), &Value::Null);
    for pod in sim
        .record
        .objects("pods")
        .values()
        .filter(|pod| text(pod, "/spec/nodeName") == text(&node, "/metadata/name"))
    {
        autoscaler.ask(Method::DELETE, &path(pod, "pods"), &json!({ "gracePeriodSeconds": 0 }));
    }
}

/// A tenant makes a pod that claims an owner in another namespace, and the seat of another owner.
fn forge_owner(sim: &Sim, rng: &mut Rng) {
    let Some(victim) = random_object(rng, sim, "replicasets") else { return };
    let mut pod = template("thief", 1000, PodScheduler::Us);
    (pod["apiVersion"], pod["kind"]) = ("v1".into(), "Pod".into());
    pod["metadata"]["name"] = format!("thief-{}", rng.u16(..)).into();
    pod["metadata"]["namespace"] = "tenant".into();
    let owner = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": true,
                        "name": text(&victim, "/metadata/name"), "uid": text(&victim, "/metadata/uid") });
    pod["metadata"]["ownerReferences"] = json!([owner]);
    let nodes = sim.record.objects("nodes");
    let keys = nodes.values().filter_map(|node| node["metadata"]["annotations"].as_object());
    if let Some(seat) = keys.flat_map(|all| all.keys()).find_map(|key| key.strip_prefix("reserve.info/")) {
        pod["metadata"]["annotations"] = json!({ "reserve/seat": seat });
    }
    sim.api_as("tenant").ask(Method::POST, "/api/v1/namespaces/tenant/pods", &pod);
}

/// A user makes a pod with a node name, whether there is room or not: kubelets refuse what does not fit.
fn add_preset_pod(sim: &Sim, rng: &mut Rng) {
    let Some(node) = random_object(rng, sim, "nodes") else { return };
    let mut pod = template("squatter", 1000, PodScheduler::Others);
    (pod["apiVersion"], pod["kind"]) = ("v1".into(), "Pod".into());
    pod["metadata"]["name"] = format!("squatter-{}", rng.u16(..)).into();
    pod["metadata"]["namespace"] = "default".into();
    pod["spec"]["nodeName"] = node["metadata"]["name"].clone();
    sim.api_as("squatter").ask(Method::POST, "/api/v1/namespaces/default/pods", &pod);
}

fn cordon(sim: &Sim, rng: &mut Rng, is_closed: bool) {
    if let Some(node) = random_object(rng, sim, "nodes") {
        let patch = json!({ "spec": { "unschedulable": is_closed } });
        sim.admin.ask(Method::PATCH, &path(&node, "nodes"), &patch);
    }
}

/// Uncordons all nodes, so that every pod can be placed at the end.
pub(super) fn uncordon_all(sim: &Sim) {
    for node in sim.record.objects("nodes").values() {
        if node["spec"]["unschedulable"] == true {
            sim.admin.ask(Method::PATCH, &path(node, "nodes"), &json!({ "spec": { "unschedulable": null } }));
        }
    }
}

/// A scheduler that knows nothing of reservations: it takes the first node where the requests fit beside the pods there.
///
/// Like kube-scheduler, it ignores nominations of pods that other schedulers serve: it binds pods into the room that a preemptor of
/// ours waits for, again and again. In such a cluster nothing ever settles, so from `calm` on it heeds those nominations.
pub(super) async fn schedule(sim: Sim, calm: Instant) {
    let api = sim.api_as("kube-scheduler");
    loop {
        sleep(Duration::from_millis(700)).await;
        let pods = sim.record.objects("pods");
        let is_ours = |pod: &Value| {
            text(pod, "/spec/schedulerName") == "default-scheduler"
                && text(pod, "/spec/nodeName").is_empty()
                && pod["metadata"]["deletionTimestamp"].is_null()
        };
        let Some(pod) = pods.values().find(|pod| is_ours(pod)) else { continue };
        let nodes = sim.record.objects("nodes");
        let fitting = nodes.values().find(|node| {
            let on = |other: &&std::sync::Arc<Value>| {
                text(other, "/spec/nodeName") == text(node, "/metadata/name")
                    && !matches!(text(other, "/status/phase"), "Failed" | "Succeeded")
            };
            let is_nominated = |other: &Value| {
                text(other, "/status/nominatedNodeName") == text(node, "/metadata/name")
                    && text(other, "/spec/nodeName").is_empty()
            };
            let nominated = pods.values().filter(|other| Instant::now() >= calm && is_nominated(other));
            let used: u64 = pods.values().filter(on).chain(nominated).map(|pod| cpu(pod)).sum();
            let cores = text(node, "/status/allocatable/cpu").parse().unwrap_or(0);
            node["spec"]["unschedulable"] != true && used + cpu(pod) <= 1000 * cores
        });
        if let Some(node) = fitting {
            let binding = json!({ "apiVersion": "v1", "kind": "Binding",
                                  "metadata": { "name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"] },
                                  "target": { "kind": "Node", "name": node["metadata"]["name"] } });
            api.ask(Method::POST, &format!("{}/binding", path(pod, "pods")), &binding);
        }
    }
}

/// The CPU request of a pod, in milli-units.
fn cpu(pod: &Value) -> u64 {
    let asked = text(pod, "/spec/containers/0/resources/requests/cpu");
    match asked.strip_suffix('m') {
        Some(milli) => milli.parse().unwrap_or(0),
        None => asked.parse::<u64>().unwrap_or(0) * 1000,
    }
}

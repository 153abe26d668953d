//! Everybody else: users, tenants who claim what is not theirs, a scheduler that knows nothing of us, an autoscaler, and
//! others who write to nodes. Each acts at once, on what the cluster says at that moment.

use super::record::text;
use super::scenario::{By, Workload, node, template};
use super::tenants::{clone_pods, forge_lease};
use super::world::World;
use fastrand::Rng;
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// How many nodes an autoscaler makes at most.
const NODES_MAX: usize = 6;

/// Does one thing, whatever comes to mind.
pub(super) fn act(world: &World, rng: &mut Rng, scenario: &[Workload]) {
    match rng.u8(0..19) {
        0..=4 => delete_pod(world, rng),
        5 | 6 => scale(world, rng, scenario),
        7 | 8 => wish(world, rng, scenario),
        9 => wipe(world, rng),
        10 => scribble(world, rng),
        11 => add_node(world, rng),
        12 => remove_node(world, rng),
        13 => forge(world, rng),
        14 => squat(world, rng),
        16 => forge_lease(world, rng),
        17 | 18 => clone_pods(world, rng),
        _ => cordon(world, rng, rng.clone().bool()),
    }
}

fn any(rng: &mut Rng, world: &World, plural: &str) -> Option<Value> {
    let objects = world.record.objects(plural);
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

/// A user deletes a pod.
fn delete_pod(world: &World, rng: &mut Rng) {
    if let Some(pod) = any(rng, world, "pods") {
        let options = if rng.u8(0..5) == 0 { json!({ "gracePeriodSeconds": 0 }) } else { json!({}) };
        world.admin.ask(Method::DELETE, &path(&pod, "pods"), &options);
    }
}

/// A user wants more of something, or less.
fn scale(world: &World, rng: &mut Rng, scenario: &[Workload]) {
    let Some(one) = rng.choice(scenario) else { return };
    let plural = if one.kind == "Deployment" { "deployments" } else { "statefulsets" };
    let path = format!("/apis/apps/v1/namespaces/default/{plural}/{}", one.name);
    let replicas = rng.usize(0..one.replicas + 2);
    world.admin.ask(Method::PATCH, &path, &json!({ "spec": { "replicas": replicas } }));
}

/// Somebody wants the places of a workload, or of one pod, to be kept, or no more.
fn wish(world: &World, rng: &mut Rng, scenario: &[Workload]) {
    let wish = [json!("true"), json!("45s"), json!("1s"), json!("soon"), Value::Null][rng.usize(..5)].clone();
    let patch = json!({ "metadata": { "annotations": { "reserve/keep": wish } } });
    let object = match rng.choice(scenario).filter(|_| rng.clone().bool()) {
        Some(one) if one.kind == "Deployment" => {
            format!("/apis/apps/v1/namespaces/default/deployments/{}", one.name)
        }
        Some(one) => format!("/apis/apps/v1/namespaces/default/statefulsets/{}", one.name),
        None => any(rng, world, "pods").map(|pod| path(&pod, "pods")).unwrap_or_default(),
    };
    world.admin.ask(Method::PATCH, &object, &patch);
}

/// Somebody writes a node back as it was in a book of his, without asking what is there now.
fn wipe(world: &World, rng: &mut Rng) {
    if let Some(mut node) = any(rng, world, "nodes").filter(|_| rng.clone().bool()) {
        node["metadata"]["annotations"] = json!({ "other/kept": "yes" });
        node["metadata"]["resourceVersion"] = Value::Null;
        world.door("careless").ask(Method::PUT, &path(&node, "nodes"), &node);
    }
}

/// Somebody writes annotations of his own.
fn scribble(world: &World, rng: &mut Rng) {
    if let Some(node) = any(rng, world, "nodes") {
        let patch = json!({ "metadata": { "annotations": { "other/note": rng.u32(..).to_string() } } });
        world.door("scribbler").ask(Method::PATCH, &path(&node, "nodes"), &patch);
    }
}

fn add_node(world: &World, rng: &mut Rng) {
    let nodes = world.record.objects("nodes");
    let name = format!("n{}", rng.u8(1..9));
    if nodes.len() < NODES_MAX && !nodes.contains_key(&format!("/{name}")) {
        world.make(&node(&name, rng.u64(2..4)));
    }
}

/// An autoscaler takes a node away, with the pods on it.
fn remove_node(world: &World, rng: &mut Rng) {
    let nodes = world.record.objects("nodes");
    let Some(node) = any(rng, world, "nodes").filter(|_| nodes.len() > 2) else { return };
    let autoscaler = world.door("autoscaler");
    autoscaler.ask(Method::DELETE, &path(&node, "nodes"), &Value::Null);
    for pod in world
        .record
        .objects("pods")
        .values()
        .filter(|pod| text(pod, "/spec/nodeName") == text(&node, "/metadata/name"))
    {
        autoscaler.ask(Method::DELETE, &path(pod, "pods"), &json!({ "gracePeriodSeconds": 0 }));
    }
}

/// A tenant makes a pod that claims an owner in another namespace, or the seat of somebody else.
fn forge(world: &World, rng: &mut Rng) {
    let Some(victim) = any(rng, world, "replicasets") else { return };
    let mut pod = template("thief", 1000, By::Us);
    (pod["apiVersion"], pod["kind"]) = ("v1".into(), "Pod".into());
    pod["metadata"]["name"] = format!("thief-{}", rng.u16(..)).into();
    pod["metadata"]["namespace"] = "tenant".into();
    let owner = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": true,
                        "name": text(&victim, "/metadata/name"), "uid": text(&victim, "/metadata/uid") });
    pod["metadata"]["ownerReferences"] = json!([owner]);
    let nodes = world.record.objects("nodes");
    let keys = nodes.values().filter_map(|node| node["metadata"]["annotations"].as_object());
    if let Some(seat) = keys.flat_map(|all| all.keys()).find_map(|key| key.strip_prefix("reserve.info/")) {
        pod["metadata"]["annotations"] = json!({ "reserve/seat": seat });
    }
    world.door("tenant").ask(Method::POST, "/api/v1/namespaces/tenant/pods", &pod);
}

/// Somebody makes a pod that names its node itself, whether there is room or not: kubelets refuse what does not fit.
fn squat(world: &World, rng: &mut Rng) {
    let Some(node) = any(rng, world, "nodes") else { return };
    let mut pod = template("squatter", 1000, By::Others);
    (pod["apiVersion"], pod["kind"]) = ("v1".into(), "Pod".into());
    pod["metadata"]["name"] = format!("squatter-{}", rng.u16(..)).into();
    pod["metadata"]["namespace"] = "default".into();
    pod["spec"]["nodeName"] = node["metadata"]["name"].clone();
    world.door("squatter").ask(Method::POST, "/api/v1/namespaces/default/pods", &pod);
}

fn cordon(world: &World, rng: &mut Rng, is_closed: bool) {
    if let Some(node) = any(rng, world, "nodes") {
        let patch = json!({ "spec": { "unschedulable": is_closed } });
        world.admin.ask(Method::PATCH, &path(&node, "nodes"), &patch);
    }
}

/// Everything that people did and that would be in the way of the rest is taken back.
pub(super) fn tidy_up(world: &World) {
    for node in world.record.objects("nodes").values() {
        if node["spec"]["unschedulable"] == true {
            world.admin.ask(
                Method::PATCH,
                &path(node, "nodes"),
                &json!({ "spec": { "unschedulable": null } }),
            );
        }
    }
}

/// A scheduler that knows nothing of us: the first node where requests fit beside the pods there.
pub(super) async fn schedule(world: World) {
    let door = world.door("kube-scheduler");
    loop {
        sleep(Duration::from_millis(700)).await;
        let pods = world.record.objects("pods");
        let is_ours = |pod: &Value| {
            text(pod, "/spec/schedulerName") == "default-scheduler"
                && text(pod, "/spec/nodeName").is_empty()
                && pod["metadata"]["deletionTimestamp"].is_null()
        };
        let Some(pod) = pods.values().find(|pod| is_ours(pod)) else { continue };
        let nodes = world.record.objects("nodes");
        let fitting = nodes.values().find(|node| {
            let on = |other: &&std::sync::Arc<Value>| {
                text(other, "/spec/nodeName") == text(node, "/metadata/name")
                    && !matches!(text(other, "/status/phase"), "Failed" | "Succeeded")
            };
            let used: u64 = pods.values().filter(on).map(|pod| cpu(pod)).sum();
            let cores = text(node, "/status/allocatable/cpu").parse().unwrap_or(0);
            node["spec"]["unschedulable"] != true && used + cpu(pod) <= 1000 * cores
        });
        if let Some(node) = fitting {
            let binding = json!({ "apiVersion": "v1", "kind": "Binding",
                                  "metadata": { "name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"] },
                                  "target": { "kind": "Node", "name": node["metadata"]["name"] } });
            door.ask(Method::POST, &format!("{}/binding", path(pod, "pods")), &binding);
        }
    }
}

/// What a pod of ours asks for, in thousandths.
fn cpu(pod: &Value) -> u64 {
    let asked = text(pod, "/spec/containers/0/resources/requests/cpu");
    match asked.strip_suffix('m') {
        Some(milli) => milli.parse().unwrap_or(0),
        None => asked.parse::<u64>().unwrap_or(0) * 1000,
    }
}

//! Generates containers: requests, sidecars, ports, pod-level requests, and unfinished resizes.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::mix::Mix;
use super::nodes::{DEVICES, IMAGES};
use super::quantity::{bytes, milli, whole};
use super::rng::Rng;

/// Resources that no node has; schedulers ignore some of them.
const STRANGE: [&str; 4] =
    ["example.com/unheard-of", "foo", "attachable-volumes-aws-ebs", "requests.example.com/quota"];

/// The approximate sum of the requests of a pod's containers.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) milli: u64,
    pub(super) bytes: u64,
}

/// Puts containers and their requests into a pod's spec.
pub(super) fn fill(rng: &mut Rng, mix: &Mix, size: Size, spec: &mut Value) {
    let count = *rng.pick(&[1, 1, 1, 2, 3]);
    let each = Size { milli: size.milli / count, bytes: size.bytes / count };
    let containers: Vec<Value> =
        (0..count).map(|number| container(rng, mix, each, &format!("c{number}"))).collect();
    spec["containers"] = json!(containers);
    if rng.chance(mix.init) {
        let init: Vec<Value> = (0..rng.between(1, 3))
            .map(|number| {
                let mut container = container(rng, mix, each, &format!("i{number}"));
                if rng.chance(50) {
                    container["restartPolicy"] = json!("Always");
                }
                container
            })
            .collect();
        spec["initContainers"] = json!(init);
    }
    if rng.chance(mix.pod_level) {
        // The API server requires at least the sum of the containers; schedulers do not check that.
        spec["resources"] =
            json!({ "requests": usual(rng, mix, Size { milli: size.milli * 2, bytes: size.bytes * 2 }) });
    }
    if rng.chance(5) {
        spec["overhead"] =
            json!({ "cpu": milli(rng, mix.odd, 120), "memory": bytes(rng, mix.odd, 64 << 20) });
    }
}

fn container(rng: &mut Rng, mix: &Mix, size: Size, name: &str) -> Value {
    let mut requests = usual(rng, mix, size);
    if rng.chance(7) {
        let storage = rng.between(1, 40) << 30;
        requests.insert("ephemeral-storage".to_owned(), json!(bytes(rng, mix.odd, storage)));
    }
    if rng.chance(mix.devices / 7) {
        let device = *rng.pick(&DEVICES);
        let amount = rng.between(0, 3);
        let amount =
            if device == "hugepages-2Mi" { bytes(rng, 0, amount << 21) } else { whole(rng, mix.odd, amount) };
        requests.insert(device.to_owned(), json!(amount));
    }
    if rng.chance(1) {
        requests.insert((*rng.pick(&STRANGE)).to_owned(), json!("1"));
    }
    let mut container = json!({
        "name": name,
        "image": rng.pick(&IMAGES).0,
        "resources": { "requests": requests },
    });
    if rng.chance(mix.ports) {
        container["ports"] = json!([port(rng)]);
    }
    container
}

/// Requests of CPU and memory; each may be missing or zero.
fn usual(rng: &mut Rng, mix: &Mix, size: Size) -> Map<String, Value> {
    let mut requests = Map::new();
    if !rng.chance(12) {
        let amount = if rng.chance(4) { 0 } else { 1 + rng.below(size.milli.max(1)) };
        requests.insert("cpu".to_owned(), json!(milli(rng, mix.odd, amount)));
    }
    if !rng.chance(12) {
        let amount = if rng.chance(4) { 0 } else { 1 + rng.below((size.bytes >> 20).max(1)) };
        requests.insert("memory".to_owned(), json!(bytes(rng, mix.odd, amount << 20)));
    }
    requests
}

fn port(rng: &mut Rng) -> Value {
    let number = *rng.pick(&[80, 443, 8080, 9100]);
    let mut port = json!({ "containerPort": number, "protocol": rng.pick(&["TCP", "TCP", "UDP"]) });
    if rng.chance(70) {
        port["hostPort"] = json!(number);
    }
    if rng.chance(25) {
        port["hostIP"] = json!(rng.pick(&["10.0.0.1", "0.0.0.0", "127.0.0.1", "::"]));
    }
    port
}

/// With `hostNetwork` each container port is also a host port.
pub(super) fn on_host(spec: &mut Value) {
    for kind in ["containers", "initContainers"] {
        let Some(containers) = spec.get_mut(kind).and_then(Value::as_array_mut) else { continue };
        for port in containers.iter_mut().filter_map(|one| one.pointer_mut("/ports/0")) {
            port["hostPort"] = port["containerPort"].clone();
        }
    }
}

/// Removes the host ports that `taken` already has: no kubelet would run the pod. Upstream's table of ports does not count how many
/// pods use a port.
pub(super) fn yield_ports(spec: &mut Value, node: &str, taken: &mut BTreeSet<String>) {
    for kind in ["containers", "initContainers"] {
        let Some(containers) = spec.get_mut(kind).and_then(Value::as_array_mut) else { continue };
        let ports = containers.iter_mut().filter_map(|one| one.get_mut("ports")?.as_array_mut());
        for port in ports.flatten().filter(|port| port.get("hostPort").is_some()) {
            let address = port["hostIP"].as_str().unwrap_or("0.0.0.0");
            let words = format!("{node} {address} {} {}", port["protocol"], port["hostPort"]);
            if !taken.insert(words) {
                port.as_object_mut().map(|port| port.remove("hostPort"));
            }
        }
    }
}

/// The status of a pod whose containers have allocated or actual resources that differ from their requests.
pub(super) fn resizing(rng: &mut Rng, mix: &Mix, size: Size, pod: &mut Value) {
    let names: Vec<Value> = pod["spec"]["containers"]
        .as_array()
        .map(|containers| containers.iter().map(|container| container["name"].clone()).collect())
        .unwrap_or_default();
    let statuses: Vec<Value> = names
        .into_iter()
        .map(|name| {
            let mut status =
                json!({ "name": name, "image": "", "imageID": "", "ready": true, "restartCount": 0 });
            if rng.chance(70) {
                status["allocatedResources"] = json!(usual(rng, mix, size));
            }
            if rng.chance(70) {
                status["resources"] = json!({ "requests": usual(rng, mix, size) });
            }
            status
        })
        .collect();
    pod["status"]["containerStatuses"] = json!(statuses);
    if rng.chance(40) {
        let reason = rng.pick(&["Infeasible", "Deferred"]);
        pod["status"]["conditions"] =
            json!([{ "type": "PodResizePending", "status": "True", "reason": reason }]);
    }
}

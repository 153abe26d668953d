//! Pods: those that are there already, and those that are to be placed.

use serde_json::{Value, json};

use super::containers::{self, Size};
use super::labels::{NAMESPACES, POD_LABELS, labels};
use super::rng::Rng;
use super::tolerations::tolerations;
use super::town::Town;
use super::volumes::Mounter;
use super::{affinity, spread, workloads};

/// Priorities, the usual ones and those of system pods.
const PRIORITIES: [i64; 6] = [-10, 0, 5, 1000, 1000, 2_000_000_000];
/// Those of pods that fill a cluster.
const LOW: [i64; 8] = [-10, -10, 0, 0, 5, 5, 1000, 2_000_000_000];
/// Those of pods that come to a full cluster.
const HIGH: [i64; 6] = [5, 1000, 1000, 1000, 1000, 2_000_000_000];

/// A pod that has a node already, or, rarely, waits for one that was nominated.
pub(super) fn existing(town: &mut Town, rng: &mut Rng, number: u64) -> Value {
    let index = rng.index(town.nodes.len());
    let plot = &town.nodes[index];
    let part = if town.crowded { 3 } else { 8 };
    let size = Size { milli: plot.milli / part, bytes: plot.bytes / part };
    let node = if rng.chance(1) { "node-that-left".to_owned() } else { plot.name.clone() };
    let nominated = rng.chance(town.mix.nominated);
    let mut pod = pod(town, rng, &format!("there-{number:03}"), size, true);
    if nominated {
        pod["status"]["nominatedNodeName"] = json!(node);
        if town.crowded {
            pod["spec"]["priority"] = json!(rng.pick(&HIGH));
        }
        return pod;
    }
    pod["spec"]["nodeName"] = json!(node);
    containers::yield_ports(&mut pod["spec"], &node, &mut town.ports);
    let phases =
        ["Running", "Running", "Running", "Running", "Running", "Running", "Pending", "Succeeded", "Failed"];
    pod["status"]["phase"] = json!(rng.pick(&phases));
    let priority = pod["spec"]["priority"].as_i64().unwrap_or(0);
    pod["status"]["startTime"] = json!(moment(12, town.start(rng, &node, priority)));
    if rng.chance(8) {
        pod["metadata"]["deletionTimestamp"] = json!(moment(14, rng.below(60)));
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        if rng.chance(60) {
            pod["status"]["conditions"] = displaced();
            town.cleared.push(node);
        }
    } else if rng.chance(town.mix.resizing) {
        containers::resizing(rng, &town.mix, size, &mut pod);
    }
    pod
}

/// What is written on a pod that has to go for a more important one.
fn displaced() -> Value {
    json!([{ "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler" }])
}

/// A pod that is to be placed.
pub(super) fn pending(town: &mut Town, rng: &mut Rng, number: u64) -> Value {
    let mut plot = rng.pick(&town.nodes);
    if town.crowded {
        // Room for it can be made on most nodes.
        let [one, other] = [rng.pick(&town.nodes), rng.pick(&town.nodes)];
        plot = [one, other]
            .into_iter()
            .fold(plot, |least, next| if next.milli < least.milli { next } else { least });
    }
    // Mostly of a size that some nodes have room for, sometimes larger than any.
    let parts = if town.crowded { *rng.pick(&[2, 2, 3, 4]) } else { *rng.pick(&[1, 6, 16, 32, 32, 64]) };
    let size = Size { milli: plot.milli * 2 / parts, bytes: plot.bytes * 2 / parts };
    let mut pod = pod(town, rng, &format!("new-{number:03}"), size, false);
    // One that is assumed counts as started now whenever upstream asks, so that with two of them anything could follow.
    if number != town.unstarted {
        pod["status"]["startTime"] = json!(moment(13, number));
    }
    if rng.chance(town.mix.named) {
        let index = rng.index(town.nodes.len());
        let other = if rng.chance(10) { "no-such-node" } else { town.nodes[index].name.as_str() };
        pod["spec"]["nodeName"] = json!(other);
    }
    if rng.chance(town.mix.gates) {
        pod["spec"]["schedulingGates"] = json!([{ "name": "example.com/wait" }]);
    }
    if rng.chance(6) {
        pod["spec"]["preemptionPolicy"] = json!("Never");
    }
    if rng.chance(town.mix.nominated * 2) {
        pod["status"]["nominatedNodeName"] = json!(promised(town, rng));
    }
    pod
}

/// The node that is kept for a pod: often one that is being cleared, rarely one that has left.
fn promised(town: &Town, rng: &mut Rng) -> String {
    if rng.chance(5) {
        return "node-that-left".to_owned();
    }
    if !town.cleared.is_empty() && rng.chance(60) {
        return rng.pick(&town.cleared).clone();
    }
    rng.pick(&town.nodes).name.clone()
}

/// What both kinds have in common.
fn pod(town: &mut Town, rng: &mut Rng, name: &str, size: Size, there: bool) -> Value {
    let (namespace, uid) = (*rng.pick(&NAMESPACES), rng.uid());
    let mut labels = labels(rng, &POD_LABELS, 65);
    let owner = workloads::owner(rng, namespace, &mut labels);
    let mut spec = json!({
        "schedulerName": "default-scheduler",
        "tolerations": tolerations(rng, town.mix.tolerations),
    });
    containers::fill(rng, &town.mix, size, &mut spec);
    if rng.chance(town.mix.priorities) {
        let choices: &[i64] = match (town.crowded, there) {
            (false, _) => &PRIORITIES,
            (true, true) => &LOW,
            (true, false) => &HIGH,
        };
        spec["priority"] = json!(rng.pick(choices));
    }
    affinity::fill(rng, &town.mix, &town.nodes, &mut spec);
    if rng.chance(town.mix.spread) {
        spec["topologySpreadConstraints"] = spread::constraints(rng, &labels);
    }
    if rng.chance(if there { town.mix.volumes * 2 / 3 } else { town.mix.volumes }) {
        let who = Mounter { namespace, name, uid: &uid, runs: there };
        spec["volumes"] = json!(town.storage.mounted(rng, &town.nodes, who));
    }
    declared(rng, &mut spec);
    let mut metadata = json!({
        "name": name, "namespace": namespace, "uid": uid, "labels": labels, "creationTimestamp": moment(11, rng.below(60)),
    });
    if let Some(owner) = owner {
        metadata["ownerReferences"] = json!([owner]);
    }
    json!({ "metadata": metadata, "spec": spec, "status": { "phase": "Pending" } })
}

/// What only nodes that declare it can do.
fn declared(rng: &mut Rng, spec: &mut Value) {
    if rng.chance(9) {
        spec["hostNetwork"] = json!(true);
        if rng.chance(75) {
            spec["hostUsers"] = json!(false);
        }
        containers::on_host(spec);
    }
    if rng.chance(6) {
        spec["containers"][0]["restartPolicy"] = json!("Never");
        spec["containers"][0]["restartPolicyRules"] =
            json!([{ "action": "RestartAllContainers", "exitCodes": { "operator": "In", "values": [42] } }]);
    }
}

fn moment(hour: u64, minute: u64) -> String {
    format!("2026-01-31T{hour:02}:{minute:02}:00Z")
}

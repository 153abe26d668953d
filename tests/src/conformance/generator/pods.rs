//! Generates pods: pods on nodes ([`existing`]), and pods to schedule ([`pending`]).

use serde_json::{Value, json};

use super::containers::{self, Size};
use super::labels::{NAMESPACES, POD_LABELS, labels};
use super::rng::Rng;
use super::test_cluster::TestCluster;
use super::tolerations::tolerations;
use super::volumes::Mounter;
use super::{affinity, spread, workloads};

/// Priorities, including those of system pods.
const PRIORITIES: [i64; 6] = [-10, 0, 5, 1000, 1000, 2_000_000_000];
/// Priorities of the pods that fill a crowded cluster.
const LOW: [i64; 8] = [-10, -10, 0, 0, 5, 5, 1000, 2_000_000_000];
/// Priorities of the pods to schedule in a crowded cluster.
const HIGH: [i64; 6] = [5, 1000, 1000, 1000, 1000, 2_000_000_000];

/// A pod that has a node, or, rarely, a nominated node.
pub(super) fn existing(test_cluster: &mut TestCluster, rng: &mut Rng, number: u64) -> Value {
    let index = rng.index(test_cluster.nodes.len());
    let generated_node = &test_cluster.nodes[index];
    let part = if test_cluster.crowded { 3 } else { 8 };
    let size = Size { milli: generated_node.milli / part, bytes: generated_node.bytes / part };
    let node = if rng.chance(1) { "node-that-left".to_owned() } else { generated_node.name.clone() };
    let nominated = rng.chance(test_cluster.mix.nominated);
    let mut pod = pod(test_cluster, rng, &format!("there-{number:03}"), size, true);
    if nominated {
        pod["status"]["nominatedNodeName"] = json!(node);
        if test_cluster.crowded {
            pod["spec"]["priority"] = json!(rng.pick(&HIGH));
        }
        return pod;
    }
    pod["spec"]["nodeName"] = json!(node);
    containers::yield_ports(&mut pod["spec"], &node, &mut test_cluster.ports);
    let phases =
        ["Running", "Running", "Running", "Running", "Running", "Running", "Pending", "Succeeded", "Failed"];
    pod["status"]["phase"] = json!(rng.pick(&phases));
    let priority = pod["spec"]["priority"].as_i64().unwrap_or(0);
    pod["status"]["startTime"] = json!(moment(12, test_cluster.start(rng, &node, priority)));
    if rng.chance(8) {
        pod["metadata"]["deletionTimestamp"] = json!(moment(14, rng.below(60)));
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        if rng.chance(60) {
            pod["status"]["conditions"] = displaced();
            test_cluster.cleared.push(node);
        }
    } else if rng.chance(test_cluster.mix.resizing) {
        containers::resizing(rng, &test_cluster.mix, size, &mut pod);
    }
    pod
}

/// The conditions of a preempted pod.
fn displaced() -> Value {
    json!([{ "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler" }])
}

/// A pod to schedule.
pub(super) fn pending(test_cluster: &mut TestCluster, rng: &mut Rng, number: u64) -> Value {
    let mut generated_node = rng.pick(&test_cluster.nodes);
    if test_cluster.crowded {
        // The smallest of three nodes, so that preemption can make room on most nodes.
        let [one, other] = [rng.pick(&test_cluster.nodes), rng.pick(&test_cluster.nodes)];
        generated_node = [one, other]
            .into_iter()
            .fold(generated_node, |least, next| if next.milli < least.milli { next } else { least });
    }
    // Mostly a size that fits some nodes, sometimes larger than all.
    let parts =
        if test_cluster.crowded { *rng.pick(&[2, 2, 3, 4]) } else { *rng.pick(&[1, 6, 16, 32, 32, 64]) };
    let size = Size { milli: generated_node.milli * 2 / parts, bytes: generated_node.bytes * 2 / parts };
    let mut pod = pod(test_cluster, rng, &format!("new-{number:03}"), size, false);
    // Upstream counts an assumed pod without a start time as started now. With two such pods its choice would be random.
    if number != test_cluster.unstarted {
        pod["status"]["startTime"] = json!(moment(13, number));
    }
    if rng.chance(test_cluster.mix.named) {
        let index = rng.index(test_cluster.nodes.len());
        let other = if rng.chance(10) { "no-such-node" } else { test_cluster.nodes[index].name.as_str() };
        pod["spec"]["nodeName"] = json!(other);
    }
    if rng.chance(test_cluster.mix.gates) {
        pod["spec"]["schedulingGates"] = json!([{ "name": "example.com/wait" }]);
    }
    if rng.chance(6) {
        pod["spec"]["preemptionPolicy"] = json!("Never");
    }
    if rng.chance(test_cluster.mix.nominated * 2) {
        pod["status"]["nominatedNodeName"] = json!(nominated_node(test_cluster, rng));
    }
    pod
}

/// A nominated node: often one with a preempted pod, rarely one that no longer exists.
fn nominated_node(test_cluster: &TestCluster, rng: &mut Rng) -> String {
    if rng.chance(5) {
        return "node-that-left".to_owned();
    }
    if !test_cluster.cleared.is_empty() && rng.chance(60) {
        return rng.pick(&test_cluster.cleared).clone();
    }
    rng.pick(&test_cluster.nodes).name.clone()
}

/// What both kinds of pods have in common.
fn pod(test_cluster: &mut TestCluster, rng: &mut Rng, name: &str, size: Size, there: bool) -> Value {
    let (namespace, uid) = (*rng.pick(&NAMESPACES), rng.uid());
    let mut labels = labels(rng, &POD_LABELS, 65);
    let owner = workloads::owner(rng, namespace, &mut labels);
    let mut spec = json!({
        "schedulerName": "default-scheduler",
        "tolerations": tolerations(rng, test_cluster.mix.tolerations),
    });
    containers::fill(rng, &test_cluster.mix, size, &mut spec);
    if rng.chance(test_cluster.mix.priorities) {
        let choices: &[i64] = match (test_cluster.crowded, there) {
            (false, _) => &PRIORITIES,
            (true, true) => &LOW,
            (true, false) => &HIGH,
        };
        spec["priority"] = json!(rng.pick(choices));
    }
    affinity::fill(rng, &test_cluster.mix, &test_cluster.nodes, &mut spec);
    if rng.chance(test_cluster.mix.spread) {
        spec["topologySpreadConstraints"] = spread::constraints(rng, &labels);
    }
    if rng.chance(if there { test_cluster.mix.volumes * 2 / 3 } else { test_cluster.mix.volumes }) {
        let who = Mounter { namespace, name, uid: &uid, runs: there };
        spec["volumes"] = json!(test_cluster.storage.mounted(rng, &test_cluster.nodes, who));
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

/// Features that only nodes that declare them have.
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

//! Generates nodes: sizes, labels, zones, taints, images. Some nodes lack some of these.

use serde_json::{Map, Value, json};

use super::labels::{BETA_ZONE, HOSTNAME, NODE_LABELS, REGION, ZONE, labels};
use super::mix::Mix;
use super::quantity::{bytes, milli, whole};
use super::rng::Rng;

/// Images with their size in MiB; few, so that nodes often have the image of a pod.
pub(super) const IMAGES: [(&str, u64); 4] = [
    ("registry.example/web:1.2", 180),
    ("registry.example/db@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 900),
    ("cache:latest", 12),
    ("registry.example:5000/big", 2300),
];
/// Keys and values of taints, which tolerations use too.
pub(super) const TAINTS: [(&str, &[&str]); 4] = [
    ("dedicated", &["db", "gpu"]),
    ("spot", &["", "true"]),
    ("node.kubernetes.io/not-ready", &[""]),
    ("maintenance", &["soon", "now"]),
];
/// The effects of taints; `PreferNoSchedule` twice, because the score counts these.
pub(super) const EFFECTS: [&str; 4] = ["NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"];
/// Resources that only some nodes have.
pub(super) const DEVICES: [&str; 3] = ["nvidia.com/gpu", "example.com/fpga", "hugepages-2Mi"];
/// Features that nodes declare, sorted as the API server requires.
const DECLARED: [&str; 2] = ["RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"];

/// A node and its size.
pub(super) struct GeneratedNode {
    pub(super) name: String,
    pub(super) zone: Option<String>,
    pub(super) milli: u64,
    pub(super) bytes: u64,
    pub(super) object: Value,
}

/// A node of a cluster with `zones` zones. The order of names is the order of numbers.
pub(super) fn generated_node(rng: &mut Rng, mix: &Mix, number: u64, zones: u64) -> GeneratedNode {
    let name = format!("node-{number:02}");
    let zone = (!rng.chance(8)).then(|| format!("z{}", rng.below(zones)));
    let cpus = *rng.pick(&[940, 1930, 2000, 3920, 4000, 8000, 8000, 15_890, 64_000]);
    let gibibytes = *rng.pick(&[2, 4, 8, 8, 16, 64, 256]);
    let (milli, bytes) = (cpus, (gibibytes << 30) - rng.below(300) * (1 << 20));
    let mut spec = Map::new();
    if rng.chance(mix.taints) {
        spec.insert("taints".to_owned(), taints(rng));
    }
    if rng.chance(mix.cordons) {
        spec.insert("unschedulable".to_owned(), json!(true));
    }
    let object = json!({
        "metadata": { "name": name, "uid": rng.uid(), "labels": node_labels(rng, &name, zone.as_deref()) },
        "spec": spec,
        "status": {
            "allocatable": allocatable(rng, mix, milli, bytes),
            "images": images(rng),
            "declaredFeatures": DECLARED.iter().filter(|_| rng.chance(60)).collect::<Vec<_>>(),
        },
    });
    GeneratedNode { name, zone, milli, bytes, object }
}

fn node_labels(rng: &mut Rng, name: &str, zone: Option<&str>) -> Map<String, Value> {
    let mut labels = labels(rng, &NODE_LABELS, 70);
    if !rng.chance(3) {
        labels.insert(HOSTNAME.to_owned(), json!(name));
    }
    if let Some(zone) = zone {
        // An old node has the deprecated label of zones, and maybe both.
        let old = rng.chance(12);
        if old {
            labels.insert(BETA_ZONE.to_owned(), json!(zone));
        }
        if !old || rng.chance(60) {
            labels.insert(ZONE.to_owned(), json!(zone));
            labels.insert(REGION.to_owned(), json!("r1"));
        }
    }
    labels
}

fn taints(rng: &mut Rng) -> Value {
    let taint = |rng: &mut Rng| {
        let (key, values) = *rng.pick(&TAINTS);
        json!({ "key": key, "value": rng.pick(values), "effect": rng.pick(&EFFECTS) })
    };
    let mut taints: Vec<Value> = Vec::new();
    for _ in 0..rng.between(1, 3) {
        let one = taint(rng);
        // The API server refuses two taints with the same key and effect.
        if !taints.iter().any(|other| other["key"] == one["key"] && other["effect"] == one["effect"]) {
            taints.push(one);
        }
    }
    json!(taints)
}

fn allocatable(rng: &mut Rng, mix: &Mix, cpu: u64, memory: u64) -> Map<String, Value> {
    let mut allocatable = Map::new();
    let mut put = |name: &str, amount: String| drop(allocatable.insert(name.to_owned(), json!(amount)));
    if !rng.chance(2) {
        put("cpu", milli(rng, mix.odd, cpu));
    }
    if !rng.chance(2) {
        put("memory", bytes(rng, mix.odd, memory));
    }
    if !rng.chance(2) {
        let slots = *rng.pick(&[0, 4, 8, 30, 30, 30, 110, 110, 110, 110, 110, 250]);
        put("pods", whole(rng, mix.odd, slots));
    }
    if !rng.chance(15) {
        let storage = rng.between(1, 200) << 30;
        put("ephemeral-storage", bytes(rng, mix.odd, storage));
    }
    for device in DEVICES {
        if !rng.chance(mix.devices) {
            continue;
        }
        let amount = rng.below(9);
        match device {
            "hugepages-2Mi" => put(device, bytes(rng, 0, amount << 21)),
            _ => put(device, whole(rng, mix.odd, amount)),
        }
    }
    allocatable
}

fn images(rng: &mut Rng) -> Vec<Value> {
    let some = IMAGES.iter().filter(|_| rng.chance(35)).collect::<Vec<_>>();
    some.into_iter()
        .map(|(name, size)| {
            // The reported size of an image differs between nodes.
            let bytes = (size << 20) + rng.below(3) * (1 << 20);
            json!({ "names": [name, format!("{name}-alias:1")], "sizeBytes": bytes })
        })
        .collect()
}

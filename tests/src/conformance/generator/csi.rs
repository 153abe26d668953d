//! Generates StorageClasses, CSIDrivers, CSINodes, CSIStorageCapacities and VolumeAttachments.

use serde_json::{Value, json};

use super::labels::{HOSTNAME, ZONE};
use super::nodes::GeneratedNode;
use super::rng::Rng;

/// The driver of most classes.
pub(super) const DRIVER: &str = "csi.example.com";
/// A driver that is not on every node.
const OTHER_DRIVER: &str = "other.example.com";
/// The driver of `awsElasticBlockStore` volumes.
const EBS_DRIVER: &str = "ebs.csi.aws.com";

/// A class that waits for the first consumer.
pub(super) const FAST: &str = "fast";
/// A class with immediate binding.
pub(super) const SLOW: &str = "slow";
/// A class without a provisioner.
pub(super) const LOCAL: &str = "local";
/// Like `FAST`, in some zones only.
pub(super) const ZONAL: &str = "zonal";
/// Like `FAST`, by a driver that does not report its capacity.
pub(super) const OTHER: &str = "other";

/// The objects of storage besides claims and volumes, by kind.
pub(super) fn objects(
    rng: &mut Rng,
    nodes: &[GeneratedNode],
    volumes: &[Value],
) -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("storageClasses", classes()),
        ("csiDrivers", drivers(rng)),
        ("csiNodes", nodes.iter().filter_map(|generated_node| csi_node(rng, generated_node)).collect()),
        ("csiStorageCapacities", capacities(rng, nodes)),
        ("volumeAttachments", attachments(rng, nodes, volumes)),
    ]
}

fn classes() -> Vec<Value> {
    let class = |name: &str, provisioner: &str, mode: &str| {
        json!({
            "metadata": { "name": name, "uid": format!("class-{name}") },
            "provisioner": provisioner,
            "reclaimPolicy": "Delete",
            "volumeBindingMode": mode,
        })
    };
    let waits = "WaitForFirstConsumer";
    let mut zonal = class(ZONAL, DRIVER, waits);
    let zones = json!([{ "key": ZONE, "values": ["z0", "z2"] }]);
    zonal["allowedTopologies"] = json!([{ "matchLabelExpressions": zones }]);
    vec![
        class(FAST, DRIVER, waits),
        class(SLOW, DRIVER, "Immediate"),
        class(LOCAL, "kubernetes.io/no-provisioner", waits),
        class(OTHER, OTHER_DRIVER, waits),
        zonal,
    ]
}

/// At most one driver has `preventPodSchedulingIfMissing`: if two were missing on a node, upstream would name either of them.
fn drivers(rng: &mut Rng) -> Vec<Value> {
    let strict = *rng.pick(&["", "", DRIVER, OTHER_DRIVER, OTHER_DRIVER]);
    let mut driver = |name: &str, tells: u64| {
        json!({
            "metadata": { "name": name, "uid": rng.uid() },
            "spec": {
                "attachRequired": true, "podInfoOnMount": false, "storageCapacity": rng.chance(tells),
                "preventPodSchedulingIfMissing": name == strict,
            },
        })
    };
    vec![driver(DRIVER, 95), driver(OTHER_DRIVER, 0)]
}

/// The drivers that are registered on the node. `None`: no CSINode yet.
fn csi_node(rng: &mut Rng, generated_node: &GeneratedNode) -> Option<Value> {
    if rng.chance(9) {
        return None;
    }
    let mut drivers = Vec::new();
    for (name, percent) in [(DRIVER, 95), (OTHER_DRIVER, 60), (EBS_DRIVER, 50)] {
        if !rng.chance(percent) {
            continue;
        }
        let mut driver = json!({ "name": name, "nodeID": generated_node.name, "topologyKeys": [ZONE] });
        if rng.chance(85) {
            driver["allocatable"] = json!({ "count": rng.pick(&[1, 8, 8, 24, 24]) });
        }
        drivers.push(driver);
    }
    let name = &generated_node.name;
    Some(json!({
        "metadata": { "name": name, "uid": format!("csi-{name}") }, "spec": { "drivers": drivers },
    }))
}

/// Capacities for each zone or for each node. At most one of a class applies to a node, because upstream takes the first one of a
/// map.
fn capacities(rng: &mut Rng, nodes: &[GeneratedNode]) -> Vec<Value> {
    let mut capacities = Vec::new();
    for class in [FAST, ZONAL] {
        let (key, values): (&str, Vec<String>) = if rng.chance(85) {
            (HOSTNAME, nodes.iter().map(|generated_node| generated_node.name.clone()).collect())
        } else {
            (ZONE, (0..4).map(|zone| format!("z{zone}")).collect())
        };
        for value in values {
            if rng.chance(8) {
                continue;
            }
            let left = rng.between(16, 100);
            let mut capacity = json!({
                "metadata": { "name": format!("{class}-{value}"), "namespace": "kube-system", "uid": rng.uid() },
                "storageClassName": class,
                "nodeTopology": { "matchLabels": { key: value } },
                "capacity": format!("{left}Gi"),
            });
            if rng.chance(20) {
                capacity["maximumVolumeSize"] = json!(format!("{}Gi", left.div_ceil(3)));
            }
            capacities.push(capacity);
        }
    }
    // A capacity without a topology applies to no node.
    capacities.push(json!({
        "metadata": { "name": "nowhere", "namespace": "kube-system", "uid": rng.uid() },
        "storageClassName": FAST, "capacity": "900Gi",
    }));
    capacities
}

/// Volumes that are attached to a node, maybe without a pod there that uses them.
fn attachments(rng: &mut Rng, nodes: &[GeneratedNode], volumes: &[Value]) -> Vec<Value> {
    let mut attachments = Vec::new();
    for number in 0..rng.below(1 + nodes.len() as u64) {
        let (node, name) = (&rng.pick(nodes).name, format!("attached-{number}"));
        let Some(volume) = volumes.get(rng.index(volumes.len().max(1))) else { break };
        attachments.push(json!({
            "metadata": { "name": name, "uid": rng.uid() },
            "spec": {
                "attacher": DRIVER, "nodeName": node,
                "source": { "persistentVolumeName": volume["metadata"]["name"] },
            },
            "status": { "attached": true },
        }));
    }
    attachments
}

//! Generates PersistentVolumes: where they can be used, and which claim they are bound to.

use serde_json::{Map, Value, json};

use super::csi::{DRIVER, FAST, LOCAL, OTHER};
use super::labels::{BETA_ZONE, HOSTNAME, ZONE};
use super::nodes::GeneratedNode;
use super::rng::Rng;

/// An unbound volume. `number` makes its size unique: of two volumes of the same size upstream takes the first one of a map.
pub(super) fn spare(rng: &mut Rng, number: usize, nodes: &[GeneratedNode]) -> Value {
    let class = *rng.pick(&[LOCAL, LOCAL, LOCAL, FAST, OTHER]);
    let mut volume = volume(rng, &format!("spare-{number}"), number, class, nodes);
    match rng.below(16) {
        0 => volume["metadata"]["deletionTimestamp"] = json!("2026-01-31T12:00:00Z"),
        1 => volume["spec"]["volumeMode"] = json!("Block"),
        2 => volume["spec"]["accessModes"] = json!(["ReadWriteOncePod"]),
        3 => {
            volume["spec"]["claimRef"] = json!({ "namespace": "shop", "name": "gone", "uid": rng.uid() });
            volume["status"]["phase"] = json!("Released");
        }
        _ => {}
    }
    volume
}

/// Makes a volume that is bound to the claim, and the claim to the volume.
pub(super) fn bound(rng: &mut Rng, number: usize, claim: &mut Value, nodes: &[GeneratedNode]) -> Value {
    let name = format!("pv-{number}");
    claim["spec"]["volumeName"] = json!(name);
    claim["metadata"]["annotations"] = json!({ "pv.kubernetes.io/bind-completed": "yes" });
    claim["status"] = json!({ "phase": "Bound" });
    let class = claim["spec"]["storageClassName"].as_str().unwrap_or_default();
    let mut volume = volume(rng, &name, number, class, nodes);
    volume["spec"]["claimRef"] = reference(claim);
    volume["spec"]["accessModes"] = claim["spec"]["accessModes"].clone();
    volume["status"]["phase"] = json!("Bound");
    volume
}

/// The `claimRef` of a volume.
pub(super) fn reference(claim: &Value) -> Value {
    let meta = &claim["metadata"];
    json!({ "namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"] })
}

fn volume(rng: &mut Rng, name: &str, number: usize, class: &str, nodes: &[GeneratedNode]) -> Value {
    let generated_node = rng.pick(nodes);
    let size = (rng.between(5, 60) << 10) + number as u64;
    let mut spec = json!({
        "accessModes": ["ReadWriteOnce", "ReadWriteMany"],
        "capacity": { "storage": format!("{size}Mi") },
        "persistentVolumeReclaimPolicy": "Delete",
        "storageClassName": class,
        "volumeMode": "Filesystem",
    });
    if class == LOCAL {
        spec["local"] = json!({ "path": "/disk" });
    } else {
        spec["csi"] = json!({ "driver": DRIVER, "volumeHandle": name });
    }
    if let Some((key, value)) = pinned(rng, class, generated_node) {
        let term = json!({ "matchExpressions": [{ "key": key, "operator": "In", "values": [value] }] });
        spec["nodeAffinity"] = json!({ "required": { "nodeSelectorTerms": [term] } });
    }
    json!({
        "metadata": { "name": name, "uid": rng.uid(), "labels": volume_labels(rng, class, generated_node) },
        "spec": spec,
        "status": { "phase": "Available" },
    })
}

/// The label of nodes that the volume's node affinity requires.
fn pinned<'a>(
    rng: &mut Rng,
    class: &str,
    generated_node: &'a GeneratedNode,
) -> Option<(&'static str, &'a str)> {
    let host = Some((HOSTNAME, generated_node.name.as_str()));
    if class == LOCAL {
        return host;
    }
    match (rng.below(10), &generated_node.zone) {
        (0, _) => host,
        (1 | 2, Some(zone)) => Some((ZONE, zone.as_str())),
        _ => None,
    }
}

/// Labels of a volume, some with its zone or zones: before volumes had node affinity, labels said where a volume can be used.
fn volume_labels(rng: &mut Rng, class: &str, generated_node: &GeneratedNode) -> Map<String, Value> {
    let mut labels = Map::new();
    if rng.chance(50) {
        labels.insert("media".to_owned(), json!(rng.pick(&["ssd", "hdd"])));
    }
    let Some(zone) = generated_node.zone.as_ref().filter(|_| class != LOCAL && rng.chance(95)) else {
        return labels;
    };
    let key = if rng.chance(25) { BETA_ZONE } else { ZONE };
    let several = format!("{zone}__z{}", rng.below(4));
    labels.insert(key.to_owned(), json!(if rng.chance(30) { &several } else { zone }));
    labels
}

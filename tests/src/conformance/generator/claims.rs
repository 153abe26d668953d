//! Generates PersistentVolumeClaims: waiting for a pod, bound, and faulty ones.

use serde_json::{Value, json};

use super::csi::{FAST, LOCAL, OTHER, SLOW, ZONAL};
use super::disks;
use super::nodes::GeneratedNode;
use super::rng::Rng;
use super::volumes::{ClaimKind, Storage};

/// Makes the claims of a namespace.
pub(super) fn fill(rng: &mut Rng, storage: &mut Storage, namespace: &str, nodes: &[GeneratedNode]) {
    for number in 0..rng.between(7, 10) {
        let class = *rng.pick(&[FAST, FAST, FAST, FAST, FAST, FAST, ZONAL, OTHER]);
        let claim = claim(rng, namespace, &format!("waits-{number}"), class);
        storage.add(ClaimKind::Waits, claim);
    }
    for number in 0..rng.between(1, 2) {
        let mut claim = claim(rng, namespace, &format!("local-{number}"), LOCAL);
        if rng.chance(25) {
            claim["spec"]["selector"] = json!({ "matchLabels": { "media": rng.pick(&["ssd", "hdd"]) } });
        }
        storage.add(ClaimKind::Waits, claim);
    }
    for number in 0..rng.between(2, 4) {
        let class = *rng.pick(&[FAST, FAST, SLOW, SLOW, LOCAL]);
        let mut claim = claim(rng, namespace, &format!("bound-{number}"), class);
        storage.bind(rng, &mut claim, nodes);
        storage.add(ClaimKind::Bound, claim);
    }
    for number in 0..rng.between(1, 2) {
        let claim = wrong(rng, storage, namespace, number, nodes);
        storage.add(ClaimKind::Wrong, claim);
    }
}

/// An unbound claim with a random access mode.
pub(super) fn claim(rng: &mut Rng, namespace: &str, name: &str, class: &str) -> Value {
    let mode = rng.pick(&["ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"]);
    // Only drivers provide volumes with the access mode `ReadWriteOncePod`.
    let mode = if class == LOCAL { "ReadWriteOnce" } else { mode };
    json!({
        "metadata": { "name": name, "namespace": namespace, "uid": rng.uid() },
        "spec": {
            "accessModes": [mode],
            "resources": { "requests": { "storage": format!("{}Gi", rng.between(1, 20)) } },
            "storageClassName": class,
            "volumeMode": "Filesystem",
        },
        "status": { "phase": "Pending" },
    })
}

/// A claim that cannot be used, or only on one node.
fn wrong(
    rng: &mut Rng,
    storage: &mut Storage,
    namespace: &str,
    number: u64,
    nodes: &[GeneratedNode],
) -> Value {
    let mut claim = claim(rng, namespace, &format!("wrong-{number}"), FAST);
    match rng.below(8) {
        // A class with immediate binding, but not bound yet.
        0 => claim["spec"]["storageClassName"] = json!(SLOW),
        // Without a class.
        1 => claim["spec"]["storageClassName"] = json!(""),
        2 => {
            claim["spec"]["volumeName"] = json!("pv-that-was-lost");
            claim["metadata"]["annotations"] = json!({ "pv.kubernetes.io/bind-completed": "yes" });
            claim["status"]["phase"] = json!("Lost");
        }
        3 => {
            claim["metadata"]["deletionTimestamp"] = json!("2026-01-31T12:00:00Z");
            claim["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
        }
        // Bound to a volume that no longer exists.
        4 => {
            storage.bind(rng, &mut claim, nodes);
            storage.drop_last();
        }
        // A volume name set by the user, and not bound yet.
        5 => claim["spec"]["volumeName"] = json!("spare-0"),
        // An existing volume that references this claim.
        6 => {
            claim["spec"]["storageClassName"] = json!(LOCAL);
            let mut volume = disks::spare(rng, storage.next(), nodes);
            volume["spec"]["storageClassName"] = json!(LOCAL);
            volume["spec"]["claimRef"] = disks::reference(&claim);
            storage.put(volume);
        }
        // A node was already selected for another pod.
        _ => {
            let node = &rng.pick(nodes).name;
            claim["metadata"]["annotations"] = json!({ "volume.kubernetes.io/selected-node": node });
        }
    }
    claim
}

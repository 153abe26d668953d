//! Storage: classes, volumes, claims, drivers, what nodes can attach, and the volumes of a pod.

use serde_json::{Map, Value, json};

use super::labels::{HOSTNAME, NAMESPACES, ZONE};
use super::nodes::Plot;
use super::rng::Rng;

const DRIVER: &str = "csi.example.com";
/// Classes: the name, the provisioner, and whether binding waits for a pod.
const CLASSES: [(&str, &str, bool); 4] = [
    ("fast", DRIVER, true),
    ("slow", DRIVER, false),
    ("local", "kubernetes.io/no-provisioner", true),
    ("other", "other.example.com", true),
];

/// The claims and volumes of a cluster.
#[derive(Default)]
pub(super) struct Storage {
    claims: Vec<Value>,
    volumes: Vec<Value>,
}

/// Makes some claims in every namespace, some of them bound.
pub(super) fn storage(rng: &mut Rng, nodes: &[Plot]) -> Storage {
    let mut storage = Storage::default();
    for namespace in NAMESPACES {
        for number in 0..rng.between(1, 4) {
            let claim = claim(rng, namespace, number);
            if rng.chance(40) {
                storage.bind(rng, claim, nodes);
            } else {
                storage.claims.push(claim);
            }
        }
    }
    for number in 0..rng.below(8) {
        let spare = volume(rng, &format!("spare-{number}"), nodes);
        storage.volumes.push(spare);
    }
    storage
}

impl Storage {
    fn bind(&mut self, rng: &mut Rng, mut claim: Value, nodes: &[Plot]) {
        let name = format!("pv-{}", self.volumes.len());
        claim["spec"]["volumeName"] = json!(name);
        claim["metadata"]["annotations"] = json!({ "pv.kubernetes.io/bind-completed": "yes" });
        claim["status"] = json!({ "phase": "Bound" });
        // Now and then a volume is gone while its claim is still there.
        if !rng.chance(5) {
            let mut volume = volume(rng, &name, nodes);
            let meta = &claim["metadata"];
            volume["spec"]["claimRef"] =
                json!({ "namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"] });
            volume["spec"]["storageClassName"] = claim["spec"]["storageClassName"].clone();
            volume["status"] = json!({ "phase": "Bound" });
            self.volumes.push(volume);
        }
        self.claims.push(claim);
    }

    /// Everything about storage, by kind; nothing if the cluster has none.
    pub(super) fn objects(&self, rng: &mut Rng, nodes: &[Plot]) -> Vec<(&'static str, Vec<Value>)> {
        if self.claims.is_empty() {
            return Vec::new();
        }
        vec![
            ("persistentVolumeClaims", self.claims.clone()),
            ("persistentVolumes", self.volumes.clone()),
            ("storageClasses", CLASSES.iter().map(class).collect()),
            ("csiDrivers", vec![driver(rng)]),
            ("csiNodes", nodes.iter().filter(|_| rng.chance(80)).map(csi_node).collect()),
            ("csiStorageCapacities", capacities(rng)),
            ("volumeAttachments", nodes.iter().take(2).map(attachment).collect()),
        ]
    }
}

fn claim(rng: &mut Rng, namespace: &str, number: u64) -> Value {
    let mode =
        rng.pick(&["ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadWriteMany", "ReadWriteOncePod"]);
    json!({
        "metadata": { "name": format!("claim-{number}"), "namespace": namespace, "uid": rng.uid() },
        "spec": {
            "accessModes": [mode],
            "resources": { "requests": { "storage": format!("{}Gi", rng.between(1, 20)) } },
            "storageClassName": CLASSES[rng.index(CLASSES.len() * 2).saturating_sub(CLASSES.len())].0,
            "volumeMode": "Filesystem",
        },
        "status": { "phase": "Pending" },
    })
}

fn volume(rng: &mut Rng, name: &str, nodes: &[Plot]) -> Value {
    let plot = rng.pick(nodes);
    let mut labels = Map::new();
    let mut spec = json!({
        "accessModes": ["ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"],
        "capacity": { "storage": format!("{}Gi", rng.between(5, 40)) },
        "csi": { "driver": DRIVER, "volumeHandle": name },
        "persistentVolumeReclaimPolicy": "Delete",
        "storageClassName": rng.pick(&CLASSES).0,
        "volumeMode": "Filesystem",
    });
    let pinned = match (rng.below(4), &plot.zone) {
        (0, _) => Some((HOSTNAME, plot.name.as_str())),
        (1, Some(zone)) => Some((ZONE, zone.as_str())),
        _ => None,
    };
    if let Some((key, value)) = pinned {
        let term = json!({ "matchExpressions": [{ "key": key, "operator": "In", "values": [value] }] });
        spec["nodeAffinity"] = json!({ "required": { "nodeSelectorTerms": [term] } });
    }
    if let Some(zone) = plot.zone.as_ref().filter(|_| rng.chance(70)) {
        labels.insert(ZONE.to_owned(), json!(zone));
    }
    json!({
        "metadata": { "name": name, "uid": rng.uid(), "labels": labels },
        "spec": spec,
        "status": { "phase": "Available" },
    })
}

fn class((name, provisioner, waits): &(&str, &str, bool)) -> Value {
    json!({
        "metadata": { "name": name, "uid": format!("class-{name}") },
        "provisioner": provisioner,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": if *waits { "WaitForFirstConsumer" } else { "Immediate" },
    })
}

fn driver(rng: &mut Rng) -> Value {
    json!({
        "metadata": { "name": DRIVER, "uid": rng.uid() },
        "spec": {
            "attachRequired": true, "podInfoOnMount": false, "storageCapacity": rng.chance(80),
            "preventPodSchedulingIfMissing": rng.chance(20),
        },
    })
}

fn csi_node(plot: &Plot) -> Value {
    let few = plot.milli.is_multiple_of(2000);
    json!({
        "metadata": { "name": plot.name, "uid": format!("csi-{}", plot.name) },
        "spec": { "drivers": [{
            "name": DRIVER, "nodeID": plot.name, "topologyKeys": [ZONE],
            "allocatable": { "count": if few { 2 } else { 8 } },
        }] },
    })
}

fn capacities(rng: &mut Rng) -> Vec<Value> {
    let capacity = |zone: u64| {
        json!({
            "metadata": { "name": format!("capacity-{zone}"), "namespace": "kube-system", "uid": rng.uid() },
            "storageClassName": "fast",
            "nodeTopology": { "matchLabels": { ZONE: format!("z{zone}") } },
            "capacity": format!("{}Gi", rng.between(8, 200)),
        })
    };
    (0..4).map(capacity).collect()
}

fn attachment(plot: &Plot) -> Value {
    json!({
        "metadata": { "name": format!("attached-{}", plot.name), "uid": format!("attached-{}", plot.name) },
        "spec": { "attacher": DRIVER, "nodeName": plot.name, "source": { "persistentVolumeName": "pv-0" } },
        "status": { "attached": true },
    })
}

/// The volumes of a pod: claims of its namespace, inline disks, and what every node can give.
pub(super) fn mounted(rng: &mut Rng, storage: &Storage, namespace: &str) -> Vec<Value> {
    let claims: Vec<&Value> =
        storage.claims.iter().filter(|claim| claim["metadata"]["namespace"] == namespace).collect();
    let mut volumes = Vec::new();
    for number in 0..rng.between(1, 2) {
        let name = format!("v{number}");
        let disk = format!("disk-{}", rng.below(3));
        volumes.push(match rng.below(20) {
            0 => json!({ "name": name, "emptyDir": {} }),
            1 => json!({ "name": name, "gcePersistentDisk": { "pdName": disk, "readOnly": rng.chance(50) } }),
            2 => json!({ "name": name, "awsElasticBlockStore": { "volumeID": disk } }),
            3 => json!({ "name": name, "persistentVolumeClaim": { "claimName": "no-such-claim" } }),
            _ if claims.is_empty() => json!({ "name": name, "configMap": { "name": "settings" } }),
            _ => {
                let claim = &rng.pick(&claims)["metadata"]["name"];
                json!({ "name": name, "persistentVolumeClaim": { "claimName": claim } })
            }
        });
    }
    volumes
}

//! Generates what happens after a pod was refused ([`change`]): a change of any kind, half of the time one that is about the pod.

use serde_json::{Value, json};

use super::rng::Rng;

const ZONES: [&str; 3] = ["zone-0", "zone-1", "zone-2"];

/// A line with a pod, and a change of the cluster that `objects` has. The pod is one that is not in the cluster.
pub(super) fn change(rng: &mut Rng, objects: &Value, pod: &Value, id: &str) -> Value {
    let mut pod = pod.clone();
    pod["metadata"]["name"] = json!("refused");
    pod["metadata"]["uid"] = json!("refused");
    pod["spec"].as_object_mut().map(|spec| spec.remove("nodeName"));
    if let Some(status) = pod["status"].as_object_mut() {
        status.remove("nominatedNodeName");
    }
    // Upstream's hints do not look at the labels of namespaces.
    without_namespace_selectors(&mut pod);
    let (kind, old, new) = match rng.below(12) {
        0..=2 => assigned(rng, objects, &mut pod),
        3 => own(rng, &mut pod),
        4..=6 => node(rng, objects, &mut pod),
        _ => storage(rng, objects, &mut pod),
    };
    json!({ "id": id, "pod": pod, "change": { "kind": kind, "old": old, "new": new } })
}

type Changed = (&'static str, Value, Value);

fn without_namespace_selectors(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("namespaceSelector");
            fields.values_mut().for_each(without_namespace_selectors);
        }
        Value::Array(all) => all.iter_mut().for_each(without_namespace_selectors),
        _ => {}
    }
}

/// One of the objects in a list; `null` if there are none.
fn one(rng: &mut Rng, objects: &Value, list: &str) -> Value {
    let all = objects[list].as_array().map_or(&[][..], Vec::as_slice);
    if all.is_empty() { Value::Null } else { rng.pick(all).clone() }
}

fn renamed(mut object: Value) -> Value {
    object["metadata"]["name"] = json!("another");
    object["metadata"]["uid"] = json!("another");
    object
}

fn assigned(rng: &mut Rng, objects: &Value, pod: &mut Value) -> Changed {
    let is_counted = |other: &&Value| {
        let node = &other["spec"]["nodeName"];
        let nodes = objects["nodes"].as_array().map_or(&[][..], Vec::as_slice);
        let is_selective = other.to_string().contains("namespaceSelector");
        let is_there = nodes.iter().any(|one| one["metadata"]["name"] == *node);
        is_there && !is_selective && matches!(other["status"]["phase"].as_str(), Some("Running" | "Pending"))
    };
    let all = objects["pods"].as_array().map_or(&[][..], Vec::as_slice);
    let counted: Vec<&Value> = all.iter().filter(is_counted).collect();
    if counted.is_empty() {
        return node(rng, objects, pod);
    }
    let old = (*rng.pick(&counted)).clone();
    let is_disk = |volume: &Value| {
        ["gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd"]
            .iter()
            .any(|kind| !volume[kind].is_null())
    };
    if pod["spec"]["volumes"].as_array().is_some_and(|volumes| volumes.iter().any(is_disk)) {
        // Upstream only looks at the disks of pods of the same namespace.
        pod["metadata"]["namespace"] = old["metadata"]["namespace"].clone();
    }
    if rng.chance(50) {
        resemble(rng, &old, pod);
    }
    match rng.below(6) {
        0..=2 => ("AssignedPod", old, Value::Null),
        3 => ("AssignedPod", Value::Null, renamed(old)),
        4 => {
            let mut new = old.clone();
            relabel(rng, &mut new, &pod["metadata"]["labels"]);
            ("AssignedPod", old, new)
        }
        _ => {
            let mut new = old.clone();
            let resource = *rng.pick(&["cpu", "cpu", "memory", "ephemeral-storage"]);
            let amount = if rng.chance(70) { "1m" } else { "999" };
            new["spec"]["containers"][0]["resources"]["requests"][resource] = json!(amount);
            ("AssignedPod", old, new)
        }
    }
}

/// Gives the pod what makes the other pod matter to it.
fn resemble(rng: &mut Rng, other: &Value, pod: &mut Value) {
    pod["metadata"]["namespace"] = other["metadata"]["namespace"].clone();
    match rng.below(4) {
        0 => {
            let ports = other["spec"]["containers"][0]["ports"].clone();
            if !ports.is_null() {
                pod["spec"]["containers"][0]["ports"] = ports;
            }
        }
        1 => {
            if let Some(volumes) = other["spec"]["volumes"].as_array().filter(|volumes| !volumes.is_empty()) {
                pod["spec"]["volumes"] = json!(volumes);
            }
        }
        2 => {
            let term = json!({ "topologyKey": "kubernetes.io/hostname", "labelSelector": { "matchLabels": other["metadata"]["labels"] } });
            let kind = rng.pick(&["podAffinity", "podAntiAffinity"]);
            pod["spec"]["affinity"] =
                json!({ *kind: { "requiredDuringSchedulingIgnoredDuringExecution": [term] } });
        }
        _ => {
            pod["spec"]["topologySpreadConstraints"] = json!([{ "maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule", "labelSelector": { "matchLabels": other["metadata"]["labels"] } }]);
        }
    }
}

fn relabel(rng: &mut Rng, pod: &mut Value, like: &Value) {
    let labels = match rng.below(3) {
        0 => json!({}),
        1 => json!({ "app": rng.pick(&["web", "db", "cache"]) }),
        _ => like.clone(),
    };
    pod["metadata"]["labels"] = if labels.is_null() { json!({}) } else { labels };
}

/// A resource that one of the two has more of.
fn resize(rng: &mut Rng, old: &mut Value, new: &mut Value) {
    let resource = *rng.pick(&["cpu", "memory", "ephemeral-storage"]);
    let (more, less) = if rng.chance(70) { (old, new) } else { (new, old) };
    for (pod, amount) in [(more, "3"), (less, "1")] {
        pod["spec"].as_object_mut().map(|spec| spec.remove("resources"));
        pod["spec"]["containers"][0]["resources"]["requests"][resource] = json!(amount);
    }
}

/// The pod itself changes.
fn own(rng: &mut Rng, pod: &mut Value) -> Changed {
    let (mut old, mut new) = (pod.clone(), pod.clone());
    match rng.below(6) {
        0 => {
            let like = json!({ "app": "web", "tier": "front" });
            relabel(rng, &mut new, &like);
        }
        1 => {
            let key = *rng.pick(&["node.kubernetes.io/unschedulable", "spot"]);
            let mut tolerations = new["spec"]["tolerations"].as_array().cloned().unwrap_or_default();
            tolerations.push(json!({ "key": key, "operator": "Exists" }));
            new["spec"]["tolerations"] = json!(tolerations);
        }
        2 => old["spec"]["schedulingGates"] = json!([{ "name": "example.com/wait" }]),
        3 => resize(rng, &mut old, &mut new),
        4 => new["spec"]["hostUsers"] = json!(new["spec"]["hostUsers"] != json!(false)),
        _ => new["metadata"]["annotations"] = json!({ "example.com/any": "thing" }),
    }
    if !old["spec"]["schedulingGates"].is_null() {
        new["spec"].as_object_mut().map(|spec| spec.remove("schedulingGates"));
    }
    *pod = new.clone();
    ("TargetPod", old, new)
}

fn node(rng: &mut Rng, objects: &Value, pod: &mut Value) -> Changed {
    let old = one(rng, objects, "nodes");
    let mut new = old.clone();
    let labels = old["metadata"]["labels"].clone();
    match rng.below(9) {
        0 | 1 => {
            let mut new = renamed(old);
            if rng.chance(50) {
                new["spec"] = json!({});
            }
            return ("Node", Value::Null, new);
        }
        2 => return ("Node", old, Value::Null),
        3 | 4 => {
            let key = *rng.pick(&["topology.kubernetes.io/zone", "kubernetes.io/hostname", "disk", "moved"]);
            new["metadata"]["labels"][key] = json!(rng.pick(&ZONES));
            if rng.chance(50) {
                pod["spec"]["nodeSelector"] = json!({ key: new["metadata"]["labels"][key] });
            }
            if rng.chance(20) && !labels.is_null() {
                new["metadata"].as_object_mut().map(|metadata| metadata.remove("labels"));
            }
        }
        5 => {
            new["spec"].as_object_mut().map(|spec| spec.remove("taints"));
        }
        6 => new["spec"]["unschedulable"] = json!(old["spec"]["unschedulable"] != json!(true)),
        7 => {
            let resource = *rng.pick(&["cpu", "memory", "pods"]);
            let amount = if rng.chance(70) { "900" } else { "1" };
            let amount = if resource == "memory" { format!("{amount}Gi") } else { amount.to_owned() };
            new["status"]["allocatable"][resource] = json!(amount);
        }
        _ => {
            let features = *rng.pick(&[&[][..], &["UserNamespacesHostNetworkSupport"][..]]);
            new["status"]["declaredFeatures"] = json!(features);
        }
    }
    // Without a change there is no event.
    if rng.chance(10) {
        new["metadata"]["annotations"]["example.com/any"] = json!("thing");
    }
    ("Node", old, new)
}

const CLAIM: &str = "claim-of-the-refused";

fn storage(rng: &mut Rng, objects: &Value, pod: &mut Value) -> Changed {
    let mut volumes = pod["spec"]["volumes"].as_array().cloned().unwrap_or_default();
    if rng.chance(40) {
        volumes.push(match rng.chance(70) {
            true => json!({ "name": "mine", "persistentVolumeClaim": { "claimName": CLAIM } }),
            false => json!({ "name": "mine", "gcePersistentDisk": { "pdName": "of-its-own" } }),
        });
        pod["spec"]["volumes"] = json!(volumes);
    }
    let (kind, list) = *rng.pick(&[
        ("PersistentVolumeClaim", "persistentVolumeClaims"),
        ("PersistentVolumeClaim", "persistentVolumeClaims"),
        ("PersistentVolume", "persistentVolumes"),
        ("StorageClass", "storageClasses"),
        ("CSINode", "csiNodes"),
        ("CSINode", "csiNodes"),
        ("CSIDriver", "csiDrivers"),
        ("CSIStorageCapacity", "csiStorageCapacities"),
        ("VolumeAttachment", "volumeAttachments"),
    ]);
    let old = one(rng, objects, list);
    if old.is_null() {
        return node(rng, objects, pod);
    }
    let mut new = renamed(old.clone());
    if kind == "PersistentVolumeClaim" && rng.chance(60) {
        new["metadata"]["name"] = json!(CLAIM);
        new["metadata"]["namespace"] = pod["metadata"]["namespace"].clone();
    }
    // An attachment matters when it goes; of new ones nobody hears.
    let is_added = kind != "VolumeAttachment" && (kind == "PersistentVolumeClaim" || rng.chance(30));
    if is_added && !(kind == "PersistentVolumeClaim" && rng.chance(30)) {
        return (kind, Value::Null, new);
    }
    if kind == "VolumeAttachment" {
        // Upstream forgets ephemeral volumes here.
        volumes.retain(|volume| volume["ephemeral"].is_null());
        pod["spec"]["volumes"] = json!(volumes);
    }
    // That a driver goes, upstream does not hear.
    if kind == "VolumeAttachment" || kind != "CSIDriver" && rng.chance(10) {
        return (kind, old, Value::Null);
    }
    let new = updated(rng, kind, &old, pod);
    (kind, old, new)
}

/// The object, changed in a field that some plugin reads or in one that none does.
fn updated(rng: &mut Rng, kind: &str, old: &Value, pod: &mut Value) -> Value {
    let mut new = old.clone();
    // Of volumes and claims upstream takes any update for helpful, also of what nobody reads.
    if rng.chance(30) && !kind.starts_with("PersistentVolume") {
        new["metadata"]["annotations"]["example.com/any"] = json!("thing");
        return new;
    }
    match kind {
        "PersistentVolumeClaim" => {
            new["spec"]["volumeName"] = json!("found-now");
            if rng.chance(50) {
                pod["metadata"]["namespace"] = old["metadata"]["namespace"].clone();
                let claim = json!({ "claimName": old["metadata"]["name"] });
                pod["spec"]["volumes"] = json!([{ "name": "its", "persistentVolumeClaim": claim }]);
            }
        }
        "PersistentVolume" if rng.chance(50) => {
            new["metadata"]["labels"]["topology.kubernetes.io/zone"] = json!(rng.pick(&ZONES));
        }
        "PersistentVolume" => new["spec"]["capacity"]["storage"] = json!("123Gi"),
        "StorageClass" => {
            let zone = json!({ "key": "topology.kubernetes.io/zone", "values": [rng.pick(&ZONES)] });
            new["allowedTopologies"] = json!([{ "matchLabelExpressions": [zone] }]);
        }
        "CSINode" if rng.chance(30) => {
            new["metadata"]["annotations"]["storage.alpha.kubernetes.io/migrated-plugins"] =
                json!(rng.pick(&["kubernetes.io/gce-pd", "kubernetes.io/aws-ebs"]));
        }
        "CSINode" => {
            // Limits of drivers that have one: without one upstream takes a driver for one that can attach nothing.
            for driver in new["spec"]["drivers"].as_array_mut().into_iter().flatten() {
                if !driver["allocatable"]["count"].is_null() {
                    driver["allocatable"]["count"] = json!(rng.below(40));
                }
            }
        }
        // Upstream's hint only looks at inline volumes when capacity is no longer tracked.
        "CSIDriver" => new["spec"]["storageCapacity"] = json!(true),
        _ => new["capacity"] = json!(*rng.pick(&["1Mi", "1Pi"])),
    }
    new
}

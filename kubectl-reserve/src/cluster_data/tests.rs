//! A snapshot is read back unchanged and contains no secrets.

use super::redact::redacted;
use super::{ClusterData, ClusterDataBuilder, Resource, Saver, load};
use common::api::node::node;
use common::api::pod::pod;
use common::model::owner::OwnerKind;
use serde_json::{Value, json};
use std::path::Path;

fn pod_json() -> Value {
    json!({
        "metadata": { "name": "p", "namespace": "shop", "uid": "u", "resourceVersion": "7",
            "annotations": { "reserve/keep": "5m", "secret.example.com/token": "hunter2" },
            "managedFields": [{ "manager": "hunter2" }], "labels": { "app": "p" } },
        "spec": {
            "nodeName": "n1", "schedulerName": "s", "priority": 3, "serviceAccountName": "hunter2",
            "containers": [{ "name": "c", "image": "nginx", "command": ["hunter2"],
                "env": [{ "name": "IMAGE", "value": "hunter2" }], "ports": [{ "hostPort": 80 }],
                "resources": { "requests": { "cpu": "1" } } }],
            "volumes": [
                { "name": "a", "persistentVolumeClaim": { "claimName": "data" } },
                { "name": "b", "secret": { "secretName": "hunter2" } },
                { "name": "c", "csi": { "driver": "d", "volumeAttributes": { "password": "hunter2" } } },
                { "name": "d", "ephemeral": { "volumeClaimTemplate": {} } },
                { "name": "e", "hostPath": { "path": "hunter2" } },
            ],
            "tolerations": [{ "key": "k", "operator": "Exists" }],
            "schedulingGates": [{ "name": "g" }],
        },
        "status": { "phase": "Pending", "podIP": "hunter2", "conditions": [
            { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no" }],
            "containerStatuses": [{ "name": "c", "containerID": "hunter2", "state": { "waiting": { "reason": "ImagePullBackOff" } } }] },
    })
}

fn node_json() -> Value {
    json!({
        "metadata": { "name": "n1", "uid": "n1", "annotations": { "reserve.cpu/a8f6f901-47c9-4475-b1f4-cac44597e173": "1",
            "other": "hunter2" } },
        "spec": { "taints": [{ "key": "k", "effect": "NoSchedule" }], "providerID": "hunter2" },
        "status": { "allocatable": { "cpu": "4", "pods": "110" }, "addresses": [{ "address": "hunter2" }],
                    "images": [{ "names": ["nginx"], "sizeBytes": 5 }] },
    })
}

#[test]
fn decoders_find_all_that_they_read_and_nothing_else_is_there() {
    let object = redacted(Resource::Pods, &pod_json());
    assert!(!object.to_string().contains("hunter2"), "{object}");
    let (mut whole, rest) = (pod(&pod_json().to_string()).unwrap(), pod(&object.to_string()).unwrap());
    // Environment variables are decoded, but not saved.
    let mut spec = (*whole.spec).clone();
    spec.env = rest.spec.env.clone();
    whole.spec = spec.into();
    assert_eq!(whole, rest);

    let object = redacted(Resource::Nodes, &node_json());
    assert!(!object.to_string().contains("hunter2"), "{object}");
    let (mut whole, rest) = (node(&node_json().to_string()).unwrap(), node(&object.to_string()).unwrap());
    whole.annotations = rest.annotations;
    assert_eq!(whole, rest);
}

fn saved(path: &Path) -> ClusterData {
    let mut builder = ClusterDataBuilder::with_saver(Some(Saver::create(path).unwrap()));
    builder.add(Resource::Nodes, &node_json().to_string()).unwrap();
    builder.add(Resource::Pods, &pod_json().to_string()).unwrap();
    builder.add_unreadable(Resource::Workloads(OwnerKind::Job)).unwrap();
    let mut data = builder.build("2026-11-16T08:10:00Z".parse().unwrap(), "shop");
    data.save().unwrap();
    data
}

#[test]
fn what_was_saved_is_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("snapshot.gz");
    let mut one = saved(&path);
    let mut other = load(&path, ["p".to_owned()].into_iter()).unwrap();
    assert_eq!((one.now, &one.namespace, &one.unreadable), (other.now, &other.namespace, &other.unreadable));
    assert!(other.is_partial && one.is_partial);
    let names = |data: &mut ClusterData| {
        let nodes = data.cluster.snapshot(data.now).len();
        let pods: Vec<String> = data.cluster.pods().map(|pod| pod.key.to_string()).collect();
        (nodes, pods)
    };
    assert_eq!(names(&mut one), (1, vec!["shop/p".to_owned()]));
    assert_eq!(names(&mut one), names(&mut other));
    let detail = other.diagnostics.detail(&common::model::PodKey::new("shop", "p")).unwrap();
    assert_eq!(detail.containers[0].waiting_reason, "ImagePullBackOff");
    assert!(!dir.path().join("snapshot.gz.part").exists());
}

#[test]
fn what_is_no_snapshot_or_half_of_one_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("snapshot.gz");
    saved(&path);
    let whole = std::fs::read(&path).unwrap();
    let mut cut = whole.clone();
    cut.truncate(whole.len() - 20);
    let zipped = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let header = r#"{"apiVersion":"kubectl-reserve/v1alpha1","kind":"Snapshot"}"#;
    let odd = [
        b"apiVersion: v1".to_vec(),
        Vec::new(),
        cut,
        zipped("{}"),
        zipped(r#"{"apiVersion":"kubectl-reserve/v9","kind":"Snapshot"}"#),
        zipped(header),
        zipped(&format!("{header}\n{{\"resource\":\"pods\"}}\n")),
        zipped(&format!("{header}\n{{\"resource\":\"pods\",\"object\":[]}}\n")),
    ];
    for bytes in odd {
        std::fs::write(&path, &bytes).unwrap();
        let failure = load(&path, std::iter::empty()).err().unwrap();
        assert!(failure.message.unwrap().starts_with("read the snapshot"), "{bytes:?}");
    }
}

//! A cluster for snapshot tests, with a reservation in every state.

use common::api::node::node;
use common::api::pod::pod;
use common::api::workload::workload;
use common::cluster::{Cluster, Event, WatchEvent};
use common::model::{Node, OwnerKind, Pod, PodKey};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The Deployment testngx.
pub(crate) const WEB: &str = "11111111-0000-4000-8000-000000000001";
/// The StatefulSet pg.
const PG: &str = "22222222-0000-4000-8000-000000000002";
/// A Job that is gone.
const GONE: &str = "33333333-0000-4000-8000-000000000003";
/// The UID of an owner that does not exist.
pub(crate) const NOBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

/// The time of the tests.
pub(crate) fn now() -> Timestamp {
    "2026-11-16T08:10:00Z".parse().unwrap()
}

pub(crate) fn waiting() -> [PodKey; 3] {
    [PodKey::new("batch", "crunch-0"), PodKey::new("batch", "huge-0"), PodKey::new("default", "testngx-new")]
}

fn info(owner: (&str, &str, &str, &str), replaces: (&str, &str), expires: &str, more: &Value) -> String {
    let (kind, namespace, name, uid) = owner;
    let mut info = json!({
        "v": 1, "owner": { "kind": kind, "namespace": namespace, "name": name, "uid": uid },
        "replaces": { "name": replaces.0, "uid": replaces.1 }, "priority": 0,
        "created": "2026-11-16T08:09:12Z", "expires": expires, "request": "r1", "by": "admin",
        "reason": "kubectl reserve pod", "placement": "wait",
    });
    for (key, value) in more.as_object().unwrap() {
        info[key] = value.clone();
    }
    info.to_string()
}

fn a_node(name: &str, cpu: &str, annotations: &Value, is_cordoned: bool) -> Node {
    let json = json!({
        "metadata": { "name": name, "uid": name, "annotations": annotations },
        "spec": { "unschedulable": is_cordoned },
        "status": { "allocatable": { "cpu": cpu, "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "8" } },
    });
    node(&json.to_string()).unwrap()
}

fn a_pod(namespace: &str, name: &str, at: Option<&str>, cpu: &str, owner: Option<(&str, &str, &str)>) -> Pod {
    let mut json = json!({
        "metadata": { "name": name, "namespace": namespace, "uid": format!("uid-{name}") },
        "spec": { "containers": [{ "name": "c", "resources": { "requests": { "cpu": cpu, "memory": "1Gi" } },
                                   "ports": [] }] },
        "status": { "phase": if at.is_some() { "Running" } else { "Pending" }, "conditions":
            [{ "type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-16T08:09:30Z" }] },
    });
    if let Some(node) = at {
        json["spec"]["nodeName"] = node.into();
    } else {
        json["status"]["conditions"] = json!([]);
    }
    if let Some((kind, owner, uid)) = owner {
        json["metadata"]["ownerReferences"] =
            json!([{ "apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": uid, "controller": true }]);
    }
    pod(&json.to_string()).unwrap()
}

fn nodes() -> Vec<Node> {
    let web = ("Deployment", "default", "testngx", WEB);
    let pg = ("StatefulSet", "data", "pg", PG);
    let (later, past) = ("2026-11-16T08:19:12Z", "2026-11-16T08:07:00Z");
    let gpu = json!({ "resources": { "nvidia.com/gpu": "2" },
                      "ports": [{ "port": 8080, "protocol": "TCP" }] });
    let none = json!({});
    let of = |resource: &str, uid: &str, seat: &str| format!("reserve.{resource}/{uid}.{seat}");
    let one = json!({
        of("cpu", WEB, "7f3a0c"): "5000m", of("memory", WEB, "7f3a0c"): "2Gi",
        of("info", WEB, "7f3a0c"): info(web, ("testngx-1", "gone"), later, &gpu),
        of("cpu", WEB, "91c0aa"): "500m", of("info", WEB, "91c0aa"): info(web, ("testngx-2", "gone"), past, &none),
        of("cpu", PG, "0cc7"): "500m", of("info", PG, "0cc7"): info(pg, ("pg-0", "uid-pg-0"), later, &none),
        of("cpu", PG, "7a4e"): "500m", of("info", PG, "7a4e"): info(pg, ("pg-1", "gone"), later, &none),
        format!("reserve.cpu/{NOBODY}"): "500m", "reserve.cpu/oops": "1",
    });
    let two = json!({
        of("cpu", WEB, "5807"): "4", of("info", WEB, "5807"): info(web, ("testngx-3", "gone"), later, &none),
    });
    let three = json!({
        format!("reserve.cpu/{PG}"): "5", of("cpu", GONE, "0149"): "1",
        of("info", GONE, "0149"): info(("Job", "batch", "crunch", GONE), ("crunch-1", "gone"), later, &none),
        of("cpu", WEB, "new1"): "1",
        of("info", WEB, "new1"): json!({ "v": 7, "expires": later, "owner": 5 }).to_string(),
    });
    vec![
        a_node("node-1", "16", &one, false),
        a_node("node-2", "4", &two, false),
        a_node("node-3", "16", &three, true),
    ]
}

/// Three nodes with all reservations, pods and owners.
pub(crate) fn cluster() -> Cluster {
    let set = |kind: OwnerKind, namespace: &str, name: &str, uid: &str, above: Value| {
        let json = json!({ "metadata": { "name": name, "namespace": namespace, "uid": uid, "ownerReferences": above } });
        Event::Workloads(kind, WatchEvent::Applied(workload(kind, &json.to_string()).unwrap()))
    };
    let above = json!([{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "testngx", "uid": WEB,
                         "controller": true }]);
    let pods = vec![
        a_pod("data", "pg-0", Some("node-1"), "500m", Some(("StatefulSet", "pg", PG))),
        a_pod("data", "pg-1", Some("node-1"), "500m", Some(("StatefulSet", "pg", PG))),
        a_pod("data", "pg-2", Some("node-3"), "2", Some(("StatefulSet", "pg", PG))),
        a_pod("other", "hog", Some("node-2"), "3", None),
        a_pod("default", "testngx-new", None, "5", Some(("ReplicaSet", "testngx-7d9f", "rs"))),
        a_pod("batch", "crunch-0", None, "12", None),
        a_pod("batch", "huge-0", None, "120", None),
    ];
    let mut cluster = Cluster::default();
    cluster.apply(Event::Nodes(WatchEvent::Relisted(nodes())));
    cluster.apply(Event::Pods(WatchEvent::Relisted(pods)));
    for event in [
        set(OwnerKind::Deployment, "default", "testngx", WEB, json!([])),
        set(OwnerKind::ReplicaSet, "default", "testngx-7d9f", "rs", above),
        set(OwnerKind::StatefulSet, "data", "pg", PG, json!([])),
    ] {
        cluster.apply(event);
    }
    cluster
}

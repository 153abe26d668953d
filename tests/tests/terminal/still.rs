//! A cluster where time stands still: four nodes, pods that run and pods that wait, a reservation in every state, and a daemon
//! that has seen everything.

use crate::cluster::Cluster;
use anyhow::{Context as _, Result};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// Somebody who was never there.
pub(crate) const NOBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

/// When everything was made.
const BEGAN: &str = "2026-11-17T08:00:00Z";

/// How long ago that is.
const AGE: SignedDuration = SignedDuration::from_mins(90);

pub(crate) struct Still {
    pub(crate) cluster: Cluster,
    /// The pods of web, those that run first.
    pub(crate) web: Vec<String>,
    /// The pod that waits.
    pub(crate) shop: String,
}

/// The cluster.
pub(crate) fn shared_cluster() -> Result<Still> {
    let began: Timestamp = BEGAN.parse()?;
    let now = began + AGE;
    let cluster = Cluster::still(began)?;
    cluster.create("/api/v1/namespaces", &json!({ "metadata": { "name": "data" } }))?;
    cluster.create("/api/v1/namespaces", &json!({ "metadata": { "name": "kube-reserve" } }))?;
    for (name, cpu, pool) in
        [("node-1", "4", "web"), ("node-2", "4", "web"), ("node-3", "4", "db"), ("node-4", "8", "db")]
    {
        cluster.create("/api/v1/nodes", &node(name, cpu, pool))?;
    }
    let web = cluster.create(&apps("default", "deployments"), &workload("web", 2, "1"))?;
    let db = cluster.create(&apps("data", "statefulsets"), &workload("db", 1, "2"))?;
    cluster.settle();
    let running = names(&cluster, "default", "web")?;
    for (namespace, pod, node) in
        [("default", &*running[0], "node-1"), ("default", &running[1], "node-2"), ("data", "db-0", "node-4")]
    {
        bind(&cluster, namespace, pod, node)?;
    }
    cluster.settle();
    cluster.create(&apps("default", "deployments"), &workload("shop", 1, "3500m"))?;
    cluster.settle();
    let shop = names(&cluster, "default", "shop")?.remove(0);
    cluster.set_time(now);
    no_place(&cluster, &shop, now)?;
    cluster.create("/apis/coordination.k8s.io/v1/namespaces/kube-reserve/leases", &daemon(now))?;
    let db_pod = cluster.read("/api/v1/namespaces/data/pods/db-0")?;
    reserve(&cluster, &web, &db, &db_pod, now)?;
    manifests(&cluster)?;
    Ok(Still { cluster, web: running, shop })
}

/// Manifests that were not applied: one as people write them, with numbers as quantities, one with a field that does not exist, and
/// an empty one.
fn manifests(cluster: &Cluster) -> Result<()> {
    let many = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: many}\nspec:\n  replicas: 50\n  template:\n    \
                spec:\n      schedulerName: reserve-scheduler\n      containers:\n      - {name: c, resources: {requests: {cpu: 1}}}\n";
    cluster.file("many.yaml", many)?;
    cluster.file("wrong.yaml", &many.replace("containers:", "container:"))?;
    cluster.file("empty.yaml", "---\n").map(drop)
}

impl Still {
    /// Lets so many seconds pass.
    pub(crate) fn wait(&self, seconds: i64) -> Result<()> {
        let began: Timestamp = BEGAN.parse()?;
        self.cluster.set_time(began + AGE + SignedDuration::from_secs(seconds));
        Ok(())
    }
}

/// Where objects of `apps/v1` are made.
pub(crate) fn apps(namespace: &str, plural: &str) -> String {
    format!("/apis/apps/v1/namespaces/{namespace}/{plural}")
}

pub(crate) fn node(name: &str, cpu: &str, pool: &str) -> Value {
    let room = json!({ "cpu": cpu, "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi" });
    json!({ "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name, "pool": pool } },
            "status": { "capacity": room, "allocatable": room } })
}

/// A workload whose pods our scheduler places.
pub(crate) fn workload(app: &str, replicas: u32, cpu: &str) -> Value {
    let asks = json!({ "requests": { "cpu": cpu, "memory": "1Gi" } });
    let template = json!({ "metadata": { "labels": { "app": app } }, "spec": {
        "schedulerName": "reserve-scheduler", "terminationGracePeriodSeconds": 5,
        "containers": [{ "name": "c", "image": "registry.example/app:1", "resources": asks }] } });
    json!({ "metadata": { "name": app }, "spec": { "replicas": replicas, "serviceName": app,
            "selector": { "matchLabels": { "app": app } }, "template": template } })
}

/// The pods of an app, by name.
pub(crate) fn names(cluster: &Cluster, namespace: &str, app: &str) -> Result<Vec<String>> {
    let list = cluster.read(&format!("/api/v1/namespaces/{namespace}/pods?labelSelector=app%3D{app}"))?;
    let items = list["items"].as_array().context("no list")?;
    let mut names: Vec<String> =
        items.iter().filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned)).collect();
    names.sort();
    Ok(names)
}

fn bind(cluster: &Cluster, namespace: &str, pod: &str, node: &str) -> Result<()> {
    let binding = json!({ "metadata": { "name": pod }, "target": { "kind": "Node", "name": node } });
    cluster.create(&format!("/api/v1/namespaces/{namespace}/pods/{pod}/binding"), &binding).map(drop)
}

/// The scheduler has told the pod that there is no place for it.
fn no_place(cluster: &Cluster, pod: &str, now: Timestamp) -> Result<()> {
    let condition = json!({ "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "lastTransitionTime": (now - SignedDuration::from_mins(12)).to_string(),
        "message": "0/4 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 Insufficient cpu." });
    let status = json!({ "status": { "conditions": [condition] } });
    cluster.merge(&format!("/api/v1/namespaces/default/pods/{pod}/status"), &status).map(drop)
}

/// The Lease of a replica that has seen everything, whatever comes.
fn daemon(now: Timestamp) -> Value {
    let annotations = json!({
        "reserve/seen-nodes": u64::MAX.to_string(), "reserve/seen-pods": u64::MAX.to_string(),
        "reserve/schedulers": "reserve-scheduler", "reserve/version": env!("CARGO_PKG_VERSION"),
    });
    let labels = json!({ "app.kubernetes.io/name": "kubectl-reserve" });
    json!({ "metadata": { "name": "reserve-a", "annotations": annotations, "labels": labels },
            "spec": { "holderIdentity": "a", "leaseDurationSeconds": 40, "renewTime": format!("{now:.6}") } })
}

/// One reservation in each state, and what was meant as one.
fn reserve(cluster: &Cluster, web: &Value, db: &Value, db_pod: &Value, now: Timestamp) -> Result<()> {
    let gone = json!({ "name": "web-0", "uid": "00000000-0000-4000-8000-00000000dead" });
    let sits = json!({ "name": "db-0", "uid": db_pod["metadata"]["uid"] });
    let old = json!({ "kind": "Job", "metadata": { "name": "crunch", "namespace": "default",
                      "uid": "33333333-0000-4000-8000-000000000003" } });
    let held = info("Deployment", web, &gone, now, 552);
    let occupied = info("StatefulSet", db, &sits, now, 300);
    let expired = info("Job", &old, &gone, now, -60);
    let (web, db, old) = (uid(web), uid(db), uid(&old));
    let annotations = [
        (
            "node-1",
            json!({ format!("reserve.cpu/{web}.7f3a0c"): "1", format!("reserve.memory/{web}.7f3a0c"): "1Gi",
                           format!("reserve.info/{web}.7f3a0c"): held }),
        ),
        ("node-2", json!({ format!("reserve.cpu/{NOBODY}"): "500m" })),
        (
            "node-3",
            json!({ format!("reserve.cpu/{old}.0ld5ea7"): "1", format!("reserve.info/{old}.0ld5ea7"): expired,
                           "reserve.cpu/oops": "1" }),
        ),
        (
            "node-4",
            json!({ format!("reserve.cpu/{db}.91c0aa"): "2", format!("reserve.memory/{db}.91c0aa"): "1Gi",
                           format!("reserve.info/{db}.91c0aa"): occupied }),
        ),
    ];
    for (node, annotations) in annotations {
        let patch = json!({ "metadata": { "annotations": annotations } });
        cluster.merge(&format!("/api/v1/nodes/{node}"), &patch)?;
    }
    cluster.merge("/api/v1/nodes/node-3", &json!({ "spec": { "unschedulable": true } }))?;
    let taint = json!({ "key": "dedicated", "value": "db", "effect": "NoSchedule" });
    cluster.merge("/api/v1/nodes/node-4", &json!({ "spec": { "taints": [taint] } })).map(drop)
}

pub(crate) fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap_or_default()
}

/// The record of a reservation that was made 48 seconds ago.
pub(crate) fn info(kind: &str, owner: &Value, replaces: &Value, now: Timestamp, seconds_left: i64) -> String {
    let meta = &owner["metadata"];
    let created = now - SignedDuration::from_secs(if seconds_left < 0 { 700 } else { 48 });
    json!({
        "v": 1, "owner": { "kind": kind, "namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"] },
        "replaces": replaces, "priority": 0, "created": created.to_string(),
        "expires": (now + SignedDuration::from_secs(seconds_left)).to_string(), "request": "r1", "by": "admin",
        "reason": "kubectl reserve pod", "placement": "wait",
    })
    .to_string()
}

//! A made-up cluster of `conformance`, with owners that are there and reservations on its nodes.

use anyhow::{Context as _, Result};
use common::api;
use common::cluster::{Cluster, Event, WatchEvent};
use common::model::{CatalogKind, OwnerKind, Pod};
use jiff::{SignedDuration, Timestamp};
use reserve_tests::conformance::format::CaseLine;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Controllers, as cases call them.
const CONTROLLERS: [(&str, &str); 3] = [
    ("ReplicaSet", "replicaSets"),
    ("StatefulSet", "statefulSets"),
    ("ReplicationController", "replicationControllers"),
];

/// The one moment of these tests.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_second(1_795_000_000).unwrap_or_default()
}

/// The objects of a cluster, as a daemon hears of them.
pub(crate) struct SharedCluster {
    events: Vec<Event>,
    pods: Vec<Pod>,
}

impl SharedCluster {
    /// The cluster of a case, with reservations by `seed`.
    pub(crate) fn new(case: &Value, seed: u64) -> Result<Self> {
        let mut case = case.clone();
        let mut rng = fastrand::Rng::with_seed(seed);
        let cluster = case["cluster"].as_object_mut().context("no cluster")?;
        let mut owners = Vec::new();
        for (kind, place) in CONTROLLERS {
            for object in cluster.get_mut(place).and_then(Value::as_array_mut).into_iter().flatten() {
                let uid = uid(kind, &object["metadata"]);
                object["metadata"]["uid"] = json!(uid);
                owners.push((kind, object["metadata"].clone()));
            }
        }
        for pod in list(cluster, "pods") {
            own(pod);
        }
        for node in list(cluster, "nodes") {
            reserve(node, &owners, &mut rng);
        }
        let text = case.to_string();
        let line: CaseLine<'_> = serde_json::from_str(&text)?;
        let objects = line.cluster.context("no cluster")?;
        let decode = |json: &&RawValue| api::node::node(json.get());
        let nodes = objects.nodes.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        let decode = |json: &&RawValue| api::pod::pod(json.get());
        let pods = objects.pods.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        let mut events = vec![Event::Nodes(WatchEvent::Relisted(nodes))];
        for kind in OwnerKind::ALL {
            let decode = |json: &&RawValue| api::workload::workload(kind, json.get());
            let live = objects.workloads(kind).iter().map(decode).collect::<Result<Vec<_>, _>>()?;
            events.push(Event::Workloads(kind, WatchEvent::Relisted(live)));
        }
        for kind in CatalogKind::ALL {
            let decode = |json: &&RawValue| api::catalog_object::catalog_object(kind, json.get());
            let live = objects.others(kind).iter().map(decode).collect::<Result<Vec<_>, _>>()?;
            events.push(Event::CatalogObjects(kind, WatchEvent::Relisted(live)));
        }
        Ok(Self { events, pods })
    }

    /// A pod that is to be placed there.
    pub(crate) fn pod(&self, json: &Value) -> Result<Pod> {
        let mut json = json.clone();
        own(&mut json);
        Ok(api::pod::pod(&json.to_string())?)
    }

    /// Everything that there is; with one pod more. Pods come last: nothing is decided before.
    pub(crate) fn events(&self, pod: Option<&Pod>) -> Vec<Event> {
        let pods = self.pods.iter().chain(pod).cloned().collect();
        self.events.iter().cloned().chain([Event::Pods(WatchEvent::Relisted(pods))]).collect()
    }

    /// The same as the command reads it.
    pub(crate) fn cluster(&self) -> Cluster {
        let mut cluster = Cluster::default();
        for event in self.events(None) {
            cluster.apply(event);
        }
        cluster
    }
}

/// The same pod under another scheduler.
pub(crate) fn of_scheduler(pod: &Pod, name: &str) -> Pod {
    let mut pod = pod.clone();
    let mut spec = (*pod.spec).clone();
    spec.scheduler_name = name.into();
    pod.spec = std::sync::Arc::new(spec);
    pod
}

fn list<'c>(
    cluster: &'c mut serde_json::Map<String, Value>,
    kind: &str,
) -> impl Iterator<Item = &'c mut Value> {
    cluster.get_mut(kind).and_then(Value::as_array_mut).into_iter().flatten()
}

/// What a pod claims to be owned by has the UID that it claims.
fn own(pod: &mut Value) {
    let namespace = pod["metadata"]["namespace"].clone();
    for owner in pod["metadata"]["ownerReferences"].as_array_mut().into_iter().flatten() {
        let kind = owner["kind"].as_str().unwrap_or_default().to_owned();
        owner["uid"] = json!(uid(&kind, &json!({ "namespace": namespace, "name": owner["name"] })));
    }
}

/// A UID that follows from what the owner is called.
fn uid(kind: &str, metadata: &Value) -> String {
    let text = format!("{kind}/{}/{}", metadata["namespace"], metadata["name"]);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{:08x}-0000-4000-8000-{:012x}", hash >> 32, hash & 0xffff_ffff_ffff)
}

/// Some nodes keep room: in either form, for owners that are there or not, live or not.
fn reserve(node: &mut Value, owners: &[(&str, Value)], rng: &mut fastrand::Rng) {
    for number in 0..rng.u8(0..4) {
        let (kind, owner) = match rng.choice(owners) {
            Some((kind, owner)) if rng.u8(0..4) > 0 => (*kind, owner.clone()),
            _ => ("Deployment", json!({ "namespace": "default", "name": "gone" })),
        };
        let uid = uid(kind, &owner);
        let cpu = format!("{}m", 250 * rng.u32(1..24));
        let (name, info) = if rng.bool() {
            (uid, None)
        } else {
            (format!("{uid}.a{number}"), Some(record(kind, &owner, rng)))
        };
        let annotations = &mut node["metadata"]["annotations"];
        annotations[format!("reserve.cpu/{name}")] = json!(cpu);
        if rng.bool() {
            annotations[format!("reserve.memory/{name}")] = json!(format!("{}Mi", rng.u32(64..4096)));
        }
        if let Some(info) = info {
            annotations[format!("reserve.info/{name}")] = json!(info.to_string());
        }
    }
}

fn record(kind: &str, owner: &Value, rng: &mut fastrand::Rng) -> Value {
    let seconds = |seconds: i64| (now() + SignedDuration::from_secs(seconds)).to_string();
    json!({
        "v": 1,
        "owner": { "kind": kind, "namespace": owner["namespace"], "name": owner["name"], "uid": uid(kind, owner) },
        "priority": rng.i32(0..3) * 100,
        "created": seconds(-60),
        // One in five has ended.
        "expires": seconds(if rng.u8(0..5) == 0 { -1 } else { 600 }),
        "request": "r", "by": "agree", "reason": "", "placement": *rng.choice(["wait", "prefer", "require"].iter()).unwrap_or(&"prefer"),
    })
}

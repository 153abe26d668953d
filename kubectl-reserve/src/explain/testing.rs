//! A builder of clusters for tests: `test_cluster().node(node("n1").cpu("4")).pod(pod("a").on("n1").cpu("1"))`.
//!
//! Everything is built as API JSON and goes through the real decoders.

use super::{Input, Options, Report, Rules, analyse};
use common::api;
use common::cluster::{Cluster, Event, WatchEvent};
use common::model::{CatalogKind, OwnerKind, Pod};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The JSON of an object, with methods to change it.
#[derive(Clone, Debug)]
pub(crate) struct Json(pub(crate) Value);

/// The objects of a cluster, as JSON.
#[derive(Clone, Default)]
pub(crate) struct TestCluster {
    pub(crate) nodes: Vec<Value>,
    pub(crate) pods: Vec<Value>,
    workloads: Vec<(OwnerKind, Value)>,
    others: Vec<(CatalogKind, Value)>,
}

pub(crate) fn now() -> Timestamp {
    "2026-11-16T08:10:00Z".parse().unwrap()
}

/// The time `seconds` after [`now`], as the API server writes it.
pub(crate) fn at(seconds: i64) -> String {
    (now() + SignedDuration::from_secs(seconds)).to_string()
}

pub(crate) fn uid(name: &str) -> String {
    let hash = name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    format!("{:08x}-0000-4000-8000-{:012x}", hash & 0xffff_ffff, hash & 0xffff_ffff_ffff)
}

pub(crate) fn test_cluster() -> TestCluster {
    TestCluster::default()
}

/// A node with 16 cpus, 64 Gi of memory and 110 slots.
pub(crate) fn node(name: &str) -> Json {
    Json(json!({
        "metadata": { "name": name, "uid": uid(name), "labels": { "kubernetes.io/hostname": name } },
        "spec": {},
        "status": { "allocatable": { "cpu": "16", "memory": "64Gi", "pods": "110" } },
    }))
}

/// A pod in `default` of the daemon's scheduler, created half a minute ago.
pub(crate) fn pod(name: &str) -> Json {
    Json(json!({
        "metadata": { "name": name, "namespace": "default", "uid": uid(name), "creationTimestamp": at(-30) },
        "spec": { "schedulerName": "reserve-scheduler", "containers": [{ "name": "app", "resources": { "requests": {} } }] },
        "status": { "phase": "Pending" },
    }))
}

impl Json {
    /// Sets any field, by its JSON pointer.
    pub(crate) fn with(mut self, pointer: &str, value: Value) -> Self {
        let place = pointer.split('/').skip(1).fold(&mut self.0, |place, part| match part.parse::<usize>() {
            Ok(index) => &mut place[index],
            Err(_) => &mut place[part.replace("~1", "/")],
        });
        *place = value;
        self
    }

    pub(crate) fn cpu(self, amount: &str) -> Self {
        self.amount("cpu", amount)
    }

    pub(crate) fn memory(self, amount: &str) -> Self {
        self.amount("memory", amount)
    }

    /// Sets the allocatable amount of a node, or the request of a pod.
    pub(crate) fn amount(mut self, resource: &str, amount: &str) -> Self {
        let place = match self.0["spec"].get_mut("containers") {
            Some(containers) => &mut containers[0]["resources"]["requests"],
            None => &mut self.0["status"]["allocatable"],
        };
        place[resource] = json!(amount);
        self
    }

    pub(crate) fn label(self, key: &str, value: &str) -> Self {
        let key = key.replace('/', "~1");
        self.with(&format!("/metadata/labels/{key}"), json!(value))
    }

    pub(crate) fn annotation(self, key: &str, value: &str) -> Self {
        let key = key.replace('/', "~1");
        self.with(&format!("/metadata/annotations/{key}"), json!(value))
    }

    /// `key=value:Effect`.
    pub(crate) fn taint(mut self, text: &str) -> Self {
        let (taint, effect) = text.split_once(':').unwrap();
        let (key, value) = taint.split_once('=').unwrap_or((taint, ""));
        let taint = json!({ "key": key, "value": value, "effect": effect });
        match self.0["spec"]["taints"].as_array_mut() {
            Some(list) => list.push(taint),
            None => self.0["spec"]["taints"] = json!([taint]),
        }
        self
    }

    pub(crate) fn cordoned(self) -> Self {
        self.with("/spec/unschedulable", json!(true)).taint("node.kubernetes.io/unschedulable:NoSchedule")
    }

    pub(crate) fn on(self, node: &str) -> Self {
        self.with("/spec/nodeName", json!(node)).with("/status/phase", json!("Running"))
    }

    pub(crate) fn namespace(self, namespace: &str) -> Self {
        self.with("/metadata/namespace", json!(namespace))
    }

    pub(crate) fn priority(self, priority: i32) -> Self {
        self.with("/spec/priority", json!(priority))
    }

    pub(crate) fn scheduler(self, name: &str) -> Self {
        self.with("/spec/schedulerName", json!(name))
    }

    pub(crate) fn of(self, kind: OwnerKind, name: &str) -> Self {
        let version = if kind.group().is_empty() { "v1".to_owned() } else { format!("{}/v1", kind.group()) };
        let reference = json!({ "apiVersion": version, "kind": kind.as_str(), "name": name,
            "uid": uid(&format!("{kind}/{name}")), "controller": true });
        self.with("/metadata/ownerReferences", json!([reference]))
    }

    /// Sets the message of the scheduler, in the condition `PodScheduled`.
    pub(crate) fn scheduler_message(self, message: &str) -> Self {
        let condition = json!({ "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message });
        self.with("/status/conditions", json!([condition]))
    }

    pub(crate) fn build(&self) -> Pod {
        api::pod::pod(&self.0.to_string()).unwrap()
    }
}

impl TestCluster {
    pub(crate) fn node(mut self, node: Json) -> Self {
        self.nodes.push(node.0);
        self
    }

    pub(crate) fn pod(mut self, pod: Json) -> Self {
        self.pods.push(pod.0);
        self
    }

    pub(crate) fn workload(mut self, kind: OwnerKind, namespace: &str, name: &str) -> Self {
        let object = json!({ "metadata": { "name": name, "namespace": namespace, "uid": uid(&format!("{kind}/{name}")) },
            "spec": { "replicas": 1 } });
        self.workloads.push((kind, object));
        self
    }

    pub(crate) fn other(mut self, kind: CatalogKind, object: Value) -> Self {
        self.others.push((kind, object));
        self
    }

    pub(crate) fn cluster(&self) -> Cluster {
        let mut cluster = Cluster::default();
        let nodes = self.nodes.iter().map(|json| api::node::node(&json.to_string()).unwrap());
        cluster.apply(Event::Nodes(WatchEvent::Relisted(nodes.collect())));
        for kind in OwnerKind::ALL {
            let own = self.workloads.iter().filter(|(of, _)| *of == kind);
            let own = own.map(|(_, json)| api::workload::workload(kind, &json.to_string()).unwrap());
            cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(own.collect())));
        }
        for kind in CatalogKind::ALL {
            let own = self.others.iter().filter(|(of, _)| *of == kind);
            let own =
                own.map(|(_, json)| api::catalog_object::catalog_object(kind, &json.to_string()).unwrap());
            cluster.apply(Event::CatalogObjects(kind, WatchEvent::Relisted(own.collect())));
        }
        let pods = self.pods.iter().map(|json| api::pod::pod(&json.to_string()).unwrap());
        cluster.apply(Event::Pods(WatchEvent::Relisted(pods.collect())));
        cluster
    }

    /// The report about `pod`, which is added to the cluster.
    pub(crate) fn explain(&self, pod: &Json, options: Options) -> Report {
        self.clone().pod(pod.clone()).explain_as_it_is(pod, options)
    }

    /// The report about `pod`, without adding it to the cluster.
    pub(crate) fn explain_as_it_is(&self, pod: &Json, options: Options) -> Report {
        let rules = rules();
        analyse(&mut self.cluster(), &input(&pod.build(), &pod.0, &rules, options))
    }
}

/// Every scheduler enforces reservations, except `default-scheduler`.
pub(crate) fn rules() -> Rules {
    Rules::new(|name| name != "default-scheduler")
}

pub(crate) fn input<'a>(pod: &'a Pod, source: &'a Value, rules: &'a Rules, options: Options) -> Input<'a> {
    Input {
        pod,
        source: Some(source),
        now: now(),
        rules,
        options,
        context: None,
        snapshot: None,
        manifests: &[],
        last_try: None,
        autoscaler: &[],
        priority_classes: &[],
    }
}

//! The initial objects of a simulation: nodes, and workloads that fill them.

use super::record::text;
use super::sim::Sim;
use crate::simulation::ports::ports;
use serde_json::{Value, json};

/// The scheduler of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodScheduler {
    Us,
    /// A scheduler that knows nothing of reservations.
    Others,
}

/// A workload to create.
#[derive(Clone, Debug)]
pub(super) struct WorkloadSpec {
    /// `Deployment` or `StatefulSet`.
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) replicas: usize,
    /// In milli-units.
    pub(super) cpu: u64,
    pub(super) scheduler: PodScheduler,
    /// The value of `reserve/keep`.
    pub(super) keep: Option<&'static str>,
    pub(super) priority: i32,
    /// The grace period of its pods in seconds.
    pub(super) grace: u64,
    /// The number that `ports` turns into host ports of each pod; 0: none.
    pub(super) ports: u16,
}

impl WorkloadSpec {
    /// A Deployment of pods of one core, placed by us.
    pub(super) fn new(name: &str, replicas: usize) -> Self {
        let (kind, scheduler) = ("Deployment", PodScheduler::Us);
        Self {
            kind,
            name: name.to_owned(),
            replicas,
            cpu: 1000,
            scheduler,
            keep: None,
            priority: 0,
            grace: 5,
            ports: 0,
        }
    }

    /// The JSON of the workload.
    pub(super) fn object(&self) -> Value {
        let mut object = json!({
            "apiVersion": "apps/v1", "kind": self.kind,
            "metadata": { "name": self.name, "namespace": "default", "annotations": {} },
            "spec": { "replicas": self.replicas, "selector": { "matchLabels": { "app": self.name } },
                      "serviceName": self.name, "template": template(&self.name, self.cpu, self.scheduler) },
        });
        if let Some(keep) = self.keep {
            object["metadata"]["annotations"]["reserve/keep"] = keep.into();
        }
        let pod = &mut object["spec"]["template"]["spec"];
        pod["terminationGracePeriodSeconds"] = self.grace.into();
        if self.ports > 0 {
            let port = |(port, ip): (u16, String)| match &*ip {
                "" => json!({ "containerPort": port, "hostPort": port }),
                ip => json!({ "containerPort": port, "hostPort": port, "hostIP": ip }),
            };
            pod["containers"][0]["ports"] = ports(self.ports).into_iter().map(port).collect();
        }
        if self.priority != 0 {
            object["spec"]["template"]["spec"]["priority"] = self.priority.into();
        }
        object
    }
}

/// A pod template.
pub(super) fn template(app: &str, cpu: u64, scheduler: PodScheduler) -> Value {
    let requests = json!({ "cpu": format!("{cpu}m"), "memory": "64Mi" });
    let container = json!({ "name": "c", "image": "i", "resources": { "requests": requests } });
    let scheduler = if scheduler == PodScheduler::Us { "reserve-scheduler" } else { "default-scheduler" };
    json!({ "metadata": { "labels": { "app": app } },
            "spec": { "schedulerName": scheduler, "terminationGracePeriodSeconds": 5, "containers": [container] } })
}

/// A node with `cpu` cores.
pub(super) fn node(name: &str, cpu: u64) -> Value {
    let room = json!({ "cpu": cpu.to_string(), "memory": "8Gi", "pods": "20", "ephemeral-storage": "100Gi" });
    json!({ "apiVersion": "v1", "kind": "Node",
            "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name }, "annotations": { "other/kept": "yes" } },
            "status": { "capacity": room, "allocatable": room } })
}

impl Sim {
    /// The pods of a workload that have not ended: name and object.
    pub(super) fn pods_of(&self, app: &str) -> Vec<(String, Value)> {
        let pods = self.record.objects("pods");
        let is_of = |pod: &Value| {
            pod["metadata"]["labels"]["app"] == app
                && !matches!(pod["status"]["phase"].as_str(), Some("Failed" | "Succeeded"))
        };
        let name = |pod: &Value| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        pods.values().filter(|pod| is_of(pod)).map(|pod| (name(pod), Value::clone(pod))).collect()
    }

    /// Whether a workload has exactly `count` pods, all running.
    pub(super) fn is_running(&self, app: &str, count: usize) -> bool {
        let pods = self.pods_of(app);
        let is_well = |pod: &Value| {
            pod["status"]["phase"] == "Running" && pod["metadata"]["deletionTimestamp"].is_null()
        };
        pods.len() == count && pods.iter().all(|(_, pod)| is_well(pod))
    }

    /// The reservations with a record, as `NODE/NAME`.
    pub(super) fn names_of_reservations(&self) -> Vec<String> {
        let nodes = self.record.objects("nodes");
        let mut names = Vec::new();
        for node in nodes.values() {
            let keys = node["metadata"]["annotations"].as_object().into_iter().flat_map(|all| all.keys());
            let seats = keys.filter_map(|key| key.strip_prefix("reserve.info/")?.split_once('.'));
            names.extend(seats.map(|(_, seat)| format!("{}/{seat}", text(node, "/metadata/name"))));
        }
        names
    }

    /// How many reservations with a record there are on all nodes.
    pub(super) fn reservations(&self) -> usize {
        let nodes = self.record.objects("nodes");
        let keys = nodes.values().filter_map(|node| node["metadata"]["annotations"].as_object());
        keys.flat_map(|all| all.keys()).filter(|key| key.starts_with("reserve.info/")).count()
    }
}

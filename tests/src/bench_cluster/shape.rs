//! The shapes of nodes and pods: those of kube-scheduler's own benchmark, scheduler_perf.

use anyhow::{Result, bail};
use serde_json::{Value, json};

/// The namespace of all pods, named as in scheduler_perf.
pub(super) const NAMESPACE: &str = "sched-1";

const ZONE: &str = "topology.kubernetes.io/zone";

/// The constraints of the pods besides their requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// None: scheduler_perf's SchedulingBasic.
    Basic,
    /// Topology spread over three zones: scheduler_perf's TopologySpreading.
    Spread,
    /// Pod affinity by zone: scheduler_perf's SchedulingPodAffinity.
    Affinity,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 3] = [Self::Basic, Self::Spread, Self::Affinity];

    /// Its name in `--shapes` and in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Spread => "spread",
            Self::Affinity => "affinity",
        }
    }

    /// The shape of that name.
    ///
    /// # Errors
    /// When no shape has this name.
    pub fn named(name: &str) -> Result<Self> {
        match Self::ALL.into_iter().find(|shape| shape.name() == name) {
            Some(shape) => Ok(shape),
            None => bail!("no shape `{name}`: there are basic, spread and affinity"),
        }
    }

    /// A node that is ready without a kubelet.
    pub(super) fn node(self, number: usize) -> Value {
        let zones: &[&str] = match self {
            Self::Basic => &[],
            Self::Spread => &["moon-1", "moon-2", "moon-3"],
            Self::Affinity => &["zone1"],
        };
        let name = node_name(number);
        let mut labels = json!({ "kubernetes.io/hostname": name });
        if let Some(zone) = number.checked_rem(zones.len()).and_then(|at| zones.get(at)) {
            labels[ZONE] = json!(zone);
        }
        let room = json!({ "pods": "110", "cpu": "4", "memory": "32Gi" });
        json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": { "name": name, "labels": labels },
            "status": {
                "capacity": room,
                "allocatable": room,
                "conditions": [{ "type": "Ready", "status": "True" }],
            },
        })
    }

    pub(super) fn pod(self, number: usize) -> Value {
        let blue = json!({ "matchLabels": { "color": "blue" } });
        let room = json!({ "cpu": "100m", "memory": "500Mi" });
        let mut pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "name": pod_name(number), "namespace": NAMESPACE },
            "spec": { "containers": [{
                "name": "pause",
                "image": "pause",
                "ports": [{ "containerPort": 80 }],
                "resources": { "limits": room, "requests": room },
            }] },
        });
        if self != Self::Basic {
            pod["metadata"]["labels"] = json!({ "color": "blue" });
        }
        match self {
            Self::Basic => {}
            Self::Spread => {
                pod["spec"]["topologySpreadConstraints"] = json!([{ "maxSkew": 5, "topologyKey": ZONE,
                    "whenUnsatisfiable": "DoNotSchedule", "labelSelector": blue }]);
            }
            Self::Affinity => {
                pod["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!([{ "labelSelector": blue, "topologyKey": ZONE, "namespaces": ["sched-1", "sched-0"] }]);
            }
        }
        pod
    }
}

pub(super) fn node_name(number: usize) -> String {
    format!("node-{number:06}")
}

pub(super) fn pod_name(number: usize) -> String {
    format!("pod-{number:06}")
}

//! The objects of the demo's cluster: nodes with room for one pod each, and workloads that fill three of them.

use super::cluster::{Cluster, NAMESPACE};
use crate::error::Failure;
use crate::objects::get;
use common::api::names::SCHEDULER_NAME;
use serde_json::{Value, json};
use std::time::Duration;

/// The workloads that get a node each, in the order in which they are created.
const PLACED: [&str; 3] = ["mail", "shop", "db"];

/// The workload that is created when there is no room left.
const WAITING: [&str; 1] = ["batch"];

/// The interval between two checks of a pod, and how long they go on.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const WAIT_MAX: Duration = Duration::from_secs(20);

/// Adds `count` nodes: `node-1` and so on.
pub(crate) async fn add_nodes(cluster: &Cluster, count: u16) -> Result<(), Failure> {
    for number in 1..=count {
        cluster.create("/api/v1/nodes", &node(&format!("node-{number}"))).await?;
    }
    Ok(())
}

/// Adds the workloads that fill three nodes. Each is added when the one before it has its node, so that the result is the same each
/// time.
pub(crate) async fn add_workloads(cluster: &Cluster) -> Result<(), Failure> {
    for name in PLACED {
        add(cluster, &[name]).await?;
        let decided = async {
            while !is_decided(cluster, name).await {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        };
        // Without a daemon no pod would ever be scheduled.
        let _ = tokio::time::timeout(WAIT_MAX, decided).await;
    }
    Ok(())
}

/// Whether the pod of a workload has a node, or the condition that it has none.
async fn is_decided(cluster: &Cluster, name: &str) -> bool {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods/{name}-0");
    let Ok(pod) = get(&cluster.session, &path).await else { return false };
    let conditions = pod["status"]["conditions"].as_array();
    let has_condition = |all: &Vec<Value>| all.iter().any(|condition| condition["type"] == "PodScheduled");
    pod["spec"]["nodeName"].is_string() || conditions.is_some_and(has_condition)
}

/// Adds the workload whose pod stays Pending.
pub(crate) async fn add_waiting_workload(cluster: &Cluster) -> Result<(), Failure> {
    add(cluster, &WAITING).await
}

async fn add(cluster: &Cluster, names: &[&str]) -> Result<(), Failure> {
    let path = format!("/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets");
    for name in names {
        cluster.create(&path, &workload(name)).await?;
    }
    Ok(())
}

fn node(name: &str) -> Value {
    let room = json!({ "cpu": "4", "memory": "8Gi", "ephemeral-storage": "100Gi", "pods": "110" });
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name } },
        "status": { "capacity": room, "allocatable": room },
    })
}

/// A StatefulSet: its pods have names that people can remember.
fn workload(name: &str) -> Value {
    let asks = json!({ "requests": { "cpu": "4", "memory": "1Gi" } });
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": { "name": name, "namespace": NAMESPACE },
        "spec": {
            "replicas": 1, "serviceName": name,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": {
                    "schedulerName": SCHEDULER_NAME,
                    "containers": [{ "name": "app", "image": name, "resources": asks }],
                },
            },
        },
    })
}

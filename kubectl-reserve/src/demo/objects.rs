//! What is in the cluster: nodes that have room for one pod each, and workloads that fill three of them.

use super::cluster::{Cluster, NAMESPACE};
use crate::error::Failure;
use crate::objects::get;
use common::api::names::SCHEDULER_NAME;
use serde_json::{Value, json};
use std::time::Duration;

/// The workloads that have a node each, in the order in which they come.
const PLACED: [&str; 3] = ["mail", "shop", "db"];

/// The one that comes when there is no room left.
const WAITING: [&str; 1] = ["batch"];

/// Between two looks, and how long one is waited for.
const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(20);

/// Adds `count` nodes: `node-1` and so on.
pub(crate) async fn add_nodes(cluster: &Cluster, count: u16) -> Result<(), Failure> {
    for number in 1..=count {
        cluster.create("/api/v1/nodes", &node(&format!("node-{number}"))).await?;
    }
    Ok(())
}

/// Adds the workloads that fill three nodes: each when the one before it has its place, so that they are the same each time.
pub(crate) async fn fill(cluster: &Cluster) -> Result<(), Failure> {
    for name in PLACED {
        add(cluster, &[name]).await?;
        let decided = async {
            while !is_decided(cluster, name).await {
                tokio::time::sleep(LOOK).await;
            }
        };
        // Without a daemon there would be nobody to wait for.
        let _ = tokio::time::timeout(PATIENCE, decided).await;
    }
    Ok(())
}

/// Whether the pod of a workload has a node, or was told that there is none for it.
async fn is_decided(cluster: &Cluster, name: &str) -> bool {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods/{name}-0");
    let Ok(pod) = get(&cluster.session, &path).await else { return false };
    let conditions = pod["status"]["conditions"].as_array();
    let is_told = |all: &Vec<Value>| all.iter().any(|condition| condition["type"] == "PodScheduled");
    pod["spec"]["nodeName"].is_string() || conditions.is_some_and(is_told)
}

/// Adds the one that has to wait for a place then.
pub(crate) async fn crowd(cluster: &Cluster) -> Result<(), Failure> {
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

/// StatefulSets, because their pods have names that people can read and remember.
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

//! What is in the cluster: nodes that have room for one pod each, and workloads that fill three of them.

use super::cluster::{Cluster, NAMESPACE};
use crate::error::Failure;
use common::api::names::SCHEDULER_NAME;
use serde_json::{Value, json};

/// The workloads that have a node each, in the order in which they come.
const PLACED: [&str; 3] = ["mail", "shop", "db"];

/// The one that comes when there is no room left.
const WAITING: [&str; 1] = ["batch"];

/// Adds `count` nodes: `node-1` and so on.
pub(crate) async fn add_nodes(cluster: &Cluster, count: u16) -> Result<(), Failure> {
    for number in 1..=count {
        cluster.create("/api/v1/nodes", &node(&format!("node-{number}"))).await?;
    }
    Ok(())
}

/// Adds the workloads that fill three nodes.
pub(crate) async fn fill(cluster: &Cluster) -> Result<(), Failure> {
    add(cluster, &PLACED).await
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

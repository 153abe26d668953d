//! A cluster where time passes, with the real daemon in it: what recreates pods works to its end.

use crate::cluster::Cluster;
use crate::still::{apps, names, node, workload};
use anyhow::Result;
use serde_json::{Value, json};

/// One node with two pods of `web` and one of `db`, all of them ready. It is full, so that a replacement can come only when
/// the replaced pod is gone.
pub(crate) fn shared_cluster() -> Result<Cluster> {
    let cluster = Cluster::alive()?;
    cluster.create("/api/v1/nodes", &node("node-1", "3", "a"))?;
    cluster.create(&apps("default", "deployments"), &workload("web", 2, "1"))?;
    cluster.create(&apps("default", "statefulsets"), &workload("db", 1, "1"))?;
    settled(&cluster)?;
    Ok(cluster)
}

/// Waits until the pods of both are ready and nothing is reserved any more.
pub(crate) fn settled(cluster: &Cluster) -> Result<()> {
    cluster.wait("all pods are ready", || {
        let list = cluster.read("/api/v1/pods")?;
        let pods = list["items"].as_array().cloned().unwrap_or_default();
        let is_ready = |pod: &Value| {
            let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
            pod["metadata"]["deletionTimestamp"].is_null()
                && conditions.iter().any(|one| one["type"] == "Ready" && one["status"] == "True")
        };
        Ok(pods.len() == 3 && pods.iter().all(is_ready))
    })?;
    cluster.wait("nothing is reserved", || {
        let list = cluster.read("/api/v1/nodes")?;
        Ok(!list.to_string().contains("reserve.info/"))
    })
}

/// Waits until the daemon has published that it has seen the newest change of a node.
pub(crate) fn replicas_have_seen_all_nodes(cluster: &Cluster) -> Result<()> {
    let number = |value: &Value| value.as_str().and_then(|text| text.parse::<u64>().ok());
    cluster.wait("the replicas have seen all nodes", || {
        let nodes = cluster.read("/api/v1/nodes")?;
        let versions = nodes["items"].as_array().into_iter().flatten();
        let newest = versions.filter_map(|node| number(&node["metadata"]["resourceVersion"])).max();
        let leases = cluster.read("/apis/coordination.k8s.io/v1/leases")?;
        let leases = leases["items"].as_array().cloned().unwrap_or_default();
        let seen: Vec<u64> = leases
            .iter()
            .filter_map(|lease| number(&lease["metadata"]["annotations"]["reserve/seen-nodes"]))
            .collect();
        Ok(!seen.is_empty() && seen.iter().all(|seen| Some(*seen) >= newest))
    })
}

/// The first of the pods of `web`.
pub(crate) fn first(cluster: &Cluster) -> Result<String> {
    Ok(names(cluster, "default", "web")?.remove(0))
}

/// A budget that can never allow an eviction.
pub(crate) fn strict_budget(app: &str, replicas: u32) -> Value {
    json!({ "metadata": { "name": format!("{app}-budget") }, "spec": { "minAvailable": replicas,
            "selector": { "matchLabels": { "app": app } } } })
}

//! Fills a large cluster with realistic objects: pods of Deployments with labels, environment variables, mounts and a status.

use super::{NAMESPACE, PENDING};
use crate::bench_cluster::load::{post, post_one};
use crate::control_plane::Cluster;
use anyhow::{Context as _, Result};
use common::api::names;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Pods of one Deployment.
const REPLICAS: usize = 100;
/// One node of ten has a reservation.
const RESERVED_EVERY: usize = 10;

/// The size of the cluster.
#[derive(Clone, Copy, Debug)]
pub struct ClusterSize {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of pods on all nodes together.
    pub pods: usize,
}

/// Makes the namespace, the owners, the nodes, the pods, and one pod that is pending.
///
/// # Errors
/// When the API server refuses an object.
pub async fn fill(cluster: &Cluster, size: ClusterSize) -> Result<()> {
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
    let client = cluster.admin();
    post_one(&client, "/api/v1/namespaces", &namespace).await?;
    let apps = size.pods.div_ceil(REPLICAS);
    let owners = own(&client, apps).await?;
    let keepers = owners.clone();
    let node = move |number: usize| {
        let kept = number.is_multiple_of(RESERVED_EVERY).then(|| keepers[number % apps].deployment.clone());
        ("/api/v1/nodes".to_owned(), node(number, kept))
    };
    post(&client, size.nodes, node).await?;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    let nodes = size.nodes;
    let make = move |number: usize| (path.clone(), pod(number, number % nodes, &owners[number / REPLICAS]));
    post(&client, size.pods, make).await?;
    post_one(&client, &format!("/api/v1/namespaces/{NAMESPACE}/pods"), &pending()).await
}

/// The UIDs of a Deployment and its ReplicaSet.
#[derive(Clone)]
struct Owner {
    deployment: String,
    replica_set: String,
}

/// Makes `count` Deployments, each with its ReplicaSet.
async fn own(client: &Client, count: usize) -> Result<Vec<Owner>> {
    let path = format!("/apis/apps/v1/namespaces/{NAMESPACE}");
    let at = path.clone();
    post(client, count, move |app| (format!("{at}/deployments"), workload("Deployment", app, None))).await?;
    let deployments: BTreeMap<String, String> =
        uids(&Api::<Deployment>::namespaced(client.clone(), NAMESPACE)).await?;
    let above = deployments.clone();
    let make = move |app: usize| {
        (
            format!("{path}/replicasets"),
            workload("ReplicaSet", app, above.get(&name_of(app)).map(String::as_str)),
        )
    };
    post(client, count, make).await?;
    let sets = uids(&Api::<ReplicaSet>::namespaced(client.clone(), NAMESPACE)).await?;
    let uid = |uids: &BTreeMap<String, String>, app: usize| {
        uids.get(&name_of(app)).cloned().with_context(|| format!("{} was not made", name_of(app)))
    };
    (0..count)
        .map(|app| Ok(Owner { deployment: uid(&deployments, app)?, replica_set: uid(&sets, app)? }))
        .collect()
}

async fn uids<K>(api: &Api<K>) -> Result<BTreeMap<String, String>>
where
    K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let all = api.list(&ListParams::default()).await.context("list what was made")?;
    Ok(all.into_iter().map(|one| (one.name_any(), one.uid().unwrap_or_default())).collect())
}

fn name_of(app: usize) -> String {
    format!("app-{app}")
}

fn workload(kind: &str, app: usize, owner: Option<&str>) -> Value {
    let name = name_of(app);
    let owners: Vec<Value> = owner
        .map(|uid| {
            json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": uid, "controller": true })
        })
        .into_iter()
        .collect();
    let labels = json!({ "app": name });
    json!({ "apiVersion": "apps/v1", "kind": kind,
        "metadata": { "name": name, "namespace": NAMESPACE, "ownerReferences": owners },
        "spec": { "replicas": REPLICAS, "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels },
                "spec": { "containers": [{ "name": "app", "image": "registry.example.com/team/app:v1.2.3" }] } } } })
}

/// A node, with a reservation if an owner is given.
fn node(number: usize, kept_for: Option<String>) -> Value {
    let name = format!("node-{number:05}");
    let zone = format!("zone-{}", number % 3);
    let room = json!({ "pods": "110", "cpu": "4", "memory": "32Gi", "ephemeral-storage": "100Gi" });
    let image = |one: usize| {
        let name = format!("registry.example.com/team-{}/app-{one}:v1.{}", one % 4, number % 7);
        json!({ "names": [name], "sizeBytes": 100_000_000 + one })
    };
    let kept = kept_for.map(|uid| (format!("{}/{uid}", names::CPU), Value::from("500m")));
    let annotations: serde_json::Map<String, Value> = kept.into_iter().collect();
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "annotations": annotations, "labels": {
            "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": "m5.xlarge", "pool": format!("pool-{}", number % 10) } },
        "status": {
            "capacity": room, "allocatable": room,
            "conditions": [{ "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is ready" }],
            "images": (0..10).map(image).collect::<Vec<_>>(),
            "nodeInfo": { "machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "6.1", "osImage": "linux",
                          "containerRuntimeVersion": "containerd://2", "kubeletVersion": "v1.37.1",
                          "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64" },
        },
    })
}

/// A pod of the size that ten of them leave a quarter of a node free.
fn pod(number: usize, node: usize, owner: &Owner) -> Value {
    let app = name_of(number / REPLICAS);
    let owner = json!([{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app, "uid": owner.replica_set,
                         "controller": true }]);
    let room = json!({ "cpu": "300m", "memory": "500Mi" });
    let env: Vec<Value> = (0..8)
        .map(|one| json!({ "name": format!("SETTING_{one}"), "value": format!("value {one} of {app}") }))
        .collect();
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": format!("{app}-{number:06}"), "namespace": NAMESPACE, "ownerReferences": owner,
            "labels": { "app": app, "pod-template-hash": "5d9f7c8b6", "team": "large", "version": "v1.2.3" },
            "annotations": { "prometheus.io/scrape": "true", "checksum/config": "0123456789abcdef0123456789abcdef" } },
        "spec": { "nodeName": format!("node-{node:05}"),
            "containers": [{ "name": "app", "image": "registry.example.com/team/app:v1.2.3", "env": env,
                "ports": [{ "containerPort": 8080 }], "resources": { "requests": room, "limits": room },
                "readinessProbe": { "httpGet": { "path": "/healthz", "port": 8080 } },
                "volumeMounts": [{ "name": "config", "mountPath": "/etc/app" }] }],
            "volumes": [{ "name": "config", "configMap": { "name": "app" } }] },
    })
}

fn pending() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": PENDING, "namespace": NAMESPACE },
        "spec": { "containers": [{ "name": "app", "image": "app",
            "resources": { "requests": { "cpu": "2", "memory": "1Gi" } } }] },
        "status": { "phase": "Pending" },
    })
}

//! A large cluster as it is in life: pods of Deployments with labels, variables, mounts and a status.

use super::{NAMESPACE, PENDING};
use crate::bench_cluster::load::{post, post_one};
use crate::control_plane::Cluster;
use anyhow::Result;
use serde_json::{Value, json};

/// How large.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Nodes.
    pub nodes: usize,
    /// Pods on them.
    pub pods: usize,
}

/// Makes it.
///
/// # Errors
/// When the API server takes something not.
pub async fn fill(cluster: &Cluster, size: Size) -> Result<()> {
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
    let client = cluster.admin();
    post_one(&client, "/api/v1/namespaces", &namespace).await?;
    post(&client, size.nodes, |number| ("/api/v1/nodes".to_owned(), node(number))).await?;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    let nodes = size.nodes;
    let make = move |number| (path.clone(), pod(number, number % nodes));
    post(&client, size.pods, make).await?;
    post_one(&client, &format!("/api/v1/namespaces/{NAMESPACE}/pods"), &pending()).await
}

fn node(number: usize) -> Value {
    let name = format!("node-{number:05}");
    let zone = format!("zone-{}", number % 3);
    let room = json!({ "pods": "110", "cpu": "4", "memory": "32Gi", "ephemeral-storage": "100Gi" });
    let image = |one: usize| {
        let name = format!("registry.example.com/team-{}/app-{one}:v1.{}", one % 4, number % 7);
        json!({ "names": [name], "sizeBytes": 100_000_000 + one })
    };
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "labels": {
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

/// One of a hundred of its Deployment; ten of them leave a quarter of a node free.
fn pod(number: usize, node: usize) -> Value {
    let app = format!("app-{}", number / 100);
    let room = json!({ "cpu": "300m", "memory": "500Mi" });
    let env: Vec<Value> = (0..8)
        .map(|one| json!({ "name": format!("SETTING_{one}"), "value": format!("value {one} of {app}") }))
        .collect();
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": format!("{app}-{number:06}"), "namespace": NAMESPACE,
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

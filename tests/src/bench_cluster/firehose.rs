//! The upper limit for any scheduler: binds each pod to the node of its number, as fast as the API server accepts it. It is a
//! process of its own, so that its CPU and memory can be measured like those of a scheduler.

use super::load;
use super::shape::{NAMESPACE, node_name, pod_name};
use anyhow::{Context as _, Result};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;
use std::path::Path;

/// Binds `pods` pods to `nodes` nodes in turn, then waits until it is killed.
///
/// # Errors
/// When the API server refuses.
pub async fn run(kubeconfig: &Path, nodes: usize, pods: usize) -> Result<()> {
    let file = Kubeconfig::read_from(kubeconfig).context("read the kubeconfig")?;
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
        .await
        .context("read the kubeconfig")?;
    config.default_retry = false;
    let client = Client::try_from(config).context("make a client")?;
    load::post(&client, pods, move |number| {
        let pod = pod_name(number);
        let path = format!("/api/v1/namespaces/{NAMESPACE}/pods/{pod}/binding");
        let target = json!({ "apiVersion": "v1", "kind": "Node", "name": node_name(number % nodes) });
        let metadata = json!({ "name": pod, "namespace": NAMESPACE });
        (path, json!({ "apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target }))
    })
    .await?;
    std::future::pending().await
}

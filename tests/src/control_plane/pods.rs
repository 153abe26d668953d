//! Pods and namespaces of a running cluster.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::{Namespace, Pod, ServiceAccount};
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use serde_json::json;

use super::cluster::Cluster;

const SETTLE_MAX: Duration = Duration::from_secs(90);

impl Cluster {
    /// The pods with these labels in the namespace `default`, by name.
    ///
    /// # Errors
    /// When the API server cannot list them.
    pub async fn pods(&self, selector: &str) -> Result<Vec<Pod>> {
        self.pods_in("default", selector).await
    }

    /// The pods with these labels in a namespace, by name.
    ///
    /// # Errors
    /// When the API server cannot list them.
    pub async fn pods_in(&self, namespace: &str, selector: &str) -> Result<Vec<Pod>> {
        let found = self.pod_api(namespace).list(&ListParams::default().labels(selector)).await;
        Ok(found.with_context(|| format!("list pods {selector} in {namespace}"))?.items)
    }

    /// Waits until exactly `count` pods with these labels exist in the namespace `default`, all running and
    /// none of them being deleted.
    ///
    /// # Errors
    /// When that takes longer than 90 s, with the state of the pods.
    pub async fn wait_until_running(&self, selector: &str, count: usize) -> Result<Vec<Pod>> {
        self.wait_until_running_in("default", selector, count).await
    }

    /// The same in any namespace.
    ///
    /// # Errors
    /// When that takes longer than 90 s, with the state of the pods.
    pub async fn wait_until_running_in(
        &self,
        namespace: &str,
        selector: &str,
        count: usize,
    ) -> Result<Vec<Pod>> {
        let what = format!("{count} pods {selector} run in {namespace}");
        self.wait_until(&what, SETTLE_MAX, async || {
            let pods = self.pods_in(namespace, selector).await?;
            let settled = pods.len() == count && pods.iter().all(is_running);
            ensure!(settled, "{}", describe(&pods));
            Ok(pods)
        })
        .await
    }

    /// Waits until the one pod with these labels in a namespace has the condition `PodScheduled=False`, and returns its message.
    ///
    /// # Errors
    /// When the pod has no such condition after 90 s, or is bound.
    pub async fn wait_until_unschedulable(&self, namespace: &str, selector: &str) -> Result<String> {
        let what = format!("{selector} in {namespace} is told why it waits");
        self.wait_until(&what, SETTLE_MAX, async || {
            let pods = self.pods_in(namespace, selector).await?;
            let waiting = pods.iter().find(|pod| pod.metadata.deletion_timestamp.is_none());
            let pod = waiting.with_context(|| describe(&pods))?;
            ensure!(node_of(pod).is_empty(), "it was bound: {}", describe(&pods));
            unscheduled(pod).map(str::to_owned).with_context(|| describe(&pods))
        })
        .await
    }

    /// Deletes a pod in the namespace `default`, as `kubectl delete` does, without waiting for its end.
    ///
    /// # Errors
    /// When the API server refuses.
    pub async fn delete_pod(&self, name: &str) -> Result<()> {
        let deleted = self.pod_api("default").delete(name, &DeleteParams::default()).await;
        deleted.map(drop).with_context(|| format!("delete pod {name}"))
    }

    /// Creates a namespace and waits until pods can be created in it.
    ///
    /// # Errors
    /// When the API server refuses, or that takes too long.
    pub async fn add_namespace(&self, name: &str) -> Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.admin());
        let namespace =
            serde_json::from_value(json!({"metadata": {"name": name}})).context("make a namespace")?;
        namespaces.create(&PostParams::default(), &namespace).await.with_context(|| format!("add {name}"))?;
        let accounts: Api<ServiceAccount> = Api::namespaced(self.admin(), name);
        let what = format!("namespace {name} has its ServiceAccount");
        self.wait_until(&what, SETTLE_MAX, async || Ok(accounts.get("default").await.map(drop)?)).await
    }

    fn pod_api(&self, namespace: &str) -> Api<Pod> {
        Api::namespaced(self.admin(), namespace)
    }
}

/// Whether a pod runs and is not being deleted.
pub fn is_running(pod: &Pod) -> bool {
    phase(pod) == "Running" && pod.metadata.deletion_timestamp.is_none()
}

/// The message of the condition `PodScheduled=False`.
pub fn unscheduled(pod: &Pod) -> Option<&str> {
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let told = conditions.find(|condition| condition.type_ == "PodScheduled" && condition.status == "False");
    told?.message.as_deref()
}

/// The node that a pod is bound to, or an empty text.
pub fn node_of(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default()
}

/// The name of a pod.
pub fn name_of(pod: &Pod) -> &str {
    pod.metadata.name.as_deref().unwrap_or_default()
}

/// One line with the state of each pod, and the reason if it cannot be scheduled.
pub fn describe(pods: &[Pod]) -> String {
    if pods.is_empty() {
        return "no pods".to_owned();
    }
    let each = pods.iter().map(|pod| {
        let ending = if pod.metadata.deletion_timestamp.is_some() { ", terminating" } else { "" };
        let node = Some(node_of(pod)).filter(|node| !node.is_empty()).unwrap_or("no node");
        let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
        let refused =
            conditions.find(|condition| condition.type_ == "PodScheduled" && condition.status == "False");
        let why = refused.and_then(|condition| condition.message.clone()).unwrap_or_default();
        format!("{} {} on {node}{ending} {why}", name_of(pod), phase(pod)).trim_end().to_owned()
    });
    each.collect::<Vec<_>>().join("; ")
}

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

//! What the daemon does besides binding and reserving, with no more than its own token lets it: preempting, and volumes.

use crate::SOON;
use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use kube::Api;
use reserve_tests::control_plane::{Cluster, bare_pod, deployment};
use serde_json::json;

/// Two pods fill both nodes as far as matters; a more important one takes the place of one of them.
pub(crate) async fn it_preempts(cluster: &Cluster) -> Result<()> {
    let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"},
                       "value": 1000});
    cluster.apply(&class.to_string()).await?;
    let low = deployment("low").replicas(2).cpu("2500m").scheduler("reserve-scheduler");
    let low = cluster.deploy(low).await?;
    cluster.wait_until_running(&low.selector, 2).await?;
    let high = bare_pod("high").cpu("2500m").pod_field("priorityClassName", "high".into());
    let high = cluster.deploy(high.scheduler("reserve-scheduler")).await?;
    cluster.wait_until_running(&high.selector, 1).await?;
    cluster.run_kubectl(&["delete", "deployment", "low"]).await?;
    cluster.run_kubectl(&["delete", "pod", "high"]).await.map(drop)
}

/// One claim gets a volume that is there, of another one the node is chosen for which a volume is to be made.
pub(crate) async fn it_binds_volumes(cluster: &Cluster) -> Result<()> {
    let class = |name: &str, provisioner: &str| {
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
               "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"})
    };
    let claim = |name: &str, class: &str| {
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"},
               "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class,
                        "resources": {"requests": {"storage": "1Gi"}}}})
    };
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "there"},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
                 "hostPath": {"path": "/data"}}});
    let objects = json!({"apiVersion": "v1", "kind": "List", "items": [
        class("local", "kubernetes.io/no-provisioner"), class("made", "example.com/nobody"), volume,
        claim("found", "local"), claim("made", "made"),
    ]});
    cluster.apply(&objects.to_string()).await?;
    let with = |name: &str| {
        let volume = json!([{"name": "data", "persistentVolumeClaim": {"claimName": name}}]);
        bare_pod(name).cpu("100m").scheduler("reserve-scheduler").pod_field("volumes", volume)
    };
    let found = cluster.deploy(with("found")).await?;
    cluster.deploy(with("made")).await?;
    cluster.wait_until_running(&found.selector, 1).await?;
    let claims: Api<PersistentVolumeClaim> = Api::default_namespaced(cluster.admin());
    cluster
        .wait_until("a node is chosen for the claim", SOON, async || {
            let annotations = claims.get("made").await?.metadata.annotations.unwrap_or_default();
            let node = annotations.get("volume.kubernetes.io/selected-node").context("no node yet")?;
            ensure!(!node.is_empty(), "{annotations:?}");
            Ok(())
        })
        .await?;
    cluster.run_kubectl(&["delete", "pod", "found", "made"]).await.map(drop)
}

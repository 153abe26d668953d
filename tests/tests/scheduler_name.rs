//! `manifests/scheduler-name` on a real control plane: in labelled namespaces pods get our scheduler, and nowhere else.
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use reserve_tests::control_plane::{Cluster, ControlPlane, workspace_dir};
use serde_json::{Value, json};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(60);
const OURS: &str = "reserve-scheduler";
const THEIRS: &str = "default-scheduler";

/// The scheduler of a pod that is created in `namespace` with these fields in its spec. Nothing is stored.
async fn scheduler_of(cluster: &Cluster, namespace: &str, fields: Value) -> Result<String> {
    let mut spec = json!({"containers": [{"name": "c", "image": "i"}]});
    if let Value::Object(fields) = fields {
        fields.into_iter().for_each(|(name, value)| spec[name] = value);
    }
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec});
    let pods: Api<Pod> = Api::namespaced(cluster.admin(), namespace);
    let dry_run = kube::api::PostParams { dry_run: true, ..Default::default() };
    let created = pods.create(&dry_run, &serde_json::from_value(pod)?).await?;
    created.spec.and_then(|spec| spec.scheduler_name).context("no scheduler")
}

async fn namespace(cluster: &Cluster, name: &str, is_labelled: bool) -> Result<()> {
    cluster.run_kubectl(&["create", "namespace", name]).await?;
    if is_labelled {
        cluster.run_kubectl(&["label", "namespace", name, "reserve/scheduler=enabled"]).await?;
    }
    // Pods are refused before it is there.
    cluster
        .wait_until("the ServiceAccount is there", SOON, async || {
            cluster.run_kubectl(&["-n", name, "get", "serviceaccount", "default"]).await.map(drop)
        })
        .await
}

async fn wait_for_scheduler(cluster: &Cluster, name: &str, wanted: &str) -> Result<()> {
    cluster
        .wait_until(&format!("pods in {name} get {wanted}"), SOON, async || {
            let scheduler = scheduler_of(cluster, name, json!({})).await?;
            ensure!(scheduler == wanted, "{scheduler}");
            Ok(())
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_of_labelled_namespaces_get_our_scheduler() -> Result<()> {
    let cluster = ControlPlane::start("scheduler_name").await?;
    namespace(&cluster, "plain", false).await?;
    namespace(&cluster, "ours", true).await?;
    namespace(&cluster, "kube-reserve", true).await?;
    assert_eq!(scheduler_of(&cluster, "ours", json!({})).await?, THEIRS, "the label alone does nothing");

    let folder = workspace_dir().join("manifests/scheduler-name");
    cluster.run_kubectl(&["apply", "-k", &folder.to_string_lossy()]).await?;
    wait_for_scheduler(&cluster, "ours", OURS).await?;
    assert_eq!(scheduler_of(&cluster, "ours", json!({"schedulerName": THEIRS})).await?, OURS);
    assert_eq!(scheduler_of(&cluster, "ours", json!({"schedulerName": "volcano"})).await?, "volcano");
    assert_eq!(scheduler_of(&cluster, "ours", json!({"nodeName": "n1"})).await?, THEIRS);
    assert_eq!(scheduler_of(&cluster, "plain", json!({})).await?, THEIRS);
    assert_eq!(scheduler_of(&cluster, "kube-reserve", json!({})).await?, THEIRS, "the daemon's own pods");

    // Pods of controllers, which is what people have.
    let words = ["-n", "ours", "create", "deployment", "web", "--image=i"];
    cluster.run_kubectl(&words).await?;
    let pods: Api<Pod> = Api::namespaced(cluster.admin(), "ours");
    cluster
        .wait_until("the Deployment has its pod", SOON, async || {
            let pods = pods.list(&ListParams::default().labels("app=web")).await?.items;
            let [pod] = &pods[..] else { anyhow::bail!("{} pods", pods.len()) };
            let scheduler = pod.spec.as_ref().and_then(|spec| spec.scheduler_name.as_deref());
            assert_eq!(scheduler, Some(OURS));
            Ok(())
        })
        .await?;

    cluster.run_kubectl(&["label", "namespace", "ours", "reserve/scheduler-"]).await?;
    wait_for_scheduler(&cluster, "ours", THEIRS).await
}

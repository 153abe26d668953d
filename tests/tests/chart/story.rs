//! helm on a real control plane: install, upgrade, roll back, uninstall, and taking over what kubectl had applied.

use crate::{NAMESPACE, chart_dir, helm, printed};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{Cluster, ControlPlane, User, node, workspace_dir};
use serde_json::Value;

/// What has the label of an installation.
const KINDS: &str = "resourcequotas,serviceaccounts,clusterroles,roles,clusterrolebindings,rolebindings,leases,\
                     validatingadmissionpolicies,validatingadmissionpolicybindings,flowschemas,\
                     prioritylevelconfigurations,configmaps,services,networkpolicies,poddisruptionbudgets,deployments";

/// Types helm for the cluster, with a chart where the words say CHART.
fn run(cluster: &Cluster, words: &str) -> Result<String> {
    let chart = chart_dir().display().to_string();
    let mut command = helm(&cluster.dir().join("helm"))?;
    command.env("KUBECONFIG", cluster.kubeconfig(User::Admin)).current_dir(cluster.dir());
    command.args(words.split_whitespace().map(|word| if word == "CHART" { chart.as_str() } else { word }));
    command.args(["--namespace", NAMESPACE]);
    printed(&mut command)
}

/// The names of our objects.
async fn ours(cluster: &Cluster) -> Result<Vec<String>> {
    let label = "app.kubernetes.io/part-of=kubectl-reserve";
    let text = cluster.run_kubectl(&["get", KINDS, "-A", "-o", "name", "-l", label]).await?;
    Ok(text.lines().map(str::to_owned).collect())
}

async fn deployment(cluster: &Cluster) -> Result<Value> {
    let words = ["get", "deployment", "reserve-daemon", "-n", NAMESPACE, "-o", "json"];
    Ok(serde_json::from_str(&cluster.run_kubectl(&words).await?)?)
}

async fn ready_replicas(cluster: &Cluster) -> Result<Option<u64>> {
    Ok(deployment(cluster).await?["status"]["readyReplicas"].as_u64())
}

/// Somebody leads, as in a cluster where the daemon has run for a while.
async fn elect(cluster: &Cluster) -> Result<()> {
    let patch = r#"{"spec":{"holderIdentity":"reserve-daemon-x_1","leaseDurationSeconds":15}}"#;
    cluster.run_kubectl(&["patch", "lease", "reserve-daemon", "-n", NAMESPACE, "-p", patch]).await.map(drop)
}

async fn holder(cluster: &Cluster) -> Result<String> {
    let path = "jsonpath={.spec.holderIdentity}";
    cluster.run_kubectl(&["get", "lease", "reserve-daemon", "-n", NAMESPACE, "-o", path]).await
}

#[tokio::test(flavor = "multi_thread")]
async fn helm_installs_upgrades_and_uninstalls() -> Result<()> {
    let cluster = ControlPlane::start("chart").with_scheduler().await?;
    for name in ["n1", "n2", "n3"] {
        cluster.add_node(node(name)).await?;
    }
    std::fs::create_dir_all(cluster.dir().join("helm"))?;

    let notes = run(&cluster, "install reserve CHART --create-namespace --wait --timeout 120s")?;
    assert!(notes.contains("spec.schedulerName: reserve-scheduler"), "{notes}");
    assert!(notes.contains("See what it does: kubectl reserve status"), "{notes}");
    assert_eq!(ready_replicas(&cluster).await?, Some(2));
    let installed = ours(&cluster).await?;
    let config = |all: &[String]| all.iter().find(|name| name.contains("configmap/")).cloned();
    policies_are_in_force(&cluster).await?;

    elect(&cluster).await?;
    let set = "--set replicas=3,schedulerNames={one}";
    let notes = run(&cluster, &format!("upgrade reserve CHART --wait --timeout 120s {set}"))?;
    assert!(notes.contains("spec.schedulerName: one"), "{notes}");
    assert_eq!(ready_replicas(&cluster).await?, Some(3));
    assert_eq!(holder(&cluster).await?, "reserve-daemon-x_1", "an upgrade takes the Lease from nobody");
    let upgraded = ours(&cluster).await?;
    assert_eq!(upgraded.len(), installed.len(), "the former ConfigMap is removed: {upgraded:?}");
    assert_ne!(config(&upgraded), config(&installed));

    run(&cluster, "rollback reserve 1 --wait --timeout 120s")?;
    assert_eq!(ours(&cluster).await?, installed);
    assert_eq!(holder(&cluster).await?, "reserve-daemon-x_1");

    run(&cluster, "uninstall reserve --wait --timeout 120s")?;
    assert_eq!(ours(&cluster).await?, Vec::<String>::new());

    take_over(&cluster).await
}

/// Whoever may patch nodes cannot reserve.
async fn policies_are_in_force(cluster: &Cluster) -> Result<()> {
    let key = "reserve.cpu/a8f6f901-47c9-4475-b1f4-cac44597e173=many";
    let words = ["annotate", "node", "n1", key, "--dry-run=server"];
    let limit = std::time::Duration::from_secs(60);
    cluster
        .wait_until("the policies are in force", limit, async || {
            let refused = cluster.run_kubectl(&words).await.err().context("nobody refused it")?;
            ensure!(format!("{refused:#}").contains("reserve-values"), "{refused:#}");
            Ok(())
        })
        .await
}

/// From `kubectl apply -k` to helm: without the flag helm refuses and changes nothing.
async fn take_over(cluster: &Cluster) -> Result<()> {
    let manifests = workspace_dir().join("manifests").display().to_string();
    cluster.run_kubectl(&["apply", "-k", &manifests]).await?;
    elect(cluster).await?;
    let uid = deployment(cluster).await?["metadata"]["uid"].clone();

    let refused = run(cluster, "install reserve CHART").err().context("helm took over unasked")?;
    assert!(format!("{refused:#}").contains("cannot be imported into the current release"), "{refused:#}");
    run(cluster, "install reserve CHART --take-ownership --force-conflicts --wait --timeout 120s")?;
    assert_eq!(deployment(cluster).await?["metadata"]["uid"], uid, "the Deployment is the same");
    assert_eq!(holder(cluster).await?, "reserve-daemon-x_1");

    run(cluster, "uninstall reserve --wait --timeout 120s")?;
    assert_eq!(ours(cluster).await?, Vec::<String>::new());
    Ok(())
}

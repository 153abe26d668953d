//! The manifests at work on a real control plane, put there by `kubectl apply -k` as a person would: the set comes up, the
//! policies refuse and allow, the fence lets the leader alone pass, and the roles are enough and no more.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "a test is its own outermost layer")]

mod fence;
mod nodes;
mod records;
mod rights;
mod static_pod;
mod values;
mod work;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, ListParams};
use reserve_tests::control_plane::{
    Account, Cluster, ControlPlane, User, is_running, node, node_of, workspace_dir,
};
use reserve_tests::requests::{as_annotation, patch, without_annotation};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const NAMESPACE: &str = "kube-reserve";
const SOON: Duration = Duration::from_secs(90);
/// An owner that nobody is.
const OWNER: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

/// A cluster with everything applied, and the daemon's two pods, as which tests act.
struct SharedCluster {
    cluster: Cluster,
    first: Account,
    second: Account,
}

/// Two nodes of 4 CPUs, kube-scheduler, and `kubectl apply -k manifests/`.
async fn shared_cluster(name: &str) -> Result<SharedCluster> {
    let cluster = ControlPlane::start(name).with_scheduler().kubelet_of("n3").await?;
    cluster.add_node(node("n1").label("node-role.kubernetes.io/control-plane", "")).await?;
    cluster.add_node(node("n2")).await?;
    let manifests = workspace_dir().join("manifests");
    cluster.run_kubectl(&["apply", "-k", &manifests.to_string_lossy()]).await?;
    let pods = running(&cluster).await?;
    let [first, second] = &pods[..] else { anyhow::bail!("two pods, not {}", pods.len()) };
    let (first, second) = (cluster.account_of(first).await?, cluster.account_of(second).await?);
    let shared_cluster = SharedCluster { cluster, first, second };
    shared_cluster.wait_until_in_force().await?;
    Ok(shared_cluster)
}

/// The pods of the Deployment, once both run.
async fn running(cluster: &Cluster) -> Result<Vec<Pod>> {
    let pods: Api<Pod> = Api::namespaced(cluster.admin(), NAMESPACE);
    let ours = ListParams::default().labels("app.kubernetes.io/name=kubectl-reserve");
    cluster
        .wait_until("both pods of the daemon run", SOON, async || {
            let pods = pods.list(&ours).await?.items;
            ensure!(pods.len() == 2 && pods.iter().all(is_running), "{}", seen(cluster).await?);
            Ok(pods)
        })
        .await
}

/// What there is, for whoever has to find out why they do not.
async fn seen(cluster: &Cluster) -> Result<String> {
    cluster.run_kubectl(&["-n", NAMESPACE, "get", "pods,replicasets,events"]).await
}

impl SharedCluster {
    /// The API server takes a moment to learn of policies. Each is tried with something that it alone refuses.
    async fn wait_until_in_force(&self) -> Result<()> {
        let admin = self.cluster.admin();
        let (tenant, daemon) = (self.cluster.client(User::Tenant)?, self.cluster.client_of(&self.first)?);
        self.let_tenant_patch_nodes().await?;
        let forged = as_annotation(&format!("reserve.cpu/{OWNER}.a"), "1");
        self.wait_until_refused("reserve-writers", &tenant, &forged).await?;
        self.wait_until_refused("reserve-values", &admin, &as_annotation("reserve.cpu/x", "1")).await?;
        // Whoever does not lead may add reservations, and release none.
        let held = format!("reserve.cpu/{OWNER}.held");
        patch(&admin, "/api/v1/nodes/n1", &as_annotation(&held, "1")).await?;
        self.wait_until_refused("reserve-fence", &daemon, &without_annotation(&held)).await?;
        patch(&admin, "/api/v1/nodes/n1", &without_annotation(&held)).await?;
        self.elect(Some(&self.first)).await?;
        self.wait_until_refused("reserve-daemon-confinement", &daemon, &as_annotation("theirs", "1")).await?;
        self.elect(None).await
    }

    async fn wait_until_refused(&self, policy: &str, client: &Client, change: &Value) -> Result<()> {
        self.cluster
            .wait_until(policy, SOON, async || {
                let said = patch(client, "/api/v1/nodes/n1?dryRun=All", change).await?;
                ensure!(said.message.contains(policy), "{said:?}");
                Ok(())
            })
            .await
    }

    /// The right to patch nodes, as many operators have it, and none to reserve.
    async fn let_tenant_patch_nodes(&self) -> Result<()> {
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "node-editor"},
            "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "patch"]}],
        });
        self.cluster.apply(&role.to_string()).await?;
        self.cluster.grant(User::Tenant, "node-editor", None).await
    }

    /// Writes the Lease of the election: this pod leads, or nobody.
    async fn elect(&self, leader: Option<&Account>) -> Result<()> {
        let holder = leader.map_or_else(String::new, |leader| format!("{}_4f1d", leader.pod));
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "reserve-daemon", "namespace": NAMESPACE},
            "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15},
        });
        self.cluster.apply(&lease.to_string()).await.map(drop)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_apply_brings_up_two_replicas_on_different_nodes() -> Result<()> {
    let shared_cluster = shared_cluster("manifests_apply").await?;
    let cluster = &shared_cluster.cluster;
    let deployments: Api<Deployment> = Api::namespaced(cluster.admin(), NAMESPACE);
    cluster
        .wait_until("the Deployment is available", SOON, async || {
            let status = deployments.get("reserve-daemon").await?.status.context("no status")?;
            ensure!(status.available_replicas == Some(2), "{status:?}");
            Ok(())
        })
        .await?;
    let pods = running(cluster).await?;
    let nodes: BTreeSet<_> = pods.iter().map(node_of).collect();
    assert_eq!(nodes.len(), 2, "one on each node: {nodes:?}");
    // A second time nothing is left to do: what was stored is what was said.
    let manifests = workspace_dir().join("manifests");
    let again = cluster.run_kubectl(&["apply", "-k", &manifests.to_string_lossy()]).await?;
    assert!(again.lines().all(|line| line.ends_with("unchanged") || line.ends_with("configured")), "{again}");
    let evicted = cluster.run_kubectl(&["-n", NAMESPACE, "delete", "pod", &shared_cluster.first.pod]).await;
    assert!(evicted.is_ok(), "the Deployment replaces it: {evicted:?}");
    running(cluster).await.map(drop)
}

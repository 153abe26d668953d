//! One control plane with everything that `kubectl apply -k manifests/` installs, and the token of a daemon's pod that leads.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, ListParams};
use reserve_tests::control_plane::{Account, Cluster, workspace_dir};
use reserve_tests::requests::{Answer, as_annotation, patch};
use reserve_tests::shared_cluster::{SOON, SharedCluster, TestNamespace};
use serde_json::json;
use tokio::sync::OnceCell;

pub(crate) const NAMESPACE: &str = "kube-reserve";
/// A reservation on the node `fence`.
const SEAT: &str = "reserve.cpu/a8f6f901-47c9-4475-b1f4-cac44597e173.a";

static SHARED_CLUSTER: SharedCluster = SharedCluster::new("attacks", None);
static LEADER: OnceCell<Account> = OnceCell::const_new();

/// Runs a test in the namespace `name`, with a client that acts with the daemon's own token.
pub(crate) fn run<F>(name: &'static str, test: impl FnOnce(TestNamespace, Client) -> F) -> Result<()>
where
    F: Future<Output = Result<()>>,
{
    SHARED_CLUSTER.run(name, async |ns| {
        let leader = LEADER.get_or_try_init(|| install(ns.cluster)).await?;
        test(ns, ns.cluster.client_of(leader)?).await
    })
}

async fn install(cluster: &Cluster) -> Result<Account> {
    let manifests = workspace_dir().join("manifests");
    cluster.run_kubectl(&["apply", "-k", &manifests.to_string_lossy()]).await?;
    let pods: Api<Pod> = Api::namespaced(cluster.admin(), NAMESPACE);
    let ours = ListParams::default().labels("app.kubernetes.io/name=kubectl-reserve");
    // No scheduler runs here. The pod need not run, either: its token is all that is wanted.
    let pod = cluster
        .wait_until("the daemon has a pod", SOON, async || {
            pods.list(&ours).await?.items.into_iter().next().context("no pod")
        })
        .await?;
    let leader = cluster.account_of(&pod).await?;
    cluster.add_node(reserve_tests::control_plane::node("fence")).await?;
    cluster.annotate_node("fence", SEAT, Some("1")).await?;
    wait_until_the_fence_says(cluster, &leader, false).await?;
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "reserve-daemon", "namespace": NAMESPACE},
        "spec": {"holderIdentity": format!("{}_4f1d", leader.pod), "leaseDurationSeconds": 15},
    });
    cluster.apply(&lease.to_string()).await?;
    wait_until_the_fence_says(cluster, &leader, true).await?;
    Ok(leader)
}

/// The API server takes a moment to learn of policies and of the Lease. By then the fence lets the pod change a reservation, or
/// not; what comes after the fence is in force in both cases.
async fn wait_until_the_fence_says(cluster: &Cluster, pod: &Account, is_leader: bool) -> Result<()> {
    let (client, path) = (cluster.client_of(pod)?, "/api/v1/nodes/fence?dryRun=All");
    cluster
        .wait_until("the policies are in force", SOON, async || {
            let changed = patch(&client, path, &as_annotation(SEAT, "2")).await?;
            let is_let = changed.code == 200;
            ensure!(
                is_let == is_leader && (is_let || changed.message.contains("reserve-fence")),
                "{changed:?}"
            );
            let other = patch(&client, path, &as_annotation("theirs", "1")).await?;
            ensure!(other.message.contains("reserve-daemon-confinement"), "{other:?}");
            Ok(())
        })
        .await
}

/// Fails unless the policy called so refuses. It is asked again while it is not in force yet, so `attempt` must be a dry run.
pub(crate) async fn wait_until_refused(
    cluster: &Cluster,
    (policy, what): (&str, &str),
    mut attempt: impl AsyncFnMut() -> Result<Answer>,
) -> Result<()> {
    cluster
        .wait_until(&format!("{policy} refuses: {what}"), SOON / 3, async || {
            let said = attempt().await?;
            let is_refused = matches!(said.code, 403 | 422) && said.message.contains(&format!("'{policy}'"));
            ensure!(is_refused, "{said:?}");
            Ok(())
        })
        .await
}

/// Fails unless the API server does it.
pub(crate) fn allowed(what: &str, said: &Answer) -> Result<()> {
    ensure!(said.code == 200, "{what}: {said:?}");
    Ok(())
}

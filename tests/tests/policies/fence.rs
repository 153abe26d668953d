//! The fence: of the daemon's pods only the one that holds the Lease may bind, preempt, and change or release reservations. The others
//! may add reservations.

use crate::{OWNER, SOON, SharedCluster, shared_cluster};
use anyhow::{Result, ensure};
use http::Method;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, ResourceExt as _};
use reserve_tests::control_plane::{Account, bare_pod};
use reserve_tests::requests::{Answer, as_annotation, ask, patch, strategic, without_annotation};
use serde_json::{Value, json};

/// What leaders alone may do, each tried and not stored, with the answers.
async fn try_all(shared_cluster: &SharedCluster, account: &Account) -> Result<Vec<(&'static str, Answer)>> {
    let client = shared_cluster.cluster.client_of(account)?;
    let held = format!("reserve.cpu/{OWNER}.held");
    let pods: Api<Pod> = Api::default_namespaced(shared_cluster.cluster.admin());
    let uid = async |name: &str| anyhow::Ok(pods.get(name).await?.uid());
    let binding = json!({"apiVersion": "v1", "kind": "Binding",
                         "metadata": {"name": "waiting", "uid": uid("waiting").await?},
                         "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"}});
    let [waiting, victim] =
        ["waiting", "victim"].map(|name| format!("/api/v1/namespaces/default/pods/{name}"));
    let bind = ask(&client, Method::POST, &format!("{waiting}/binding?dryRun=All"), &binding).await?;
    let preempt = json!({"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"],
                         "preconditions": {"uid": uid("victim").await?}});
    Ok(vec![
        ("change", patch(&client, "/api/v1/nodes/n1?dryRun=All", &as_annotation(&held, "2")).await?),
        ("release", patch(&client, "/api/v1/nodes/n1?dryRun=All", &without_annotation(&held)).await?),
        ("bind", bind),
        ("preempt", ask(&client, Method::DELETE, &victim, &preempt).await?),
        ("give a volume its claim", patch(&client, &format!("{VOLUME}?dryRun=All"), &claim_ref()).await?),
        ("choose a claim's node", patch(&client, &format!("{CLAIM}?dryRun=All"), &chosen_node()).await?),
    ])
}

const VOLUME: &str = "/api/v1/persistentvolumes/free";
const CLAIM: &str = "/api/v1/namespaces/default/persistentvolumeclaims/data";

fn claim_ref() -> Value {
    json!({"spec": {"claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default",
                                 "name": "data", "uid": "0b6b4d3e-3b0f-4a43-9d3c-1f6a2f0a7c11"}}})
}

fn chosen_node() -> Value {
    as_annotation("volume.kubernetes.io/selected-node", "n1")
}

/// A volume and a claim of a class that nobody serves, so that no controller changes them.
fn storage() -> String {
    let (size, modes) = (json!({"storage": "1Gi"}), json!(["ReadWriteOnce"]));
    json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "waits"},
         "provisioner": "example.com/none", "volumeBindingMode": "WaitForFirstConsumer"},
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "free"},
         "spec": {"capacity": size, "accessModes": modes, "storageClassName": "waits", "hostPath": {"path": "/data"}}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"},
         "spec": {"resources": {"requests": size}, "accessModes": modes, "storageClassName": "waits"}},
    ]})
    .to_string()
}

async fn wait_until_led_by(shared_cluster: &SharedCluster, leader: &Account, other: &Account) -> Result<()> {
    shared_cluster
        .cluster
        .wait_until("the fence knows the leader", SOON, async || {
            let said = [try_all(shared_cluster, leader).await?, try_all(shared_cluster, other).await?];
            ensure!(said[0].iter().all(|(_, said)| said.code == 200), "the leader: {:?}", said[0]);
            let refused = |said: &Answer| said.code == 403 && said.message.contains(&leader.pod);
            ensure!(said[1].iter().all(|(_, said)| refused(said)), "the other: {:?}", said[1]);
            Ok(())
        })
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_pod_that_holds_the_lease_binds_preempts_and_changes_reservations() -> Result<()> {
    let shared_cluster = shared_cluster("manifests_fence").await?;
    let held = as_annotation(&format!("reserve.cpu/{OWNER}.held"), "1");
    assert_eq!(patch(&shared_cluster.cluster.admin(), "/api/v1/nodes/n1", &held).await?.code, 200);
    shared_cluster.cluster.apply(&storage()).await?;
    shared_cluster.cluster.deploy(bare_pod("waiting").scheduler("nobody")).await?;
    shared_cluster.cluster.deploy(bare_pod("victim").pod_field("nodeName", "n1".into())).await?;
    // A controller takes back what is older than two minutes.
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let told = json!({"status": {"conditions": [
        {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
         "lastTransitionTime": now}]}});
    let said =
        strategic(&shared_cluster.cluster.admin(), "/api/v1/namespaces/default/pods/victim/status", &told)
            .await?;
    assert_eq!(said.code, 200, "{}", said.message);
    for account in [&shared_cluster.first, &shared_cluster.second] {
        shared_cluster
            .cluster
            .wait_until("nobody leads", SOON, async || {
                let said = try_all(&shared_cluster, account).await?;
                let refused = |said: &Answer| said.code == 403 && said.message.contains("held by nobody");
                ensure!(said.iter().all(|(_, said)| refused(said)), "{said:?}");
                Ok(())
            })
            .await?;
    }
    shared_cluster.elect(Some(&shared_cluster.first)).await?;
    wait_until_led_by(&shared_cluster, &shared_cluster.first, &shared_cluster.second).await?;
    shared_cluster.elect(Some(&shared_cluster.second)).await?;
    wait_until_led_by(&shared_cluster, &shared_cluster.second, &shared_cluster.first).await?;

    // Whoever follows still writes places down, tells what it has seen, and pods why they wait.
    let follower = shared_cluster.cluster.client_of(&shared_cluster.first)?;
    let added = as_annotation(&format!("reserve.cpu/{OWNER}.added"), "1");
    let said = patch(&follower, "/api/v1/nodes/n1", &added).await?;
    assert_eq!(said.code, 200, "{}", said.message);
    let both = json!({"metadata": {"annotations": {
        format!("reserve.cpu/{OWNER}.more"): "1", format!("reserve.cpu/{OWNER}.held"): "2"}}});
    let said = patch(&follower, "/api/v1/nodes/n1", &both).await?;
    assert_eq!(said.code, 403, "what is added hides no change: {}", said.message);
    let lease =
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "reserve-a"}});
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-reserve/leases";
    let said = ask(&follower, Method::POST, leases, &lease).await?;
    assert_eq!(said.code, 200, "{}", said.message);
    let condition = json!({"status": {"conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "waits"}]}});
    let said = strategic(&follower, "/api/v1/namespaces/default/pods/waiting/status", &condition).await?;
    assert_eq!(said.code, 200, "{}", said.message);

    // Somebody deletes the Lease: nobody else may be held up by that.
    shared_cluster.cluster.run_kubectl(&["-n", "kube-reserve", "delete", "lease", "reserve-daemon"]).await?;
    shared_cluster
        .cluster
        .wait_until("the Lease is gone", SOON, async || {
            let said =
                patch(&follower, "/api/v1/nodes/n1?dryRun=All", &as_annotation("reserve.cpu/x", "1")).await?;
            ensure!(!said.message.contains("reserve-fence"), "{said:?}");
            Ok(())
        })
        .await?;
    let said =
        patch(&shared_cluster.cluster.admin(), "/api/v1/nodes/n1", &as_annotation("theirs", "1")).await?;
    assert_eq!(said.code, 200, "{}", said.message);
    Ok(())
}

//! What happens to the node meanwhile: cordoned, not ready, gone and back; and the replacement that goes elsewhere.

use super::{GRACE, SHARED_CLUSTER, stranger, web};
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use reserve_tests::control_plane::{Workload, WorkloadShape, deployment, describe, name_of, node_of};
use reserve_tests::programs::wait_until_seen;
use reserve_tests::shared_cluster::{KEEP, SOON, TestNamespace};
use serde_json::{Value, json};
use std::time::Duration;

async fn cordon(ns: TestNamespace, node: &str) -> Result<()> {
    ns.cluster.run_kubectl(&["cordon", node]).await.map(drop)
}

/// Reserves the place of `pod` by hand, so that its replacement waits for it.
#[expect(clippy::disallowed_methods, reason = "a test is its own outermost layer")]
async fn reserve(ns: TestNamespace, web: &Workload, pod: &Pod) -> Result<()> {
    let owner = json!({"kind": "Deployment", "namespace": ns.name, "name": web.name, "uid": web.uid});
    let now = Timestamp::now();
    let record = json!({"v": 1, "owner": owner, "replaces": {"name": name_of(pod), "uid": pod.metadata.uid},
                        "priority": 0, "created": now, "expires": now + SignedDuration::from_mins(10),
                        "request": "by-hand", "placement": "wait"});
    let seat = format!("{}.seat1", web.uid);
    let (cpu, info) = (format!("{}/{seat}=3", names::CPU), format!("{}/{seat}={record}", names::INFO));
    ns.cluster.run_kubectl(&["annotate", "node", node_of(pod), &cpu, &info]).await?;
    wait_until_seen(ns.cluster, node_of(pod)).await
}

/// The replacement, before it has a node.
async fn waiting(ns: TestNamespace, web: &Workload) -> Result<Pod> {
    ns.cluster
        .wait_until("the replacement waits", SOON, async || {
            let pods = ns.pods(web).await?;
            let new = pods.iter().find(|pod| node_of(pod).is_empty() && is_told(pod));
            new.cloned().with_context(|| describe(&pods))
        })
        .await
}

/// Whether the scheduler has looked at a pod, and did not place it.
fn is_told(pod: &Pod) -> bool {
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|condition| condition.type_ == "PodScheduled" && condition.status == "False")
}

/// A Deployment whose pods take long to go.
fn slow() -> WorkloadShape {
    deployment("web").cpu("3").terminate_after(Duration::from_secs(6))
}

#[test]
fn from_a_cordoned_node_the_replacement_goes_elsewhere_and_nothing_is_kept() -> Result<()> {
    SHARED_CLUSTER.run("cordoned", async |ns| {
        let home = ns.node("a", "4").await?;
        let web = ns.deploy(slow()).await?;
        let old = ns.running(&web, 1).await?;
        let away = ns.node("b", "4").await?;
        reserve(ns, &web, &old[0]).await?;
        ns.delete(&old[0]).await?;
        waiting(ns, &web).await?;
        // It cannot return there any more, so there is nothing to wait for.
        cordon(ns, &home).await?;
        let new = ns.replacement(&web, &old).await?;
        ensure!(node_of(&new) == away, "it is on {}", node_of(&new));
        ns.reserved(&home, 0).await.map(drop)
    })
}

#[test]
fn the_replacement_waits_for_its_node_although_another_has_room() -> Result<()> {
    SHARED_CLUSTER.run("wait", async |ns| {
        let home = ns.node("a", "4").await?;
        let web = ns.deploy(slow()).await?;
        let old = ns.running(&web, 1).await?;
        ns.node("b", "8").await?;
        reserve(ns, &web, &old[0]).await?;
        ns.delete(&old[0]).await?;
        let new = ns.replacement(&web, &old).await?;
        ensure!(node_of(&new) == home, "it is on {}", node_of(&new));
        ns.reserved(&home, 0).await.map(drop)
    })
}

#[test]
fn a_replacement_that_somebody_else_bound_elsewhere_releases_the_place() -> Result<()> {
    SHARED_CLUSTER.run("elsewhere", async |ns| {
        let home = ns.node("a", "4").await?;
        let web = ns.deploy_kept(slow(), 1).await?;
        let away = ns.node("b", "4").await?;
        cordon(ns, &away).await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        ns.reserved(&home, 1).await?;
        let new = waiting(ns, &web).await?;
        let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name_of(&new)},
                             "target": {"kind": "Node", "name": away}});
        let parameters = PostParams::default();
        let pods: Api<Pod> = Api::namespaced(ns.cluster.admin(), ns.name);
        pods.create_subresource::<Value, Value>("binding", name_of(&new), &parameters, &binding)
            .await
            .context("bind by hand")?;
        ns.replacement(&web, &old).await?;
        ns.reserved(&home, 0).await.map(drop)
    })
}

#[test]
fn the_place_on_a_node_that_is_no_longer_ready_is_not_waited_for() -> Result<()> {
    SHARED_CLUSTER.run("no-longer-ready", async |ns| {
        let home = ns.node("a", "4").await?;
        let web = ns.deploy(slow()).await?;
        let old = ns.running(&web, 1).await?;
        let away = ns.node("b", "4").await?;
        reserve(ns, &web, &old[0]).await?;
        ns.delete(&old[0]).await?;
        waiting(ns, &web).await?;
        ns.cluster.report_ready(&home, false).await?;
        let new = ns.replacement(&web, &old).await?;
        ensure!(node_of(&new) == away, "it is on {}", node_of(&new));
        ns.reserved(&home, 0).await.map(drop)
    })
}

#[test]
fn on_a_node_that_is_not_ready_nothing_is_kept() -> Result<()> {
    SHARED_CLUSTER.run("not-ready", async |ns| {
        let home = ns.node("a", "4").await?;
        let web = ns.deploy_kept(web(), 1).await?;
        let away = ns.node("b", "4").await?;
        ns.cluster.report_ready(&home, false).await?;
        let nodes: Api<Node> = Api::all(ns.cluster.admin());
        ns.cluster
            .wait_until("the node is tainted", SOON, async || {
                let node = nodes.get(&home).await?;
                let mut taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
                ensure!(taints.any(|taint| taint.key == "node.kubernetes.io/not-ready"), "no taint yet");
                Ok(())
            })
            .await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        let new = ns.replacement(&web, &old).await?;
        ensure!(node_of(&new) == away, "it is on {}", node_of(&new));
        ns.reserved(&home, 0).await.map(drop)
    })
}

#[test]
fn a_node_that_comes_back_under_its_name_keeps_no_room_in_the_end() -> Result<()> {
    SHARED_CLUSTER.run("node-back", async |ns| {
        let home = ns.node("a", "4").await?;
        let web = ns.deploy_kept(web(), 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        ns.reserved(&home, 1).await?;
        let nodes: Api<Node> = Api::all(ns.cluster.admin());
        nodes.delete(&home, &DeleteParams::default()).await.context("delete a node")?;
        // The deleted pod may still be terminating, and its nodeName now names the new node: until it is gone the daemon may
        // reserve its room there again, and rightly so.
        ns.node("a", "7").await?;
        ns.replacement(&web, &old).await?;
        ns.running(&stranger, 1).await?;
        ns.reserved(&home, 0).await.map(drop)
    })
}

/// Says what a kubelet would say about a pod.
async fn report(ns: TestNamespace, pod: &Pod, status: Value) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(ns.cluster.admin(), ns.name);
    let patch = Patch::Merge(json!({"status": status}));
    pods.patch_status(name_of(pod), &PatchParams::default(), &patch)
        .await
        .map(drop)
        .context("report a status")
}

/// Waits until a pod of the workload that is none of `old` has a node.
async fn bound(ns: TestNamespace, web: &Workload, old: &[&Pod]) -> Result<Pod> {
    let is_new = |pod: &&Pod| !old.iter().any(|old| old.metadata.uid == pod.metadata.uid);
    ns.cluster
        .wait_until("a new pod is bound", SOON, async || {
            let pods = ns.pods(web).await?;
            let mut new = pods.iter().filter(is_new);
            new.find(|pod| !node_of(pod).is_empty()).cloned().with_context(|| describe(&pods))
        })
        .await
}

#[test]
fn when_the_kubelet_rejects_the_replacement_the_next_one_has_the_place() -> Result<()> {
    SHARED_CLUSTER.run("rejected", async |ns| {
        let home = ns.node("a", "4").await?;
        // The fake kubelet does not get round to saying anything: we do.
        let web = deployment("web").cpu("3").terminate_after(GRACE).start_after(Duration::from_secs(3600));
        let web = ns.deploy(web.annotation(KEEP, "true")).await?;
        let first = bound(ns, &web, &[]).await?;
        report(ns, &first, json!({"phase": "Running"})).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        ns.delete(&first).await?;
        let second = bound(ns, &web, &[&first]).await?;
        let no = json!({"phase": "Failed", "reason": "OutOfcpu", "message": "Node didn't have enough resource: cpu"});
        report(ns, &second, no).await?;
        let third = bound(ns, &web, &[&first, &second]).await?;
        ensure!(node_of(&third) == home, "it is on {}", node_of(&third));
        report(ns, &third, json!({"phase": "Running"})).await?;
        ns.reserved(&home, 0).await?;
        ns.still_waits(&stranger).await
    })
}

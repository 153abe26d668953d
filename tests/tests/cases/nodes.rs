//! What happens to the node meanwhile: cordoned, not ready, gone and back; and the replacement that goes elsewhere.

use super::{GRACE, TOWN, stranger, web};
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use reserve_tests::control_plane::{Workload, WorkloadShape, deployment, describe, name_of, node_of};
use reserve_tests::programs::seen;
use reserve_tests::town::{KEEP, Plot, SOON};
use serde_json::{Value, json};
use std::time::Duration;

async fn cordon(plot: Plot, node: &str) -> Result<()> {
    plot.cluster.run_kubectl(&["cordon", node]).await.map(drop)
}

/// Reserves the place of `pod` by hand, so that its replacement waits for it.
#[expect(clippy::disallowed_methods, reason = "a test is its own outermost layer")]
async fn reserve(plot: Plot, web: &Workload, pod: &Pod) -> Result<()> {
    let owner = json!({"kind": "Deployment", "namespace": plot.name, "name": web.name, "uid": web.uid});
    let now = Timestamp::now();
    let record = json!({"v": 1, "owner": owner, "replaces": {"name": name_of(pod), "uid": pod.metadata.uid},
                        "priority": 0, "created": now, "expires": now + SignedDuration::from_mins(10),
                        "request": "by-hand", "placement": "wait"});
    let seat = format!("{}.seat1", web.uid);
    let (cpu, info) = (format!("{}/{seat}=3", names::CPU), format!("{}/{seat}={record}", names::INFO));
    plot.cluster.run_kubectl(&["annotate", "node", node_of(pod), &cpu, &info]).await?;
    seen(plot.cluster, node_of(pod)).await
}

/// The replacement, before it has a node.
async fn waiting(plot: Plot, web: &Workload) -> Result<Pod> {
    plot.cluster
        .wait_until("the replacement waits", SOON, async || {
            let pods = plot.pods(web).await?;
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
    TOWN.run("cordoned", async |plot| {
        let home = plot.node("a", "4").await?;
        let web = plot.deploy(slow()).await?;
        let old = plot.running(&web, 1).await?;
        let away = plot.node("b", "4").await?;
        reserve(plot, &web, &old[0]).await?;
        plot.delete(&old[0]).await?;
        waiting(plot, &web).await?;
        // It cannot return there any more, so there is nothing to wait for.
        cordon(plot, &home).await?;
        let new = plot.replacement(&web, &old).await?;
        ensure!(node_of(&new) == away, "it is on {}", node_of(&new));
        plot.reserved(&home, 0).await.map(drop)
    })
}

#[test]
fn the_replacement_waits_for_its_node_although_another_has_room() -> Result<()> {
    TOWN.run("wait", async |plot| {
        let home = plot.node("a", "4").await?;
        let web = plot.deploy(slow()).await?;
        let old = plot.running(&web, 1).await?;
        plot.node("b", "8").await?;
        reserve(plot, &web, &old[0]).await?;
        plot.delete(&old[0]).await?;
        let new = plot.replacement(&web, &old).await?;
        ensure!(node_of(&new) == home, "it is on {}", node_of(&new));
        plot.reserved(&home, 0).await.map(drop)
    })
}

#[test]
fn a_replacement_that_somebody_else_bound_elsewhere_releases_the_place() -> Result<()> {
    TOWN.run("elsewhere", async |plot| {
        let home = plot.node("a", "4").await?;
        let web = plot.deploy_kept(slow(), 1).await?;
        let away = plot.node("b", "4").await?;
        cordon(plot, &away).await?;
        let old = plot.running(&web, 1).await?;
        plot.delete(&old[0]).await?;
        plot.reserved(&home, 1).await?;
        let new = waiting(plot, &web).await?;
        let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name_of(&new)},
                             "target": {"kind": "Node", "name": away}});
        let parameters = PostParams::default();
        let pods: Api<Pod> = Api::namespaced(plot.cluster.admin(), plot.name);
        pods.create_subresource::<Value, Value>("binding", name_of(&new), &parameters, &binding)
            .await
            .context("bind by hand")?;
        plot.replacement(&web, &old).await?;
        plot.reserved(&home, 0).await.map(drop)
    })
}

#[test]
fn the_place_on_a_node_that_is_no_longer_ready_is_not_waited_for() -> Result<()> {
    TOWN.run("no-longer-ready", async |plot| {
        let home = plot.node("a", "4").await?;
        let web = plot.deploy(slow()).await?;
        let old = plot.running(&web, 1).await?;
        let away = plot.node("b", "4").await?;
        reserve(plot, &web, &old[0]).await?;
        plot.delete(&old[0]).await?;
        waiting(plot, &web).await?;
        plot.cluster.report_ready(&home, false).await?;
        let new = plot.replacement(&web, &old).await?;
        ensure!(node_of(&new) == away, "it is on {}", node_of(&new));
        plot.reserved(&home, 0).await.map(drop)
    })
}

#[test]
fn on_a_node_that_is_not_ready_nothing_is_kept() -> Result<()> {
    TOWN.run("not-ready", async |plot| {
        let home = plot.node("a", "4").await?;
        let web = plot.deploy_kept(web(), 1).await?;
        let away = plot.node("b", "4").await?;
        plot.cluster.report_ready(&home, false).await?;
        let nodes: Api<Node> = Api::all(plot.cluster.admin());
        plot.cluster
            .wait_until("the node is tainted", SOON, async || {
                let node = nodes.get(&home).await?;
                let mut taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
                ensure!(taints.any(|taint| taint.key == "node.kubernetes.io/not-ready"), "no taint yet");
                Ok(())
            })
            .await?;
        let old = plot.running(&web, 1).await?;
        plot.delete(&old[0]).await?;
        let new = plot.replacement(&web, &old).await?;
        ensure!(node_of(&new) == away, "it is on {}", node_of(&new));
        plot.reserved(&home, 0).await.map(drop)
    })
}

#[test]
fn a_node_that_comes_back_under_its_name_has_no_reservations() -> Result<()> {
    TOWN.run("node-back", async |plot| {
        let home = plot.node("a", "4").await?;
        let web = plot.deploy_kept(web(), 1).await?;
        let stranger = plot.deploy_waiting(stranger()).await?;
        let old = plot.running(&web, 1).await?;
        plot.delete(&old[0]).await?;
        plot.reserved(&home, 1).await?;
        let nodes: Api<Node> = Api::all(plot.cluster.admin());
        nodes.delete(&home, &DeleteParams::default()).await.context("delete a node")?;
        plot.node("a", "7").await?;
        ensure!(plot.reservations(&home).await?.is_empty(), "a new node, and something is reserved");
        plot.replacement(&web, &old).await?;
        plot.running(&stranger, 1).await?;
        plot.reserved(&home, 0).await.map(drop)
    })
}

/// Says what a kubelet would say about a pod.
async fn report(plot: Plot, pod: &Pod, status: Value) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(plot.cluster.admin(), plot.name);
    let patch = Patch::Merge(json!({"status": status}));
    pods.patch_status(name_of(pod), &PatchParams::default(), &patch)
        .await
        .map(drop)
        .context("report a status")
}

/// Waits until a pod of the workload that is none of `old` has a node.
async fn bound(plot: Plot, web: &Workload, old: &[&Pod]) -> Result<Pod> {
    let is_new = |pod: &&Pod| !old.iter().any(|old| old.metadata.uid == pod.metadata.uid);
    plot.cluster
        .wait_until("a new pod is bound", SOON, async || {
            let pods = plot.pods(web).await?;
            let mut new = pods.iter().filter(is_new);
            new.find(|pod| !node_of(pod).is_empty()).cloned().with_context(|| describe(&pods))
        })
        .await
}

#[test]
fn when_the_kubelet_rejects_the_replacement_the_next_one_has_the_place() -> Result<()> {
    TOWN.run("rejected", async |plot| {
        let home = plot.node("a", "4").await?;
        // The fake kubelet does not get round to saying anything: we do.
        let web = deployment("web").cpu("3").terminate_after(GRACE).start_after(Duration::from_secs(3600));
        let web = plot.deploy(web.annotation(KEEP, "true")).await?;
        let first = bound(plot, &web, &[]).await?;
        report(plot, &first, json!({"phase": "Running"})).await?;
        let stranger = plot.deploy_waiting(stranger()).await?;
        plot.delete(&first).await?;
        let second = bound(plot, &web, &[&first]).await?;
        let no = json!({"phase": "Failed", "reason": "OutOfcpu", "message": "Node didn't have enough resource: cpu"});
        report(plot, &second, no).await?;
        let third = bound(plot, &web, &[&first, &second]).await?;
        ensure!(node_of(&third) == home, "it is on {}", node_of(&third));
        report(plot, &third, json!({"phase": "Running"})).await?;
        plot.reserved(&home, 0).await?;
        plot.still_waits(&stranger).await
    })
}

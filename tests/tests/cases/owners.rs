//! Who comes back, and who no longer does: replicas, scaling, deletion and recreation of the owner, rollouts.

use super::{GRACE, SHARED_CLUSTER, stranger, web};
use anyhow::{Result, ensure};
use kube::api::DeleteParams;
use reserve_tests::control_plane::{deployment, describe, is_running, name_of, node_of, stateful_set};
use reserve_tests::shared_cluster::{KEEP, SOON, TestNamespace};
use serde_json::json;
use std::time::Duration;

/// The stranger gets the room because nobody needs it any more; nothing is left on the node.
async fn stranger_comes(ns: TestNamespace, node: &str) -> Result<()> {
    let pods = ns.cluster.wait_until_running_in(ns.name, "app=stranger", 1).await?;
    ensure!(node_of(&pods[0]) == node, "{}", describe(&pods));
    ns.reserved(node, 0).await.map(drop)
}

async fn scale(ns: TestNamespace, workload: &str, replicas: u32) -> Result<()> {
    let replicas = format!("--replicas={replicas}");
    ns.cluster.run_kubectl(&["scale", "-n", ns.name, workload, &replicas]).await.map(drop)
}

#[test]
fn of_two_replicas_on_one_node_the_deleted_one_comes_back() -> Result<()> {
    SHARED_CLUSTER.run("two-replicas", async |ns| {
        let node = ns.node("a", "4").await?;
        let web = ns.deploy_kept(deployment("web").replicas(2).cpu("2").terminate_after(GRACE), 2).await?;
        let stranger = ns.deploy_waiting(deployment("stranger").cpu("2")).await?;
        let old = ns.running(&web, 2).await?;
        ns.delete(&old[0]).await?;
        ns.reserved(&node, 1).await?;
        ns.replacement(&web, &old).await?;
        ns.running(&web, 2).await?;
        ns.still_waits(&stranger).await?;
        ns.reserved(&node, 0).await?;
        // And both at once.
        let old = ns.running(&web, 2).await?;
        ns.delete(&old[0]).await?;
        ns.delete(&old[1]).await?;
        ns.replacement(&web, &old).await?;
        ns.running(&web, 2).await?;
        ns.still_waits(&stranger).await
    })
}

#[test]
fn the_second_and_third_time_are_like_the_first() -> Result<()> {
    SHARED_CLUSTER.run("again", async |ns| {
        let node = ns.node("a", "4").await?;
        let web = ns.deploy_kept(web(), 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        for _ in 0..3 {
            let old = ns.running(&web, 1).await?;
            ns.delete(&old[0]).await?;
            ns.replacement(&web, &old).await?;
        }
        ns.still_waits(&stranger).await?;
        ns.reserved(&node, 0).await.map(drop)
    })
}

#[test]
fn a_stateful_sets_pod_is_not_robbed_by_a_new_sibling() -> Result<()> {
    SHARED_CLUSTER.run("sts-sibling", async |ns| {
        ns.node("a", "3").await?;
        let set = stateful_set("web").replicas(3).cpu("1").terminate_after(GRACE);
        let web = ns.deploy_kept(set.field("podManagementPolicy", json!("Parallel")), 3).await?;
        let old = ns.running(&web, 3).await?;
        ns.delete(&old[0]).await?;
        scale(ns, "statefulset/web", 4).await?;
        let back = ns.replacement(&web, &old).await?;
        ensure!(name_of(&back) == "web-0", "{} took its place", name_of(&back));
        ns.cluster
            .wait_until("there are four, and three run", SOON, async || {
                let pods = ns.pods(&web).await?;
                let running = pods.iter().filter(|pod| is_running(pod)).count();
                ensure!(running == 3 && pods.len() == 4, "{}", describe(&pods));
                Ok(())
            })
            .await
    })
}

#[test]
fn of_a_deployments_old_and_new_siblings_exactly_one_has_the_seat() -> Result<()> {
    SHARED_CLUSTER.run("sibling", async |ns| {
        let node = ns.node("a", "4").await?;
        let web = ns.deploy_kept(web(), 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        scale(ns, "deployment/web", 2).await?;
        ns.replacement(&web, &old).await?;
        ns.reserved(&node, 0).await?;
        let pods = ns.pods(&web).await?;
        ensure!(pods.iter().filter(|pod| is_running(pod)).count() == 1, "{}", describe(&pods));
        ns.still_waits(&stranger).await
    })
}

#[test]
fn scaled_to_nothing_nothing_is_kept() -> Result<()> {
    SHARED_CLUSTER.run("scaled-to-0", async |ns| {
        let node = ns.node("a", "4").await?;
        ns.deploy_kept(web(), 1).await?;
        ns.deploy_waiting(stranger()).await?;
        scale(ns, "deployment/web", 0).await?;
        stranger_comes(ns, &node).await
    })
}

#[test]
fn scaled_down_while_the_old_one_goes_nothing_is_kept() -> Result<()> {
    SHARED_CLUSTER.run("scaled-down", async |ns| {
        let node = ns.node("a", "4").await?;
        let web = ns.deploy_kept(web(), 1).await?;
        ns.deploy_waiting(stranger()).await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        ns.reserved(&node, 1).await?;
        scale(ns, "deployment/web", 0).await?;
        stranger_comes(ns, &node).await
    })
}

#[test]
fn with_its_owner_a_reservation_goes() -> Result<()> {
    SHARED_CLUSTER.run("owner-deleted", async |ns| {
        let node = ns.node("a", "4").await?;
        let web = ns.deploy_kept(web(), 1).await?;
        ns.deploy_waiting(stranger()).await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        ns.reserved(&node, 1).await?;
        ns.cluster.run_kubectl(&["delete", "deployment", "web", "-n", ns.name]).await?;
        stranger_comes(ns, &node).await
    })
}

#[test]
fn an_owner_of_the_same_name_is_another_owner() -> Result<()> {
    SHARED_CLUSTER.run("owner-recreated", async |ns| {
        let node = ns.node("a", "4").await?;
        let first = ns.deploy_kept(web(), 1).await?;
        ns.deploy_waiting(stranger()).await?;
        let old = ns.running(&first, 1).await?;
        ns.delete(&old[0]).await?;
        ns.reserved(&node, 1).await?;
        ns.cluster.run_kubectl(&["delete", "deployment", "web", "-n", ns.name]).await?;
        let second = ns.deploy(web().annotation(KEEP, "true")).await?;
        ensure!(second.uid != first.uid, "the API server reused a UID");
        ns.reserved(&node, 0).await?;
        ns.cluster
            .wait_until("somebody has the room", SOON, async || {
                let pods = ns.cluster.pods_in(ns.name, "app in (web,stranger)").await?;
                ensure!(pods.iter().filter(|pod| is_running(pod)).count() == 1, "{}", describe(&pods));
                Ok(())
            })
            .await
    })
}

#[test]
fn a_rollout_and_its_undoing_stay_where_they_are() -> Result<()> {
    SHARED_CLUSTER.run("rollback", async |ns| {
        ns.node("a", "4").await?;
        let strategy = json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}});
        let web = ns.deploy_kept(web().field("strategy", strategy), 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        let kubectl = async |arguments: &[&str]| ns.cluster.run_kubectl(arguments).await.map(drop);
        let old = ns.running(&web, 1).await?;
        kubectl(&["set", "image", "-n", ns.name, "deployment/web", "web=nginx:2"]).await?;
        ns.replacement(&web, &old).await?;
        let old = ns.running(&web, 1).await?;
        kubectl(&["rollout", "undo", "-n", ns.name, "deployment/web"]).await?;
        ns.replacement(&web, &old).await?;
        ns.still_waits(&stranger).await
    })
}

#[test]
fn a_rollout_with_surge_needs_no_place_kept_and_leaves_none() -> Result<()> {
    SHARED_CLUSTER.run("surge", async |ns| {
        let node = ns.node("a", "7").await?;
        let strategy = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
        let web = ns.deploy_kept(web().field("strategy", strategy), 1).await?;
        let old = ns.running(&web, 1).await?;
        ns.cluster.run_kubectl(&["rollout", "restart", "-n", ns.name, "deployment/web"]).await?;
        ns.replacement(&web, &old).await?;
        ns.running(&web, 1).await?;
        ns.reserved(&node, 0).await.map(drop)
    })
}

#[test]
fn a_pod_that_is_gone_at_once_keeps_its_place() -> Result<()> {
    SHARED_CLUSTER.run("force-delete", async |ns| {
        ns.node("a", "4").await?;
        let web = ns.deploy_kept(deployment("web").cpu("3"), 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        for _ in 0..3 {
            let old = ns.running(&web, 1).await?;
            ns.delete_with(&old[0], &DeleteParams::default().grace_period(0)).await?;
            ns.replacement(&web, &old).await?;
        }
        ns.still_waits(&stranger).await
    })
}

#[test]
fn a_pod_that_takes_longer_to_end_than_a_reservation_lives_keeps_its_place() -> Result<()> {
    SHARED_CLUSTER.run("long-grace", async |ns| {
        ns.node("a", "4").await?;
        let web = deployment("web").cpu("3").terminate_after(Duration::from_secs(12));
        let web = ns.deploy(web.annotation(KEEP, "5s")).await?;
        ns.running(&web, 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        ns.replacement(&web, &old).await?;
        ns.still_waits(&stranger).await
    })
}

#[test]
fn a_pod_alone_says_that_its_place_is_kept() -> Result<()> {
    SHARED_CLUSTER.run("bare-pod", async |ns| {
        let node = ns.node("a", "4").await?;
        let shape = reserve_tests::control_plane::bare_pod("solo").cpu("3").terminate_after(GRACE);
        let shape = shape.pod_annotation(KEEP, "true");
        let solo = ns.deploy(shape.clone()).await?;
        let old = ns.running(&solo, 1).await?;
        ns.reserved(&node, 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        ns.delete(&old[0]).await?;
        ns.cluster
            .wait_until("it is gone", SOON, async || {
                ensure!(ns.pods(&solo).await?.is_empty(), "still there");
                Ok(())
            })
            .await?;
        ns.deploy(shape).await?;
        ns.running(&solo, 1).await?;
        ns.still_waits(&stranger).await
    })
}

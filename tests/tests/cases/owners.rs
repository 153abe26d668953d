//! Who comes back, and who no longer does: replicas, scaling, deletion and recreation of the owner, rollouts.

use super::{GRACE, TOWN, stranger, web};
use anyhow::{Result, ensure};
use kube::api::DeleteParams;
use reserve_tests::control_plane::{deployment, describe, is_running, name_of, node_of, stateful_set};
use reserve_tests::town::{KEEP, Plot, SOON};
use serde_json::json;
use std::time::Duration;

/// The stranger gets the room because nobody needs it any more; nothing is left on the node.
async fn stranger_comes(plot: Plot, node: &str) -> Result<()> {
    let pods = plot.cluster.wait_until_running_in(plot.name, "app=stranger", 1).await?;
    ensure!(node_of(&pods[0]) == node, "{}", describe(&pods));
    plot.reserved(node, 0).await.map(drop)
}

async fn scale(plot: Plot, workload: &str, replicas: u32) -> Result<()> {
    let replicas = format!("--replicas={replicas}");
    plot.cluster.run_kubectl(&["scale", "-n", plot.name, workload, &replicas]).await.map(drop)
}

#[test]
fn of_two_replicas_on_one_node_the_deleted_one_comes_back() -> Result<()> {
    TOWN.run("two-replicas", async |plot| {
        let node = plot.node("a", "4").await?;
        let web = plot.deploy_kept(deployment("web").replicas(2).cpu("2").terminate_after(GRACE), 2).await?;
        let stranger = plot.deploy_waiting(deployment("stranger").cpu("2")).await?;
        let old = plot.running(&web, 2).await?;
        plot.delete(&old[0]).await?;
        plot.reserved(&node, 1).await?;
        plot.replacement(&web, &old).await?;
        plot.running(&web, 2).await?;
        plot.still_waits(&stranger).await?;
        plot.reserved(&node, 0).await?;
        // And both at once.
        let old = plot.running(&web, 2).await?;
        plot.delete(&old[0]).await?;
        plot.delete(&old[1]).await?;
        plot.replacement(&web, &old).await?;
        plot.running(&web, 2).await?;
        plot.still_waits(&stranger).await
    })
}

#[test]
fn the_second_and_third_time_are_like_the_first() -> Result<()> {
    TOWN.run("again", async |plot| {
        let node = plot.node("a", "4").await?;
        let web = plot.deploy_kept(web(), 1).await?;
        let stranger = plot.deploy_waiting(stranger()).await?;
        for _ in 0..3 {
            let old = plot.running(&web, 1).await?;
            plot.delete(&old[0]).await?;
            plot.replacement(&web, &old).await?;
        }
        plot.still_waits(&stranger).await?;
        plot.reserved(&node, 0).await.map(drop)
    })
}

#[test]
fn a_stateful_sets_pod_is_not_robbed_by_a_new_sibling() -> Result<()> {
    TOWN.run("sts-sibling", async |plot| {
        plot.node("a", "3").await?;
        let set = stateful_set("web").replicas(3).cpu("1").terminate_after(GRACE);
        let web = plot.deploy_kept(set.field("podManagementPolicy", json!("Parallel")), 3).await?;
        let old = plot.running(&web, 3).await?;
        plot.delete(&old[0]).await?;
        scale(plot, "statefulset/web", 4).await?;
        let back = plot.replacement(&web, &old).await?;
        ensure!(name_of(&back) == "web-0", "{} took its place", name_of(&back));
        plot.cluster
            .wait_until("there are four, and three run", SOON, async || {
                let pods = plot.pods(&web).await?;
                let running = pods.iter().filter(|pod| is_running(pod)).count();
                ensure!(running == 3 && pods.len() == 4, "{}", describe(&pods));
                Ok(())
            })
            .await
    })
}

#[test]
fn of_a_deployments_old_and_new_siblings_exactly_one_has_the_seat() -> Result<()> {
    TOWN.run("sibling", async |plot| {
        let node = plot.node("a", "4").await?;
        let web = plot.deploy_kept(web(), 1).await?;
        let stranger = plot.deploy_waiting(stranger()).await?;
        let old = plot.running(&web, 1).await?;
        plot.delete(&old[0]).await?;
        scale(plot, "deployment/web", 2).await?;
        plot.replacement(&web, &old).await?;
        plot.reserved(&node, 0).await?;
        let pods = plot.pods(&web).await?;
        ensure!(pods.iter().filter(|pod| is_running(pod)).count() == 1, "{}", describe(&pods));
        plot.still_waits(&stranger).await
    })
}

#[test]
fn scaled_to_nothing_nothing_is_kept() -> Result<()> {
    TOWN.run("scaled-to-0", async |plot| {
        let node = plot.node("a", "4").await?;
        plot.deploy_kept(web(), 1).await?;
        plot.deploy_waiting(stranger()).await?;
        scale(plot, "deployment/web", 0).await?;
        stranger_comes(plot, &node).await
    })
}

#[test]
fn scaled_down_while_the_old_one_goes_nothing_is_kept() -> Result<()> {
    TOWN.run("scaled-down", async |plot| {
        let node = plot.node("a", "4").await?;
        let web = plot.deploy_kept(web(), 1).await?;
        plot.deploy_waiting(stranger()).await?;
        let old = plot.running(&web, 1).await?;
        plot.delete(&old[0]).await?;
        plot.reserved(&node, 1).await?;
        scale(plot, "deployment/web", 0).await?;
        stranger_comes(plot, &node).await
    })
}

#[test]
fn with_its_owner_a_reservation_goes() -> Result<()> {
    TOWN.run("owner-deleted", async |plot| {
        let node = plot.node("a", "4").await?;
        let web = plot.deploy_kept(web(), 1).await?;
        plot.deploy_waiting(stranger()).await?;
        let old = plot.running(&web, 1).await?;
        plot.delete(&old[0]).await?;
        plot.reserved(&node, 1).await?;
        plot.cluster.run_kubectl(&["delete", "deployment", "web", "-n", plot.name]).await?;
        stranger_comes(plot, &node).await
    })
}

#[test]
fn an_owner_of_the_same_name_is_another_owner() -> Result<()> {
    TOWN.run("owner-recreated", async |plot| {
        let node = plot.node("a", "4").await?;
        let first = plot.deploy_kept(web(), 1).await?;
        plot.deploy_waiting(stranger()).await?;
        let old = plot.running(&first, 1).await?;
        plot.delete(&old[0]).await?;
        plot.reserved(&node, 1).await?;
        plot.cluster.run_kubectl(&["delete", "deployment", "web", "-n", plot.name]).await?;
        let second = plot.deploy(web().annotation(KEEP, "true")).await?;
        ensure!(second.uid != first.uid, "the API server reused a UID");
        plot.reserved(&node, 0).await?;
        plot.cluster
            .wait_until("somebody has the room", SOON, async || {
                let pods = plot.cluster.pods_in(plot.name, "app in (web,stranger)").await?;
                ensure!(pods.iter().filter(|pod| is_running(pod)).count() == 1, "{}", describe(&pods));
                Ok(())
            })
            .await
    })
}

#[test]
fn a_rollout_and_its_undoing_stay_where_they_are() -> Result<()> {
    TOWN.run("rollback", async |plot| {
        plot.node("a", "4").await?;
        let strategy = json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}});
        let web = plot.deploy_kept(web().field("strategy", strategy), 1).await?;
        let stranger = plot.deploy_waiting(stranger()).await?;
        let kubectl = async |arguments: &[&str]| plot.cluster.run_kubectl(arguments).await.map(drop);
        let old = plot.running(&web, 1).await?;
        kubectl(&["set", "image", "-n", plot.name, "deployment/web", "web=nginx:2"]).await?;
        plot.replacement(&web, &old).await?;
        let old = plot.running(&web, 1).await?;
        kubectl(&["rollout", "undo", "-n", plot.name, "deployment/web"]).await?;
        plot.replacement(&web, &old).await?;
        plot.still_waits(&stranger).await
    })
}

#[test]
fn a_rollout_with_surge_needs_no_place_kept_and_leaves_none() -> Result<()> {
    TOWN.run("surge", async |plot| {
        let node = plot.node("a", "7").await?;
        let strategy = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
        let web = plot.deploy_kept(web().field("strategy", strategy), 1).await?;
        let old = plot.running(&web, 1).await?;
        plot.cluster.run_kubectl(&["rollout", "restart", "-n", plot.name, "deployment/web"]).await?;
        plot.replacement(&web, &old).await?;
        plot.running(&web, 1).await?;
        plot.reserved(&node, 0).await.map(drop)
    })
}

#[test]
fn a_pod_that_is_gone_at_once_keeps_its_place() -> Result<()> {
    TOWN.run("force-delete", async |plot| {
        plot.node("a", "4").await?;
        let web = plot.deploy_kept(deployment("web").cpu("3"), 1).await?;
        let stranger = plot.deploy_waiting(stranger()).await?;
        for _ in 0..3 {
            let old = plot.running(&web, 1).await?;
            plot.delete_with(&old[0], &DeleteParams::default().grace_period(0)).await?;
            plot.replacement(&web, &old).await?;
        }
        plot.still_waits(&stranger).await
    })
}

#[test]
fn a_pod_that_takes_longer_to_end_than_a_reservation_lives_keeps_its_place() -> Result<()> {
    TOWN.run("long-grace", async |plot| {
        plot.node("a", "4").await?;
        let web = deployment("web").cpu("3").terminate_after(Duration::from_secs(12));
        let web = plot.deploy(web.annotation(KEEP, "5s")).await?;
        plot.running(&web, 1).await?;
        let stranger = plot.deploy_waiting(stranger()).await?;
        let old = plot.running(&web, 1).await?;
        plot.delete(&old[0]).await?;
        plot.replacement(&web, &old).await?;
        plot.still_waits(&stranger).await
    })
}

#[test]
fn a_pod_alone_says_that_its_place_is_kept() -> Result<()> {
    TOWN.run("bare-pod", async |plot| {
        let node = plot.node("a", "4").await?;
        let shape = reserve_tests::control_plane::bare_pod("solo").cpu("3").terminate_after(GRACE);
        let shape = shape.pod_annotation(KEEP, "true");
        let solo = plot.deploy(shape.clone()).await?;
        let old = plot.running(&solo, 1).await?;
        plot.reserved(&node, 1).await?;
        let stranger = plot.deploy_waiting(stranger()).await?;
        plot.delete(&old[0]).await?;
        plot.cluster
            .wait_until("it is gone", SOON, async || {
                ensure!(plot.pods(&solo).await?.is_empty(), "still there");
                Ok(())
            })
            .await?;
        plot.deploy(shape).await?;
        plot.running(&solo, 1).await?;
        plot.still_waits(&stranger).await
    })
}

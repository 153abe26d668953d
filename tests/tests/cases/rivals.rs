//! Who else wants the room: pods of higher priority, of DaemonSets, of the same name elsewhere, and forgers.

use super::{GRACE, TOWN, stranger, web};
use anyhow::{Result, ensure};
use common::api::names;
use reserve_tests::control_plane::{bare_pod, deployment, describe, node_of};
use reserve_tests::programs::reserve;
use reserve_tests::town::{Plot, SOON};
use serde_json::{Value, json};
use std::time::Duration;

/// The key of the one reservation on a node, `<owner-uid>.<seat>`.
async fn seat(plot: Plot, node: &str) -> Result<String> {
    plot.reserved(node, 1).await?;
    let annotations = plot.cluster.node(node).await?.metadata.annotations.unwrap_or_default();
    let prefix = format!("{}/", names::INFO);
    let key = annotations.keys().find_map(|key| key.strip_prefix(&prefix)).unwrap_or_default();
    Ok(key.to_owned())
}

#[test]
fn a_pod_of_higher_priority_need_not_heed_it() -> Result<()> {
    TOWN.run("priority", async |plot| {
        let node = plot.node("a", "4").await?;
        let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                           "metadata": {"name": "above"}, "value": 1000, "preemptionPolicy": "Never"});
        plot.cluster.apply(&class.to_string()).await?;
        let web = plot.deploy_kept(web(), 1).await?;
        let above = deployment("above").cpu("3").pod_field("priorityClassName", json!("above"));
        let above = plot.deploy_waiting(above).await?;
        // What is above waits out its back-off; without a replacement until then, only the reservation is in its way.
        let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "no-more", "namespace": plot.name},
                           "spec": {"hard": {"pods": "1"}}});
        plot.cluster.apply(&quota.to_string()).await?;
        plot.cluster
            .wait_until("the quota counts", SOON, async || {
                let used = "jsonpath={.status.used.pods}";
                let used = ["get", "quota", "no-more", "-n", plot.name, "-o", used];
                let used = plot.cluster.run_kubectl(&used).await?;
                ensure!(used == "2", "{used:?}");
                Ok(())
            })
            .await?;
        let old = plot.running(&web, 1).await?;
        plot.delete(&old[0]).await?;
        let pods = plot.running(&above, 1).await?;
        ensure!(node_of(&pods[0]) == node, "{}", describe(&pods));
        plot.cluster
            .wait_until("an event names both sides", SOON, async || {
                let events = plot.cluster.run_kubectl(&["get", "events", "-A", "-o", "json"]).await?;
                let events: Value = serde_json::from_str(&events)?;
                let is_named = |event: &&Value| {
                    let text = event["message"].as_str().unwrap_or_default();
                    let object = event["involvedObject"]["name"].as_str().unwrap_or_default();
                    let both = format!("{text} {object}");
                    both.contains("above-") && both.contains("web")
                };
                ensure!(
                    events["items"].as_array().is_some_and(|all| all.iter().find(is_named).is_some()),
                    "none yet"
                );
                Ok(())
            })
            .await
    })
}

#[test]
fn a_daemon_sets_pod_comes_where_everything_is_kept() -> Result<()> {
    TOWN.run("daemon-set", async |plot| {
        let node = plot.node("a", "4").await?;
        let nobody = "a8f6f901-47c9-4475-b1f4-cac44597e173";
        reserve(plot.cluster, &node, nobody, Some("4")).await?;
        let stranger = plot.deploy_waiting(stranger()).await?;
        let pod = json!({"metadata": {"labels": {"app": "agent"}}, "spec": {
            "schedulerName": names::SCHEDULER_NAME, "nodeSelector": {"test.reserve/plot": plot.name},
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "agent", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}]}});
        let set = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": plot.name},
                         "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": pod}});
        plot.cluster.apply(&set.to_string()).await?;
        plot.cluster.wait_until_running_in(plot.name, "app=agent", 1).await?;
        plot.still_waits(&stranger).await
    })
}

#[test]
fn an_owner_of_the_same_name_in_another_namespace_is_a_stranger() -> Result<()> {
    TOWN.run("same-name", async |plot| {
        plot.node("a", "4").await?;
        let web = plot.deploy_kept(web(), 1).await?;
        plot.cluster.add_namespace("same-name-2").await?;
        let other = plot.fit(super::web()).namespace("same-name-2");
        let other = plot.cluster.deploy(other).await?;
        plot.cluster.wait_until_told("same-name-2", &other.selector).await?;
        let old = plot.running(&web, 1).await?;
        plot.delete(&old[0]).await?;
        plot.replacement(&web, &old).await?;
        plot.still_waits(&other).await
    })
}

#[test]
fn a_forged_owner_or_seat_opens_no_door() -> Result<()> {
    TOWN.run("forged", async |plot| {
        let node = plot.node("a", "4").await?;
        let web = deployment("web").cpu("3").terminate_after(Duration::from_secs(8));
        let web = plot.deploy_kept(web, 1).await?;
        let old = plot.running(&web, 1).await?;
        plot.delete(&old[0]).await?;
        let seat = seat(plot, &node).await?;
        let stamped = bare_pod("stamped").cpu("3").pod_annotation(names::SEAT_STAMP, &seat);
        let stamped = plot.deploy_waiting(stamped).await?;
        // The garbage collector removes a pod whose owner is not what it says; until then it may try.
        let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "other", "uid": web.uid, "controller": true}]);
        let forged = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "forged", "namespace": plot.name, "labels": {"app": "forged"}, "ownerReferences": owner},
            "spec": {"schedulerName": names::SCHEDULER_NAME, "nodeSelector": {"test.reserve/plot": plot.name},
                     "tolerations": [{"operator": "Exists"}],
                     "containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "3"}}}]}});
        plot.cluster.apply(&forged.to_string()).await?;
        plot.replacement(&web, &old).await?;
        plot.still_waits(&stamped).await?;
        let bound = plot.cluster.audit().await?.to("pods/binding").named("forged");
        ensure!(bound.writes().is_empty(), "{bound:?}");
        Ok(())
    })
}

#[test]
fn events_name_neither_the_owner_nor_its_reservation() -> Result<()> {
    TOWN.run("discreet", async |plot| {
        let node = plot.node("a", "4").await?;
        let web = deployment("web").cpu("3").terminate_after(GRACE);
        let web = plot.deploy_kept(web, 1).await?;
        let stranger = plot.deploy_waiting(stranger()).await?;
        let old = plot.running(&web, 1).await?;
        plot.delete(&old[0]).await?;
        plot.reserved(&node, 1).await?;
        plot.replacement(&web, &old).await?;
        let text =
            plot.cluster.run_kubectl(&["describe", "pod", "-n", plot.name, "-l", &stranger.selector]).await?;
        ensure!(!text.contains(&web.uid) && !text.contains("web"), "{text}");
        Ok(())
    })
}

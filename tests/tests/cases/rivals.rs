//! Who else wants the room: pods of higher priority, of DaemonSets, of the same name elsewhere, and forgers.

use super::{GRACE, SHARED_CLUSTER, stranger, web};
use anyhow::{Result, ensure};
use common::api::names;
use reserve_tests::control_plane::{bare_pod, deployment, describe, node_of};
use reserve_tests::programs::reserve;
use reserve_tests::shared_cluster::{SOON, TestNamespace};
use serde_json::{Value, json};
use std::time::Duration;

/// The key of the one reservation on a node, `<owner-uid>.<seat>`.
async fn seat(ns: TestNamespace, node: &str) -> Result<String> {
    ns.reserved(node, 1).await?;
    let annotations = ns.cluster.node(node).await?.metadata.annotations.unwrap_or_default();
    let prefix = format!("{}/", names::INFO);
    let key = annotations.keys().find_map(|key| key.strip_prefix(&prefix)).unwrap_or_default();
    Ok(key.to_owned())
}

#[test]
fn a_pod_of_higher_priority_need_not_heed_it() -> Result<()> {
    SHARED_CLUSTER.run("priority", async |ns| {
        let node = ns.node("a", "4").await?;
        let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                           "metadata": {"name": "above"}, "value": 1000, "preemptionPolicy": "Never"});
        ns.cluster.apply(&class.to_string()).await?;
        let web = ns.deploy_kept(web(), 1).await?;
        let above = deployment("above").cpu("3").pod_field("priorityClassName", json!("above"));
        let above = ns.deploy_waiting(above).await?;
        // What is above waits out its back-off; without a replacement until then, only the reservation is in its way.
        let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "no-more", "namespace": ns.name},
                           "spec": {"hard": {"pods": "1"}}});
        ns.cluster.apply(&quota.to_string()).await?;
        ns.cluster
            .wait_until("the quota counts", SOON, async || {
                let used = "jsonpath={.status.used.pods}";
                let used = ["get", "quota", "no-more", "-n", ns.name, "-o", used];
                let used = ns.cluster.run_kubectl(&used).await?;
                ensure!(used == "2", "{used:?}");
                Ok(())
            })
            .await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        let pods = ns.running(&above, 1).await?;
        ensure!(node_of(&pods[0]) == node, "{}", describe(&pods));
        ns.cluster
            .wait_until("an event names both sides", SOON, async || {
                let events = ns.cluster.run_kubectl(&["get", "events", "-A", "-o", "json"]).await?;
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
    SHARED_CLUSTER.run("daemon-set", async |ns| {
        let node = ns.node("a", "4").await?;
        let nobody = "a8f6f901-47c9-4475-b1f4-cac44597e173";
        reserve(ns.cluster, &node, nobody, Some("4")).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        let pod = json!({"metadata": {"labels": {"app": "agent"}}, "spec": {
            "schedulerName": names::SCHEDULER_NAME, "nodeSelector": {"test.reserve/ns": ns.name},
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "agent", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}]}});
        let set = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": ns.name},
                         "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": pod}});
        ns.cluster.apply(&set.to_string()).await?;
        ns.cluster.wait_until_running_in(ns.name, "app=agent", 1).await?;
        ns.still_waits(&stranger).await
    })
}

#[test]
fn an_owner_of_the_same_name_in_another_namespace_is_a_stranger() -> Result<()> {
    SHARED_CLUSTER.run("same-name", async |ns| {
        ns.node("a", "4").await?;
        let web = ns.deploy_kept(web(), 1).await?;
        ns.cluster.add_namespace("same-name-2").await?;
        let other = ns.fit(super::web()).namespace("same-name-2");
        let other = ns.cluster.deploy(other).await?;
        ns.cluster.wait_until_unschedulable("same-name-2", &other.selector).await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        ns.replacement(&web, &old).await?;
        ns.still_waits(&other).await
    })
}

#[test]
fn a_forged_owner_or_seat_opens_no_door() -> Result<()> {
    SHARED_CLUSTER.run("forged", async |ns| {
        let node = ns.node("a", "4").await?;
        let web = deployment("web").cpu("3").terminate_after(Duration::from_secs(8));
        let web = ns.deploy_kept(web, 1).await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        let seat = seat(ns, &node).await?;
        let stamped = bare_pod("stamped").cpu("3").pod_annotation(names::SEAT_STAMP, &seat);
        let stamped = ns.deploy_waiting(stamped).await?;
        // The garbage collector removes a pod whose owner is not what it says; until then it may try.
        let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "other", "uid": web.uid, "controller": true}]);
        let forged = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "forged", "namespace": ns.name, "labels": {"app": "forged"}, "ownerReferences": owner},
            "spec": {"schedulerName": names::SCHEDULER_NAME, "nodeSelector": {"test.reserve/ns": ns.name},
                     "tolerations": [{"operator": "Exists"}],
                     "containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "3"}}}]}});
        ns.cluster.apply(&forged.to_string()).await?;
        ns.replacement(&web, &old).await?;
        ns.still_waits(&stamped).await?;
        let bound = ns.cluster.audit().await?.to("pods/binding").named("forged");
        ensure!(bound.writes().is_empty(), "{bound:?}");
        Ok(())
    })
}

#[test]
fn events_name_neither_the_owner_nor_its_reservation() -> Result<()> {
    SHARED_CLUSTER.run("discreet", async |ns| {
        let node = ns.node("a", "4").await?;
        let web = deployment("web").cpu("3").terminate_after(GRACE);
        let web = ns.deploy_kept(web, 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        let old = ns.running(&web, 1).await?;
        ns.delete(&old[0]).await?;
        ns.reserved(&node, 1).await?;
        ns.replacement(&web, &old).await?;
        let text =
            ns.cluster.run_kubectl(&["describe", "pod", "-n", ns.name, "-l", &stranger.selector]).await?;
        ensure!(!text.contains(&web.uid) && !text.contains("web"), "{text}");
        Ok(())
    })
}

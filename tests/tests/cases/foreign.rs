//! Owners of kinds that are not Kubernetes' own: their pods' places are kept where the daemon may read them.

use super::TOWN;
use anyhow::{Result, ensure};
use common::api::names;
use k8s_openapi::api::authorization::v1::ResourceAttributes;
use reserve_tests::control_plane::{User, deployment, describe, name_of, node_of};
use reserve_tests::town::{KEEP, Plot, SOON};
use serde_json::{Value, json};

/// Makes the kind CloneSet of a group, and one object of it; its UID.
async fn clone_set(plot: Plot, group: &str) -> Result<String> {
    let crd = format!("clonesets.{group}");
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let kind = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": crd},
        "spec": {"group": group, "scope": "Namespaced",
                 "names": {"kind": "CloneSet", "plural": "clonesets", "singular": "cloneset"},
                 "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}]}});
    plot.cluster.apply(&kind.to_string()).await?;
    let kind = format!("crd/{crd}");
    plot.cluster.run_kubectl(&["wait", "--for=condition=Established", "--timeout=60s", &kind]).await?;
    let set = json!({"apiVersion": format!("{group}/v1"), "kind": "CloneSet",
                     "metadata": {"name": "web", "namespace": plot.name}});
    plot.cluster.apply(&set.to_string()).await?;
    plot.cluster.run_kubectl(&["get", &crd, "web", "-n", plot.name, "-o", "jsonpath={.metadata.uid}"]).await
}

/// A pod of the CloneSet that wishes its place kept, as a controller of CloneSets would make it.
async fn replica(plot: Plot, name: &str, group: &str, uid: &str) -> Result<()> {
    let owner = json!([{"apiVersion": format!("{group}/v1"), "kind": "CloneSet", "name": "web", "uid": uid, "controller": true}]);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": plot.name,
            "labels": {"app": "clones"}, "annotations": {KEEP: "true"}, "ownerReferences": owner},
        "spec": {"schedulerName": names::SCHEDULER_NAME, "nodeSelector": {"test.reserve/plot": plot.name},
                 "tolerations": [{"operator": "Exists"}],
                 "containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "3"}}}]}});
    plot.cluster.apply(&pod.to_string()).await.map(drop)
}

/// The events of a reason in the namespace.
async fn events(plot: Plot, reason: &str) -> Result<Vec<Value>> {
    let selector = format!("--field-selector=reason={reason}");
    let json = plot.cluster.run_kubectl(&["get", "events", "-n", plot.name, &selector, "-o", "json"]).await?;
    let list: Value = serde_json::from_str(&json)?;
    Ok(list["items"].as_array().cloned().unwrap_or_default())
}

#[test]
fn the_place_of_a_pod_is_kept_for_an_owner_that_the_daemon_may_read() -> Result<()> {
    TOWN.run("foreign", async |plot| {
        let (group, node) = ("granted.example.com", plot.node("a", "4").await?);
        let uid = clone_set(plot, group).await?;
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "clonesets", "labels": {"reserve/aggregate-to-daemon": "true"}},
            "rules": [{"apiGroups": [group], "resources": ["clonesets"], "verbs": ["get"]}]});
        plot.cluster.apply(&role.to_string()).await?;
        plot.cluster
            .wait_until("the daemon may read CloneSets", SOON, async || {
                let (verb, group) = (Some("get".to_owned()), Some(group.to_owned()));
                let resource = Some("clonesets".to_owned());
                let asked = ResourceAttributes { verb, group, resource, ..ResourceAttributes::default() };
                ensure!(plot.cluster.may(&plot.cluster.user_name(User::Daemon), asked).await?, "not yet");
                Ok(())
            })
            .await?;
        replica(plot, "web-1", group, &uid).await?;
        let old = plot.cluster.wait_until_running_in(plot.name, "app=clones", 1).await?;
        let kept = plot.reserved(&node, 1).await?;
        ensure!(kept[0]["owner"]["kind"] == "CloneSet.v1.granted.example.com", "{kept:?}");
        ensure!(kept[0]["owner"]["uid"] == *uid, "{kept:?}");
        let stranger = plot.deploy_waiting(deployment("stranger").cpu("3")).await?;
        plot.delete(&old[0]).await?;
        replica(plot, "web-2", group, &uid).await?;
        plot.cluster
            .wait_until("the replacement runs", SOON, async || {
                let pods = plot.cluster.pods_in(plot.name, "app=clones").await?;
                let is_there = pods.iter().any(|pod| name_of(pod) == "web-2" && node_of(pod) == node);
                ensure!(is_there, "{}", describe(&pods));
                Ok(())
            })
            .await?;
        plot.still_waits(&stranger).await
    })
}

#[test]
fn an_owner_that_the_daemon_may_not_read_is_told_once() -> Result<()> {
    TOWN.run("foreign-refused", async |plot| {
        let group = "refused.example.com";
        plot.node("a", "8").await?;
        let uid = clone_set(plot, group).await?;
        replica(plot, "web-1", group, &uid).await?;
        replica(plot, "web-2", group, &uid).await?;
        plot.cluster.wait_until_running_in(plot.name, "app=clones", 2).await?;
        // Each pod is told that its own wish is not granted, and one of them why, before any of them is deleted.
        plot.cluster
            .wait_until("both pods were told", SOON, async || {
                let told = events(plot, "NotReserved").await?;
                ensure!(told.len() >= 2, "{told:?}");
                Ok(())
            })
            .await?;
        let told = events(plot, "OwnerUnreadable").await?;
        ensure!(told.len() == 1 && told[0]["count"].as_u64().unwrap_or(1) == 1, "{told:?}");
        let note = "No room is reserved for the pods of CloneSet web: the daemon may not get clonesets.refused.example.com";
        ensure!(told[0]["message"].as_str().is_some_and(|said| said.starts_with(note)), "{told:?}");
        Ok(())
    })
}

//! Owners of kinds that are not Kubernetes' own: their pods' places are kept where the daemon may read them.

use super::SHARED_CLUSTER;
use anyhow::{Result, ensure};
use common::api::names;
use k8s_openapi::api::authorization::v1::ResourceAttributes;
use reserve_tests::control_plane::{User, deployment, describe, name_of, node_of};
use reserve_tests::shared_cluster::{KEEP, SOON, TestNamespace};
use serde_json::{Value, json};

/// Makes the kind CloneSet of a group, and one object of it; its UID.
async fn clone_set(ns: TestNamespace, group: &str) -> Result<String> {
    let crd = format!("clonesets.{group}");
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let kind = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": crd},
        "spec": {"group": group, "scope": "Namespaced",
                 "names": {"kind": "CloneSet", "plural": "clonesets", "singular": "cloneset"},
                 "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}]}});
    ns.cluster.apply(&kind.to_string()).await?;
    let kind = format!("crd/{crd}");
    ns.cluster.run_kubectl(&["wait", "--for=condition=Established", "--timeout=60s", &kind]).await?;
    let set = json!({"apiVersion": format!("{group}/v1"), "kind": "CloneSet",
                     "metadata": {"name": "web", "namespace": ns.name}});
    ns.cluster.apply(&set.to_string()).await?;
    ns.cluster.run_kubectl(&["get", &crd, "web", "-n", ns.name, "-o", "jsonpath={.metadata.uid}"]).await
}

/// A pod of the CloneSet that wishes its place kept, as a controller of CloneSets would make it.
async fn replica(ns: TestNamespace, name: &str, group: &str, uid: &str) -> Result<()> {
    let owner = json!([{"apiVersion": format!("{group}/v1"), "kind": "CloneSet", "name": "web", "uid": uid, "controller": true}]);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": ns.name,
            "labels": {"app": "clones"}, "annotations": {KEEP: "true"}, "ownerReferences": owner},
        "spec": {"schedulerName": names::SCHEDULER_NAME, "nodeSelector": {"test.reserve/ns": ns.name},
                 "tolerations": [{"operator": "Exists"}],
                 "containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "3"}}}]}});
    ns.cluster.apply(&pod.to_string()).await.map(drop)
}

/// The events of a reason in the namespace.
async fn events(ns: TestNamespace, reason: &str) -> Result<Vec<Value>> {
    let selector = format!("--field-selector=reason={reason}");
    let json = ns.cluster.run_kubectl(&["get", "events", "-n", ns.name, &selector, "-o", "json"]).await?;
    let list: Value = serde_json::from_str(&json)?;
    Ok(list["items"].as_array().cloned().unwrap_or_default())
}

#[test]
fn the_place_of_a_pod_is_kept_for_an_owner_that_the_daemon_may_read() -> Result<()> {
    SHARED_CLUSTER.run("foreign", async |ns| {
        let (group, node) = ("granted.example.com", ns.node("a", "4").await?);
        let uid = clone_set(ns, group).await?;
        let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "clonesets", "labels": {"reserve/aggregate-to-daemon": "true"}},
            "rules": [{"apiGroups": [group], "resources": ["clonesets"], "verbs": ["get"]}]});
        ns.cluster.apply(&role.to_string()).await?;
        ns.cluster
            .wait_until("the daemon may read CloneSets", SOON, async || {
                let (verb, group) = (Some("get".to_owned()), Some(group.to_owned()));
                let resource = Some("clonesets".to_owned());
                let asked = ResourceAttributes { verb, group, resource, ..ResourceAttributes::default() };
                ensure!(ns.cluster.may(&ns.cluster.user_name(User::Daemon), asked).await?, "not yet");
                Ok(())
            })
            .await?;
        replica(ns, "web-1", group, &uid).await?;
        let old = ns.cluster.wait_until_running_in(ns.name, "app=clones", 1).await?;
        let kept = ns.reserved(&node, 1).await?;
        ensure!(kept[0]["owner"]["kind"] == "CloneSet.v1.granted.example.com", "{kept:?}");
        ensure!(kept[0]["owner"]["uid"] == *uid, "{kept:?}");
        let stranger = ns.deploy_waiting(deployment("stranger").cpu("3")).await?;
        ns.delete(&old[0]).await?;
        replica(ns, "web-2", group, &uid).await?;
        ns.cluster
            .wait_until("the replacement runs", SOON, async || {
                let pods = ns.cluster.pods_in(ns.name, "app=clones").await?;
                let is_there = pods.iter().any(|pod| name_of(pod) == "web-2" && node_of(pod) == node);
                ensure!(is_there, "{}", describe(&pods));
                Ok(())
            })
            .await?;
        ns.still_waits(&stranger).await
    })
}

#[test]
fn an_owner_that_the_daemon_may_not_read_is_told_once() -> Result<()> {
    SHARED_CLUSTER.run("foreign-refused", async |ns| {
        let group = "refused.example.com";
        ns.node("a", "8").await?;
        let uid = clone_set(ns, group).await?;
        replica(ns, "web-1", group, &uid).await?;
        replica(ns, "web-2", group, &uid).await?;
        ns.cluster.wait_until_running_in(ns.name, "app=clones", 2).await?;
        // Each pod is told that its own wish is not granted, and one of them why, before any of them is deleted.
        ns.cluster
            .wait_until("both pods were told", SOON, async || {
                let told = events(ns, "NotReserved").await?;
                ensure!(told.len() >= 2, "{told:?}");
                Ok(())
            })
            .await?;
        let told = events(ns, "OwnerUnreadable").await?;
        ensure!(told.len() == 1 && told[0]["count"].as_u64().unwrap_or(1) == 1, "{told:?}");
        let note = "No room is reserved for the pods of CloneSet web: the daemon may not get clonesets.refused.example.com";
        ensure!(told[0]["message"].as_str().is_some_and(|said| said.starts_with(note)), "{told:?}");
        Ok(())
    })
}

//! A pod that names a DaemonSet, to get past the reservations of others.

use super::SHARED_CLUSTER;
use crate::tenant::Tenant;
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::Pod;
use reserve_tests::control_plane::{User, Workload};
use reserve_tests::programs::reserve;
use reserve_tests::shared_cluster::{SOON, TestNamespace};
use serde_json::{Value, json};

/// For whom the whole node is kept.
const SOMEBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

/// The spec of a pod that asks for a CPU of one of the nodes with these labels.
fn spec(selector: &Value) -> Value {
    json!({"schedulerName": names::SCHEDULER_NAME, "nodeSelector": selector, "tolerations": [{"operator": "Exists"}],
           "containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}]})
}

/// Makes a DaemonSet for the nodes with these labels.
async fn daemon_set(tenant: &Tenant, name: &str, selector: &Value) -> Result<Workload> {
    let template = json!({"metadata": {"labels": {"app": name}}, "spec": spec(selector)});
    let spec = json!({"selector": {"matchLabels": {"app": name}}, "template": template});
    tenant.create::<DaemonSet>(json!({"metadata": {"name": name}, "spec": spec})).await
}

/// A pod of priority 0 that names a DaemonSet; if a node is given, tied to it as the controller would do it.
fn forged(ns: TestNamespace, name: &str, set: &Workload, node: Option<&str>) -> Value {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": set.name, "uid": set.uid,
                        "controller": true}]);
    let mut spec = spec(&json!({"test.reserve/ns": ns.name}));
    spec["affinity"] = node.map_or(Value::Null, |node| {
        json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
        [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}}})
    });
    json!({"spec": spec, "metadata": {"name": name, "labels": {"app": set.name, "pod": name},
                                      "ownerReferences": owner}})
}

/// Makes the pod, and again whenever its controller has removed it before the scheduler had a look, until it was told that there is
/// no place. The audit log knows that even if the pod is gone by then.
async fn refused(ns: TestNamespace, tenant: &Tenant, pod: Value) -> Result<()> {
    let name = pod["metadata"]["name"].as_str().context("no name")?.to_owned();
    let daemon = ns.cluster.user_name(User::Daemon);
    let is_bound = ns
        .cluster
        .wait_until(&format!("{name} is tried and told that it has no place"), SOON, async || {
            let made = tenant.create::<Pod>(pod.clone()).await.map(drop);
            let audit = ns.cluster.audit().await?.by(&daemon).named(&name);
            let audit = audit.keep(|write| write.namespace == ns.name);
            let told = audit.clone().to("pods/status");
            let said = told.writes().iter().filter_map(|write| write.request_object.as_ref());
            let mut conditions = said.flat_map(|said| said["status"]["conditions"].as_array()).flatten();
            let is_told = conditions.any(|one| one["type"] == "PodScheduled" && one["status"] == "False");
            let is_bound = !audit.to("pods/binding").writes().is_empty();
            ensure!(is_told || is_bound, "made: {made:?}; told: {told:?}");
            Ok(is_bound)
        })
        .await?;
    ensure!(!is_bound, "{name} was bound");
    Ok(())
}

#[test]
fn a_pod_that_names_a_daemon_set_takes_no_reserved_room() -> Result<()> {
    SHARED_CLUSTER.run("daemon-set", async |ns| {
        let node = ns.node("a", "4").await?;
        let tenant = Tenant::of(ns).await?;
        reserve(ns.cluster, &node, SOMEBODY, Some("4")).await?;
        // A DaemonSet that runs nowhere, and two pods that name it. The controller removes the tied one at some time.
        let nowhere = daemon_set(&tenant, "nowhere", &json!({"no-such": "label"})).await?;
        refused(ns, &tenant, forged(ns, "loose", &nowhere, None)).await?;
        refused(ns, &tenant, forged(ns, "tied", &nowhere, Some(&node))).await?;
        // The pod that the controller makes for the same node passes, and a second one of its DaemonSet does not.
        let agent = daemon_set(&tenant, "agent", &json!({"test.reserve/ns": ns.name})).await?;
        ns.running(&agent, 1).await?;
        refused(ns, &tenant, forged(ns, "second", &agent, Some(&node))).await?;
        refused(ns, &tenant, forged(ns, "last", &agent, None)).await?;
        for name in ["loose", "tied", "second", "last"] {
            // Other tests have pods of these names, too.
            let bound = ns.cluster.audit().await?.to("pods/binding").named(name);
            let bound = bound.keep(|write| write.namespace == ns.name);
            ensure!(bound.writes().is_empty(), "{name} was bound: {bound:?}");
        }
        Ok(())
    })
}

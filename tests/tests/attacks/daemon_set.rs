//! A pod that names a DaemonSet, to get past the reservations of others.

use super::TOWN;
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use reserve_tests::control_plane::User;
use reserve_tests::programs::reserve;
use reserve_tests::town::Plot;
use serde_json::{Value, json};

/// For whom the whole node is kept.
const SOMEBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

/// The spec of a pod that asks for a CPU of one of the nodes with these labels.
fn spec(selector: &Value) -> Value {
    json!({"schedulerName": names::SCHEDULER_NAME, "nodeSelector": selector, "tolerations": [{"operator": "Exists"}],
           "containers": [{"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}]})
}

fn daemon_set(plot: Plot, name: &str, selector: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": plot.name},
           "spec": {"selector": {"matchLabels": {"app": name}},
                    "template": {"metadata": {"labels": {"app": name}}, "spec": spec(selector)}}})
}

/// A pod of priority 0 that names a DaemonSet; if a node is given, tied to it as the controller would do it.
async fn forged(plot: Plot, name: &str, set: &str, node: Option<&str>) -> Result<Value> {
    let uid = ["get", "daemonset", set, "-n", plot.name, "-o", "jsonpath={.metadata.uid}"];
    let uid = plot.cluster.run_kubectl(&uid).await?;
    let owner =
        json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": set, "uid": uid, "controller": true}]);
    let mut spec = spec(&json!({"test.reserve/plot": plot.name}));
    spec["affinity"] = node.map_or(Value::Null, |node| {
        json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
        [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}}})
    });
    Ok(
        json!({"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": {"name": name, "namespace": plot.name,
        "labels": {"app": set, "pod": name}, "ownerReferences": owner}}),
    )
}

/// Applies the object as the tenant.
async fn apply(plot: Plot, object: &Value) -> Result<()> {
    let file =
        plot.cluster.dir().join(format!("{}.json", object["metadata"]["name"].as_str().unwrap_or("x")));
    std::fs::write(&file, object.to_string())?;
    let file = file.to_str().context("a path that is no text")?;
    plot.cluster.run_kubectl_as(User::Tenant, &["apply", "-f", file]).await.map(drop)
}

#[test]
fn a_pod_that_names_a_daemon_set_takes_no_reserved_room() -> Result<()> {
    TOWN.run("daemon-set", async |plot| {
        let node = plot.node("a", "4").await?;
        plot.cluster.let_tenant_edit(plot.name).await?;
        reserve(plot.cluster, &node, SOMEBODY, Some("4")).await?;
        // A DaemonSet of the tenant that runs nowhere, and two pods that name it. The controller removes the tied one at some time.
        apply(plot, &daemon_set(plot, "nowhere", &json!({"no-such": "label"}))).await?;
        apply(plot, &forged(plot, "loose", "nowhere", None).await?).await?;
        apply(plot, &forged(plot, "tied", "nowhere", Some(&node)).await?).await?;
        plot.cluster.wait_until_told(plot.name, "pod=loose").await?;
        // The pod that the controller makes for the same node passes, and a second one of its DaemonSet does not.
        apply(plot, &daemon_set(plot, "agent", &json!({"test.reserve/plot": plot.name}))).await?;
        plot.cluster.wait_until_running_in(plot.name, "app=agent", 1).await?;
        apply(plot, &forged(plot, "second", "agent", Some(&node)).await?).await?;
        // Who comes last is told last: by then all had their turn.
        apply(plot, &forged(plot, "last", "agent", None).await?).await?;
        plot.cluster.wait_until_told(plot.name, "pod=last").await?;
        for name in ["loose", "tied", "second", "last"] {
            let bound = plot.cluster.audit().await?.to("pods/binding").named(name);
            ensure!(bound.writes().is_empty(), "{name} was bound: {bound:?}");
        }
        Ok(())
    })
}

//! Pods whose room cannot be reserved: that is said before anything is deleted, and nothing is changed.

use crate::SHARED_CLUSTER;
use crate::typed::{evictions, typed, writes};
use anyhow::{Result, ensure};
use reserve_tests::control_plane::{deployment, name_of};
use reserve_tests::shared_cluster::{SOON, TestNamespace};
use serde_json::{Value, json};

/// Nothing was written, and nothing evicted.
async fn untouched(ns: &TestNamespace, node: &str) -> Result<()> {
    let written = writes(ns).await?;
    ensure!(written.is_empty(), "{written:#?}");
    ensure!(!evictions(ns).await?.iter().any(|write| write.is_stored()));
    ensure!(ns.cluster.node(node).await?.spec.and_then(|spec| spec.unschedulable) != Some(true));
    Ok(())
}

#[test]
fn a_record_that_is_too_long_is_told_before_anything_is_deleted() -> Result<()> {
    SHARED_CLUSTER.run("too-long", async |ns| {
        let node = ns.node("a", "4").await?;
        let ports: Vec<Value> = (0..400)
            .map(|number| json!({ "containerPort": 20_000 + number, "hostPort": 20_000 + number }))
            .collect();
        let container = json!({ "name": "c", "image": "web", "ports": ports,
                                "resources": { "requests": { "cpu": "1" } } });
        let web = ns.deploy(deployment("web").pod_field("containers", json!([container]))).await?;
        let old = ns.running(&web, 1).await?;
        let pod = name_of(&old[0]);
        ns.node("b", "4").await?;
        for line in
            [&["pod", pod, "--yes"][..], &["restart", "deployment/web", "--yes"], &["drain", &node, "--yes"]]
        {
            let refused = typed(&ns, line).await?.ended(15)?;
            refused.says(&[
                "cannot be reserved: its record would have",
                "its 400 host ports",
                "--no-reserve",
            ])?;
        }
        let refused = typed(&ns, &["add", "--pod", pod]).await?.ended(2)?;
        refused.says(&["cannot be reserved", "its 400 host ports"])?;
        untouched(&ns, &node).await
    })
}

/// As of OpenKruise, CloudNativePG or Strimzi.
#[test]
fn a_pod_of_an_owner_of_an_unknown_kind_is_told_before_anything_is_deleted() -> Result<()> {
    SHARED_CLUSTER.run("unknown-owner", async |ns| {
        let node = ns.node("a", "4").await?;
        let owner = json!({ "apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet", "name": "web",
                            "uid": "a8f6f901-47c9-4475-b1f4-cac44597e173", "controller": true });
        let clone = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": "web-1", "namespace": ns.name, "ownerReferences": [owner] },
            "spec": { "nodeName": node, "schedulerName": "reserve-scheduler",
                      "tolerations": [{ "operator": "Exists" }],
                      "containers": [{ "name": "c", "image": "web", "resources": { "requests": { "cpu": "1" } } }] },
        });
        ns.cluster.apply(&clone.to_string()).await?;
        ns.cluster
            .wait_until("it runs", SOON, async || {
                let phase = ["get", "pod", "web-1", "-n", ns.name, "-o", "jsonpath={.status.phase}"];
                let phase = ns.cluster.run_kubectl(&phase).await?;
                ensure!(phase == "Running", "{phase}");
                Ok(())
            })
            .await?;
        let refused = typed(&ns, &["pod", "web-1", "--yes"]).await?.ended(15)?;
        refused.says(&[
            "pod/web-1 belongs to CloneSet web, and this command cannot read that",
            "--no-reserve evicts it without a reservation",
        ])?;
        untouched(&ns, &node).await
    })
}

/// The daemon runs, and the pod's scheduler is another one: the way out is for this very workload.
#[test]
fn a_pod_of_another_scheduler_is_refused_with_the_patch_for_its_workload() -> Result<()> {
    SHARED_CLUSTER.run("other-scheduler", async |ns| {
        let node = ns.node("a", "4").await?;
        // Nobody places it here, so it names its node.
        let shape = deployment("web").cpu("1").pod_field("nodeName", json!(node));
        let web = ns.cluster.deploy(ns.fit_for(shape, "default-scheduler")).await?;
        ns.running(&web, 1).await?;
        ns.node("b", "4").await?;
        for line in [&["pod", "web", "--yes"][..], &["drain", &node, "--yes"]] {
            let refused = typed(&ns, line).await?.ended(15)?;
            refused.says(&[
                "is placed by default-scheduler, which does not enforce reservations",
                "The daemon enforces them for reserve-scheduler",
                "kubectl patch deployment web -n other-scheduler --type=merge -p",
                "manifests/extender/README.md",
                "--unenforced goes on without",
            ])?;
        }
        untouched(&ns, &node).await?;
        let patch = r#"{"spec":{"template":{"spec":{"schedulerName":"reserve-scheduler","nodeName":null}}}}"#;
        let patch = ["patch", "deployment", "web", "-n", ns.name, "--type=merge", "-p", patch];
        ns.cluster.run_kubectl(&patch).await?;
        ns.running(&web, 1).await?;
        Ok(())
    })
}

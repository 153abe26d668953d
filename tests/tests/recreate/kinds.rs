//! Pods of every kind: bare, mirrored, of a DaemonSet, a Job, a StatefulSet; waiting ones; local data.

use crate::typed::{typed, writes};
use crate::{GRACE, SHARED_CLUSTER, stranger};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{bare_pod, deployment, job, name_of, node_of, stateful_set};
use reserve_tests::shared_cluster::SOON;
use serde_json::json;
use std::time::Duration;

#[test]
fn a_bare_pod_is_backed_up_and_made_again() -> Result<()> {
    SHARED_CLUSTER.run("bare", async |ns| {
        let node = ns.node("n1", "4").await?;
        let shape = bare_pod("lonely").cpu("3").terminate_after(GRACE).pod_label("keep", "me");
        let lonely = ns.deploy(shape).await?;
        let old = ns.running(&lonely, 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        let refused = typed(&ns, &["pod", "lonely", "--yes"]).await?.ended(15)?;
        refused.says(&[
            "cannot delete Pods that declare no controller (use --force to override): bare/lonely",
        ])?;
        ensure!(writes(&ns).await?.is_empty());
        let done = typed(&ns, &["pod", "lonely", "--yes", "--force"]).await?.ended(0)?;
        let done = done.says(&["manifest backed up to", "created", "bound", "released"])?;
        let new = ns.replacement(&lonely, &old).await?;
        ensure!(
            node_of(&new) == node && new.metadata.labels.as_ref().is_some_and(|all| all.contains_key("keep"))
        );
        ns.still_waits(&stranger).await?;
        let backup =
            done.talk.lines().find_map(|line| line.split("backed up to ").nth(1)).context("no backup")?;
        let text = std::fs::read_to_string(backup).with_context(|| backup.to_owned())?;
        ensure!(text.contains("name: lonely") && !text.contains("resourceVersion"), "{text}");
        ns.reserved(&node, 0).await?;
        Ok(())
    })
}

#[test]
fn a_stateful_sets_pod_comes_back_under_its_name() -> Result<()> {
    SHARED_CLUSTER.run("stateful", async |ns| {
        let node = ns.node("n1", "4").await?;
        let db = ns.deploy(stateful_set("db").cpu("3").terminate_after(GRACE)).await?;
        let old = ns.running(&db, 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        let refused =
            typed(&ns, &["pod", "db-0", "--yes", "--force", "--grace-period=0"]).await?.ended(15)?;
        refused.says(&["StatefulSet"])?;
        typed(&ns, &["pod", "db-0", "--yes", "--grace-period=0"])
            .await?
            .ended(2)?
            .says(&["needs --force"])?;
        ensure!(writes(&ns).await?.is_empty());
        let done = typed(&ns, &["pod", "db-0", "--yes", "-o", "json"]).await?.ended(0)?;
        let json: serde_json::Value = serde_json::from_str(&done.out)?;
        ensure!(json["kind"] == "RecreationList" && json["items"][0]["metadata"]["name"] == "db-0", "{json}");
        ensure!(json["items"][0]["sameNode"] == true && json["items"][0]["node"] == *node, "{json}");
        let new = ns.replacement(&db, &old).await?;
        ensure!(node_of(&new) == node && new.metadata.uid != old[0].metadata.uid);
        ns.still_waits(&stranger).await
    })
}

#[test]
fn a_daemon_sets_pod_returns_and_a_jobs_pod_is_warned_of() -> Result<()> {
    SHARED_CLUSTER.run("sets-and-jobs", async |ns| {
        let node = ns.node("n1", "8").await?;
        let job = ns.deploy(job("crunch").cpu("1").complete_after(Duration::from_secs(600))).await?;
        let crunch = ns.running(&job, 1).await?;
        let plan = typed(&ns, &["pod", name_of(&crunch[0]), "--dry-run=server"]).await?.ended(0)?;
        ensure!(plan.out.contains("the Job may count it as failed (backoffLimit 6)"), "{plan:#?}");
        let selector = json!({ "matchLabels": { "app": "agent" } });
        let shape = ns.fit(deployment("agent").cpu("1"));
        let template = shape.template();
        let set = json!({ "apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": { "name": "agent", "namespace": ns.name },
            "spec": { "selector": selector, "template": template } });
        ns.cluster.apply(&set.to_string()).await?;
        let old = ns.cluster.wait_until_running_in(ns.name, "app=agent", 1).await?;
        let done = typed(&ns, &["pod", name_of(&old[0]), "--yes"]).await?.ended(0)?;
        done.says(&["the DaemonSet re-creates it on the same node", "DaemonSet agent", "(same node)"])?;
        let new = ns.cluster.wait_until_running_in(ns.name, "app=agent", 1).await?;
        ensure!(node_of(&new[0]) == node && new[0].metadata.uid != old[0].metadata.uid);
        Ok(())
    })
}

#[test]
fn a_jobs_pod_comes_back_in_its_place() -> Result<()> {
    SHARED_CLUSTER.run("job", async |ns| {
        let node = ns.node("n1", "4").await?;
        let shape = job("crunch").cpu("3").terminate_after(GRACE).complete_after(Duration::from_secs(600));
        let crunch = ns.deploy(shape).await?;
        let old = ns.running(&crunch, 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        let done = typed(&ns, &["pod", name_of(&old[0]), "--yes"]).await?.ended(0)?;
        done.says(&["Job crunch", "the Job may count it as failed", "(same node)", "ready", "released"])?;
        ensure!(node_of(&ns.replacement(&crunch, &old).await?) == node);
        ns.still_waits(&stranger).await?;
        ns.reserved(&node, 0).await?;
        Ok(())
    })
}

#[test]
fn what_cannot_be_recreated_is_refused() -> Result<()> {
    SHARED_CLUSTER.run("refused", async |ns| {
        let node = ns.node("n1", "4").await?;
        // What a kubelet makes of a file.
        let mirror = bare_pod("mirror").annotation("kubernetes.io/config.mirror", "x");
        ns.cluster.deploy(ns.fit(mirror).pod_field("nodeName", json!(node))).await?;
        typed(&ns, &["pod", "mirror", "--yes", "--force"])
            .await?
            .ended(15)?
            .says(&["mirror pod", "manifest folder of the kubelet"])?;
        let big = ns.deploy_waiting(deployment("big").cpu("9")).await?;
        let waiting = ns.pods(&big).await?;
        typed(&ns, &["pod", name_of(&waiting[0]), "--yes"])
            .await?
            .ended(15)?
            .says(&["has no node yet", "kubectl reserve explain big-"])?;
        let data = json!([{ "name": "scratch", "emptyDir": {} }]);
        let local = ns.deploy(deployment("local").cpu("1").pod_field("volumes", data)).await?;
        let pods = ns.running(&local, 1).await?;
        typed(&ns, &["pod", name_of(&pods[0]), "--yes"]).await?.ended(15)?.says(&[
            "cannot delete Pods with local storage (use --delete-emptydir-data to override): refused/local-",
        ])?;
        ensure!(writes(&ns).await?.is_empty());
        typed(&ns, &["pod", name_of(&pods[0]), "--yes", "--delete-emptydir-data"]).await?.ended(0)?;
        ns.cluster
            .wait_until("another one runs", SOON, async || {
                let new = ns.running(&local, 1).await?;
                ensure!(name_of(&new[0]) != name_of(&pods[0]));
                Ok(())
            })
            .await
    })
}

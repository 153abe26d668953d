//! `kubectl reserve drain`: every pod has a place before any is evicted, or nothing is changed at all.

use crate::typed::{begin, evictions, typed, writes};
use crate::{GRACE, SHARED_CLUSTER};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{bare_pod, deployment, name_of, node_of, stateful_set};
use reserve_tests::shared_cluster::{SOON, TestNamespace};
use serde_json::{Value, json};

#[test]
fn a_node_is_emptied_and_everybody_has_a_place() -> Result<()> {
    SHARED_CLUSTER.run("emptied", async |ns| {
        let node = ns.node("a", "6").await?;
        let web = ns.deploy(deployment("web").replicas(2).cpu("2").terminate_after(GRACE)).await?;
        ns.running(&web, 2).await?;
        let db = ns.deploy(stateful_set("db").cpu("1").terminate_after(GRACE)).await?;
        ns.running(&db, 1).await?;
        let b = ns.node("b", "3").await?;
        let c = ns.node("c", "2").await?;
        // It would take any of these places.
        let rival = ns.deploy_waiting(deployment("rival").cpu("4")).await?;
        let plan = typed(&ns, &["drain", &node, "--dry-run"]).await?.ended(0)?;
        ensure!(plan.out.starts_with("POD") && plan.out.contains("StatefulSet/db"), "{plan:#?}");
        ensure!(plan.out.ends_with(&format!("node/{node} drained (dry run)\n")), "{plan:#?}");
        ensure!(writes(&ns).await?.is_empty());
        let done = typed(&ns, &["drain", &node, "--yes"]).await?.ended(0)?;
        ensure!(done.out == format!("node/{node} drained\n"), "{done:#?}");
        done.says(&[&format!("node/{node} cordoned"), "3 places reserved"])?;
        ensure!(left(&ns, &node).await?.is_empty(), "it ended before the pods were gone");
        let pods = ns.running(&web, 2).await?.into_iter().chain(ns.running(&db, 1).await?);
        ensure!(pods.map(|pod| node_of(&pod).to_owned()).all(|at| at == b || at == c));
        ns.reserved(&b, 0).await?;
        ns.reserved(&c, 0).await?;
        drop(rival);
        Ok(())
    })
}

/// The names of the pods on a node, those that terminate included.
async fn left(ns: &TestNamespace, node: &str) -> Result<String> {
    let on_node = format!("--field-selector=spec.nodeName={node}");
    ns.cluster.run_kubectl(&["get", "pods", "-n", ns.name, &on_node, "-o", "name"]).await
}

/// Whoever drains a node switches it off afterwards.
#[test]
fn a_drain_ends_when_the_pods_are_gone_and_a_rerun_waits_for_them() -> Result<()> {
    SHARED_CLUSTER.run("drain-gone", async |ns| {
        let node = ns.node("a", "4").await?;
        let slow = std::time::Duration::from_secs(25);
        let web = ns.deploy(deployment("web").cpu("2").terminate_after(slow)).await?;
        ns.running(&web, 1).await?;
        let b = ns.node("b", "4").await?;
        let late = typed(&ns, &["drain", &node, "--yes", "--timeout=8s"]).await?.ended(12)?;
        late.says(&[
            &format!("timed out: 1 pod on {node} did not terminate yet: drain-gone/web-"),
            &format!("kubectl uncordon {node}"),
            &format!("kubectl reserve drain {node}"),
        ])?;
        ns.reserved(&b, 0).await?;
        ensure!(!left(&ns, &node).await?.is_empty(), "the test is too slow");
        let done = typed(&ns, &["drain", &node, "--yes"]).await?.ended(0)?;
        let done = done.says(&["already cordoned", "waiting for 1 pod to terminate: drain-gone/web-"])?;
        ensure!(!done.talk.contains("reserved"), "nothing is planned for it: {}", done.talk);
        ensure!(left(&ns, &node).await?.is_empty() && ns.reservations(&b).await?.is_empty());
        ensure!(evictions(&ns).await?.iter().filter(|write| write.is_stored()).count() == 1);
        Ok(())
    })
}

#[test]
fn without_a_place_for_each_nothing_is_changed() -> Result<()> {
    SHARED_CLUSTER.run("drain-full", async |ns| {
        let node = ns.node("a", "6").await?;
        let web = ns.deploy(deployment("web").replicas(2).cpu("2")).await?;
        ns.running(&web, 2).await?;
        ns.node("b", "3").await?;
        let refused = typed(&ns, &["drain", &node, "--yes"]).await?.ended(13)?;
        refused.says(&["1 of 2 pod has no place elsewhere", "Insufficient cpu", "Nothing was changed."])?;
        let lonely = ns.deploy(bare_pod("lonely").cpu("1").pod_field("nodeName", json!(node))).await?;
        ns.running(&lonely, 1).await?;
        let refused = typed(&ns, &["drain", &node, "--yes"]).await?.ended(15)?;
        refused.says(&[
            "cannot delete Pods that declare no controller (use --force to override): drain-full/lonely",
        ])?;
        let written = writes(&ns).await?;
        ensure!(written.is_empty(), "{written:#?}");
        ensure!(ns.cluster.node(&node).await?.spec.and_then(|spec| spec.unschedulable) != Some(true));
        Ok(())
    })
}

#[test]
fn ctrl_c_releases_the_places_of_those_that_were_not_evicted() -> Result<()> {
    SHARED_CLUSTER.run("drain-stop", async |ns| {
        let node = ns.node("a", "6").await?;
        let slow = std::time::Duration::from_secs(10);
        let web = ns.deploy(deployment("web").replicas(2).cpu("2").terminate_after(slow)).await?;
        ns.running(&web, 2).await?;
        let b = ns.node("b", "4").await?;
        let mut run = begin(&ns, &["drain", &node, "--yes"])?;
        tokio::task::block_in_place(|| run.hear("  evicted  "))?;
        run.signal("INT")?;
        let stopped = tokio::task::block_in_place(|| run.end())?.ended(130)?;
        stopped.says(&[
            "interrupted",
            "1 of 2 pods were not touched",
            &format!("kubectl uncordon {node}"),
        ])?;
        ensure!(ns.reservations(&b).await?.len() == 1, "that of the pod that is on its way");
        ensure!(evictions(&ns).await?.iter().filter(|write| write.is_stored()).count() == 1);
        ensure!(ns.cluster.node(&node).await?.spec.and_then(|spec| spec.unschedulable) == Some(true));
        ns.running(&web, 2).await?;
        ns.reserved(&b, 0).await?;
        Ok(())
    })
}

/// Siblings are alike: whoever comes first takes any of their places, and the others have to be planned for again.
#[test]
fn siblings_that_take_each_others_places_all_find_one() -> Result<()> {
    SHARED_CLUSTER.run("siblings", async |ns| {
        let node = ns.node("a", "8").await?;
        let web = ns.deploy(deployment("web").replicas(4).cpu("2").terminate_after(GRACE)).await?;
        ns.running(&web, 4).await?;
        let mut others = Vec::new();
        for name in ["b", "c", "d", "e"] {
            others.push(ns.node(name, "3").await?);
        }
        held_up(&ns, 4).await?;
        let mut run = begin(&ns, &["drain", &node, "--yes"])?;
        tokio::task::block_in_place(|| run.hear("will retry"))?;
        // One of the places is lost to somebody who released it; there is room for another one in its stead.
        let spare = ns.node("f", "3").await?;
        let lost = others_last(&ns, &others).await?;
        ns.cluster.run_kubectl(&["reserve", "release", &lost, "-n", ns.name]).await?;
        ns.cluster.run_kubectl(&["delete", "pdb/web", "pod/gated", "-n", ns.name]).await?;
        let done = tokio::task::block_in_place(|| run.end())?.ended(0)?;
        let done = done.says(&["(as reserved)"])?;
        ensure!(!done.talk.contains("(same node)") && !done.talk.contains(" stays "), "{}", done.talk);
        let mut at: Vec<String> =
            ns.running(&web, 4).await?.iter().map(|pod| node_of(pod).to_owned()).collect();
        at.sort();
        at.dedup();
        ensure!(at.len() == 4 && !at.contains(&node), "{at:?}");
        ensure!(evictions(&ns).await?.iter().filter(|write| write.is_stored()).count() == 4);
        for node in others.iter().chain([&spare]) {
            ns.reserved(node, 0).await?;
        }
        Ok(())
    })
}

/// The first to go takes the other's place, and is slow to go. What it leaves behind is given to the other one at once:
/// nothing else is free anywhere.
#[test]
fn a_sibling_whose_place_was_taken_gets_the_one_that_was_left() -> Result<()> {
    SHARED_CLUSTER.run("exchanged", async |ns| {
        let node = ns.node("a", "4").await?;
        let slow = std::time::Duration::from_secs(35);
        let web = ns.deploy(deployment("web").replicas(2).cpu("2").terminate_after(slow)).await?;
        ns.running(&web, 2).await?;
        let mut others = [ns.node("b", "2").await?, ns.node("c", "2").await?];
        others.sort();
        held_up(&ns, 2).await?;
        let mut run = begin(&ns, &["drain", &node, "--yes"])?;
        tokio::task::block_in_place(|| run.hear("will retry"))?;
        let line = run.heard.lines().find(|line| line.starts_with("evicting pod")).context("nobody goes")?;
        let place = line.rsplit(' ').next().unwrap_or_default().to_owned();
        // It finds its own place closed for a while, and sits down on the other.
        ns.cluster.run_kubectl(&["cordon", &place]).await?;
        ns.cluster.run_kubectl(&["delete", "pdb/web", "pod/gated", "-n", ns.name]).await?;
        tokio::task::block_in_place(|| run.hear("  bound  "))?;
        ns.cluster.run_kubectl(&["uncordon", &place]).await?;
        let done = tokio::task::block_in_place(|| run.end())?.ended(0)?;
        done.says(&[&format!("not on {place}")])?;
        let mut at: Vec<String> =
            ns.running(&web, 2).await?.iter().map(|pod| node_of(pod).to_owned()).collect();
        at.sort();
        ensure!(at == others, "{at:?}");
        for node in &others {
            ns.reserved(node, 0).await?;
        }
        Ok(())
    })
}

/// A budget that all of these pods are needed for, as long as one more is not well.
async fn held_up(ns: &TestNamespace, pods: usize) -> Result<()> {
    let labels = json!({ "app": "web" });
    let gated = json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "gated", "namespace": ns.name, "labels": labels },
        "spec": { "schedulingGates": [{ "name": "example.com/gate" }],
                  "containers": [{ "name": "c", "image": "x" }] } });
    let budget = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": { "name": "web", "namespace": ns.name },
        "spec": { "minAvailable": pods, "selector": { "matchLabels": labels } } });
    ns.cluster.apply(&gated.to_string()).await?;
    ns.cluster.apply(&budget.to_string()).await?;
    ns.cluster
        .wait_until("the budget is worked out", SOON, async || {
            let path = "jsonpath={.status.expectedPods}/{.status.currentHealthy}";
            let said = ns.cluster.run_kubectl(&["get", "pdb", "web", "-n", ns.name, "-o", path]).await?;
            ensure!(said == format!("{}/{pods}", pods + 1), "{said}");
            Ok(())
        })
        .await
}

/// The name of a reservation that nobody has taken yet, with its node.
async fn others_last(ns: &TestNamespace, nodes: &[String]) -> Result<String> {
    let json = ns.cluster.run_kubectl(&["reserve", "list", "-n", ns.name, "-o", "json"]).await?;
    let list: Value = serde_json::from_str(&json)?;
    let occupied =
        |item: &&Value| item["state"].as_str().is_some_and(|state| state.eq_ignore_ascii_case("held"));
    let items = list["items"].as_array().context("no list")?;
    let last = items.iter().rfind(|item| occupied(item) && nodes.iter().any(|node| item["node"] == **node));
    let item = last.with_context(|| format!("nothing is held: {list}"))?;
    Ok(format!(
        "{}/{}",
        item["node"].as_str().unwrap_or_default(),
        item["metadata"]["name"].as_str().unwrap_or_default()
    ))
}

#[test]
fn a_dry_run_on_the_server_asks_about_every_step_and_changes_nothing() -> Result<()> {
    SHARED_CLUSTER.run("drain-rehearsed", async |ns| {
        let node = ns.node("a", "4").await?;
        let web = ns.deploy(deployment("web").cpu("2")).await?;
        let old = ns.running(&web, 1).await?;
        let b = ns.node("b", "4").await?;
        let name = name_of(&old[0]);
        let plan = typed(&ns, &["drain", &node, "--dry-run=server"]).await?.ended(0)?;
        for line in [
            format!("node/{node} cordoned (server dry run)"),
            format!("pod/{name} evicted (server dry run)"),
            format!("node/{b} reserved (server dry run)"),
            format!("node/{node} drained (server dry run)"),
        ] {
            ensure!(plan.out.lines().any(|said| said == line), "nothing of {line:?} in {plan:#?}");
        }
        // What the server would refuse is heard before anything is done.
        let budget = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": { "name": "web", "namespace": ns.name },
            "spec": { "maxUnavailable": 0, "selector": { "matchLabels": { "app": "web" } } } });
        ns.cluster.apply(&budget.to_string()).await?;
        ns.cluster
            .wait_until("the budget is worked out", SOON, async || {
                let path = "jsonpath={.status.currentHealthy}";
                let said = ns.cluster.run_kubectl(&["get", "pdb", "web", "-n", ns.name, "-o", path]).await?;
                ensure!(said == "1", "{said}");
                Ok(())
            })
            .await?;
        typed(&ns, &["drain", &node, "--dry-run=server"]).await?.ended(11)?.says(&["drain-rehearsed/web"])?;
        let tried = evictions(&ns).await?;
        ensure!(tried.len() == 2 && tried.iter().all(|write| write.dry_run), "{tried:#?}");
        ensure!(writes(&ns).await?.is_empty());
        ensure!(ns.cluster.node(&node).await?.spec.and_then(|spec| spec.unschedulable) != Some(true));
        Ok(())
    })
}

//! A pod comes back in its place, and what is said meanwhile.

use crate::typed::{evictions, typed, writes};
use crate::{SHARED_CLUSTER, stranger, web};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{deployment, name_of, node_of};

#[test]
fn a_pod_comes_back_in_a_full_cluster() -> Result<()> {
    SHARED_CLUSTER.run("back", async |ns| {
        let node = ns.node("n1", "4").await?;
        let web = ns.deploy(web()).await?;
        let old = ns.running(&web, 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        // By the name of its Deployment, as somebody would.
        let typed = typed(&ns, &["pod", "web", "--yes"]).await?.ended(0)?;
        let new = ns.replacement(&web, &old).await?;
        ensure!(node_of(&new) == node, "it is on {}", node_of(&new));
        let last = format!("pod/{} recreated on {node}, ", name_of(&new));
        ensure!(typed.out.starts_with(&last) && typed.out.lines().count() == 1, "{typed:#?}");
        let steps = ["reserved", "acknowledged", "evicted", "gone", "bound", "ready", "released"];
        let said: Vec<&str> = typed
            .talk
            .lines()
            .filter_map(|line| line.strip_prefix("  ok  ")?.split_whitespace().nth(1))
            .collect();
        ensure!(said == steps, "{said:?}:\n{}", typed.talk);
        let typed = typed.says(&[
            "web has one pod: web-",
            "< Deployment web",
            "keeps cpu 3, memory 1Gi for it",
            "Budget      none",
            "enforces reservations (it is the daemon)",
            "1 Pending pod could take its place",
            "/stranger-",
        ])?;
        let widest = typed.talk.lines().map(|line| line.chars().count()).max();
        ensure!(widest <= Some(120), "{}", typed.talk);
        ns.still_waits(&stranger).await?;
        ns.reserved(&node, 0).await?;
        // One eviction, with the pod's UID and its grace.
        let all = evictions(&ns).await?;
        ensure!(all.len() == 2 && all[0].dry_run && all[1].is_stored(), "{all:#?}");
        let body = all[1].request_object.clone().context("no body")?;
        let uid = old[0].metadata.uid.as_deref();
        ensure!(body["deleteOptions"]["preconditions"]["uid"].as_str() == uid, "{body}");
        ensure!(body["deleteOptions"]["gracePeriodSeconds"] == 30, "{body}");
        Ok(())
    })
}

#[test]
fn a_plan_changes_nothing() -> Result<()> {
    SHARED_CLUSTER.run("plan", async |ns| {
        ns.node("n1", "4").await?;
        let web = ns.deploy(web()).await?;
        let old = ns.running(&web, 1).await?;
        let name = name_of(&old[0]);
        // Nobody can be asked, so nothing is done.
        let refused = typed(&ns, &["pod", name]).await?.ended(2)?;
        refused.says(&["error: stdin is not a terminal; pass --yes to recreate pod/web-", "--dry-run"])?;
        let client = typed(&ns, &["pod", name, "--dry-run=client"]).await?.ended(0)?;
        ensure!(client.out.contains(&format!("pod/{name} recreated (dry run)")), "{client:#?}");
        let server = typed(&ns, &["pod", name, "--dry-run=server"]).await?.ended(0)?;
        ensure!(server.out.contains(&format!("pod/{name} evicted (server dry run)")), "{server:#?}");
        ensure!(server.out.contains("reserved (server dry run)"), "{server:#?}");
        ensure!(server.out.starts_with("Pod         plan/web-"), "{server:#?}");
        let written = writes(&ns).await?;
        ensure!(written.is_empty(), "{written:#?}");
        ensure!(ns.running(&web, 1).await?[0].metadata.uid == old[0].metadata.uid, "it is another pod");
        Ok(())
    })
}

#[test]
fn of_several_pods_nobody_is_chosen_and_all_can_be_named() -> Result<()> {
    SHARED_CLUSTER.run("several", async |ns| {
        let node = ns.node("n1", "8").await?;
        let web = ns.deploy(web().replicas(2)).await?;
        let old = ns.running(&web, 2).await?;
        let refused = typed(&ns, &["pod", "web", "--yes"]).await?.ended(2)?;
        refused.says(&[
            "has 2 pods",
            name_of(&old[0]),
            name_of(&old[1]),
            "kubectl reserve restart deployment/web",
        ])?;
        ensure!(writes(&ns).await?.is_empty(), "something was written");
        let both = typed(&ns, &["pod", name_of(&old[0]), name_of(&old[1]), "--yes", "-o", "name"])
            .await?
            .ended(0)?;
        let new = ns.running(&web, 2).await?;
        let mut names: Vec<String> = new.iter().map(|pod| format!("pod/{}", name_of(pod))).collect();
        let mut said: Vec<&str> = both.out.lines().collect();
        names.sort();
        said.sort_unstable();
        ensure!(said == names, "{said:?} {names:?}");
        ensure!(
            new.iter().all(|pod| node_of(pod) == node && !old.iter().any(|old| name_of(old) == name_of(pod)))
        );
        Ok(())
    })
}

#[test]
fn restart_recreates_every_pod_and_a_rerun_goes_on() -> Result<()> {
    SHARED_CLUSTER.run("restart", async |ns| {
        ns.node("n1", "8").await?;
        let web = ns.deploy(web().replicas(2)).await?;
        let old = ns.running(&web, 2).await?;
        let done = typed(&ns, &["restart", "deployment/web", "--yes"]).await?.ended(0)?;
        let new = ns.running(&web, 2).await?;
        ensure!(new.iter().all(|pod| !old.iter().any(|old| name_of(old) == name_of(pod))), "{done:#?}");
        ensure!(done.out.contains("deployment/web restarted, 2 pods"), "{done:#?}");
        Ok(())
    })
}

#[test]
fn elsewhere_is_a_warning_and_with_require_a_failure() -> Result<()> {
    SHARED_CLUSTER.run("elsewhere", async |ns| {
        let home = ns.node("n1", "4").await?;
        let other = ns.node("n2", "4").await?;
        for (how, code) in [("prefer", 0), ("require", 16)] {
            let name = format!("web-{how}");
            let shape = deployment(&name).cpu("3").terminate_after(crate::GRACE);
            let web = ns.deploy(shape).await?;
            let old = ns.running(&web, 1).await?;
            let at = node_of(&old[0]).to_owned();
            let timeout = if code == 0 { "--timeout=2m" } else { "--timeout=30s" };
            let arguments = ["pod", name_of(&old[0]), "--yes", "--same-node", how, timeout];
            let typed = match code {
                // Its node takes nobody any more, so that it goes to the other one.
                0 => {
                    ns.cluster.run_kubectl(&["cordon", &at]).await?;
                    let typed = typed(&ns, &arguments).await?;
                    ns.cluster.run_kubectl(&["uncordon", &at]).await?;
                    typed.ended(0)?.says(&["Warning: it came back on", "(another node)"])?
                }
                // It waits for it, and for nothing else.
                _ => {
                    ns.cluster.run_kubectl(&["cordon", &at]).await?;
                    let typed = typed(&ns, &arguments).await?;
                    ns.cluster.run_kubectl(&["uncordon", &at]).await?;
                    typed.ended(12)?.says(&["timed out", "cordoned", "--resume"])?
                }
            };
            drop(typed);
            ns.cluster.run_kubectl(&["delete", "deployment", &name, "-n", ns.name]).await?;
        }
        ns.reserved(&home, 0).await?;
        ns.reserved(&other, 0).await?;
        Ok(())
    })
}

/// Its room is reserved where it goes, so that it does not come back although there is room for it.
#[test]
fn a_pod_is_moved_to_where_its_room_was_reserved() -> Result<()> {
    SHARED_CLUSTER.run("moved", async |ns| {
        let home = ns.node("n1", "8").await?;
        let web = ns.deploy(web().replicas(2)).await?;
        let old = ns.running(&web, 2).await?;
        let other = ns.node("n2", "4").await?;
        let name = name_of(&old[0]);
        typed(&ns, &["pod", name, "--yes", "--to", &home])
            .await?
            .ended(2)?
            .says(&["is on moved-n1 already"])?;
        typed(&ns, &["pod", name, "--yes", "--to", "moved-n9"]).await?.ended(1)?.says(&["moved-n9"])?;
        // Nobody is evicted for a place that would not have it.
        ns.cluster.run_kubectl(&["taint", "node", &other, "example.com/closed=yes:NoSchedule"]).await?;
        typed(&ns, &["pod", name, "--yes", "--to", &other]).await?.ended(13)?.says(&[
            &format!("cannot go to {other}: "),
            "taint",
            "Nothing was changed.",
        ])?;
        ensure!(writes(&ns).await?.is_empty() && evictions(&ns).await?.is_empty());
        ns.cluster.run_kubectl(&["taint", "node", &other, "example.com/closed-"]).await?;
        let done = typed(&ns, &["pod", name, "--yes", "--to", &other]).await?.ended(0)?;
        let done =
            done.says(&[&format!("moves to {other}, where "), "reserved", "(as reserved)", "released"])?;
        ensure!(done.out.contains(&format!("recreated on {other}")), "{done:#?}");
        let new = ns.running(&web, 2).await?;
        let moved = new.iter().find(|pod| !old.iter().any(|old| name_of(old) == name_of(pod)));
        ensure!(moved.is_some_and(|pod| node_of(pod) == other), "{done:#?}");
        // A sibling is not taken for the replacement, also where nothing is reserved.
        ns.cluster.expect_unreserved(ns.name, name_of(&old[1]));
        let plain =
            typed(&ns, &["pod", name_of(&old[1]), "--yes", "--no-reserve", "-o", "name"]).await?.ended(0)?;
        let known: Vec<&str> = new.iter().map(name_of).collect();
        let said = plain.out.trim().trim_start_matches("pod/");
        ensure!(!known.contains(&said), "{said} was there before: {plain:#?}");
        Ok(())
    })
}

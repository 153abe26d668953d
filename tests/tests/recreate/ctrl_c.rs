//! Ctrl-C at every step of `pod`: before anything is reserved, while it is acknowledged (see `stops`), while the pod goes (see
//! `stops`), while the replacement waits for its node, and while it starts.

use crate::typed::{begin, evictions, typed, writes};
use crate::{SHARED_CLUSTER, web};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::{name_of, node_of, unscheduled};
use reserve_tests::shared_cluster::SOON;
use serde_json::json;
use std::time::Duration;

#[test]
fn before_anything_is_reserved_nothing_was_changed() -> Result<()> {
    SHARED_CLUSTER.run("ctrl-c-blocked", async |ns| {
        let node = ns.node("n1", "8").await?;
        let web = ns.deploy(web().replicas(2)).await?;
        let old = ns.running(&web, 2).await?;
        // Both have to be well, and one is not: the eviction of the other is waited for.
        let budget = json!({ "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": { "name": "web", "namespace": ns.name },
            "spec": { "maxUnavailable": 1, "selector": { "matchLabels": { "app": "web" } } } });
        ns.cluster.apply(&budget.to_string()).await?;
        let unready = r#"{"status":{"conditions":[{"type":"Ready","status":"False"}]}}"#;
        let status = ["patch", "pod", name_of(&old[1]), "-n", ns.name, "--subresource=status", "-p", unready];
        ns.cluster.run_kubectl(&status).await?;
        ns.cluster
            .wait_until("the budget has seen it", SOON, async || {
                let path = "jsonpath={.status.expectedPods}/{.status.currentHealthy}";
                let said = ns.cluster.run_kubectl(&["get", "pdb", "web", "-n", ns.name, "-o", path]).await?;
                ensure!(said == "2/1", "{said}");
                Ok(())
            })
            .await?;
        let mut run = begin(&ns, &["pod", name_of(&old[0]), "--yes"])?;
        tokio::task::block_in_place(|| run.hear("(will retry after 5s)"))?;
        run.signal("INT")?;
        let stopped = tokio::task::block_in_place(|| run.end())?.ended(130)?;
        stopped.says(&["interrupted", "Nothing was changed. No reservation was placed."])?;
        ensure!(writes(&ns).await?.is_empty() && ns.reservations(&node).await?.is_empty());
        ensure!(!evictions(&ns).await?.iter().any(|write| write.is_stored()));
        Ok(())
    })
}

#[test]
fn while_the_replacement_has_no_node_the_reservation_stays_and_can_be_gone_on_with() -> Result<()> {
    SHARED_CLUSTER.run("ctrl-c-unbound", async |ns| {
        let node = ns.node("n1", "4").await?;
        let web = ns.deploy(web().terminate_after(Duration::from_secs(8))).await?;
        let old = ns.running(&web, 1).await?;
        let require = ["pod", name_of(&old[0]), "--yes", "--same-node=require"];
        let mut run = begin(&ns, &require)?;
        tokio::task::block_in_place(|| run.hear("evicted"))?;
        // Nobody can come back before it is open again.
        ns.cluster.run_kubectl(&["cordon", &node]).await?;
        tokio::task::block_in_place(|| run.hear("  gone"))?;
        ns.cluster
            .wait_until("the replacement was told that it has to wait", SOON, async || {
                let pods = ns.pods(&web).await?;
                let waits = pods.iter().filter(|pod| node_of(pod).is_empty()).find_map(unscheduled);
                waits.map(drop).context("nobody waits")
            })
            .await?;
        run.signal("INT")?;
        let stopped = tokio::task::block_in_place(|| run.end())?.ended(130)?;
        let stopped =
            stopped.says(&["interrupted", "The pod was evicted; reservation", "stays on", "--resume "])?;
        ensure!(ns.reservations(&node).await?.len() == 1, "{stopped:#?}");
        let seat = stopped.talk.split("--resume ").nth(1).and_then(|rest| rest.split_whitespace().next());
        let seat = seat.context("no name")?.to_owned();
        ns.cluster.run_kubectl(&["uncordon", &node]).await?;
        let done = typed(&ns, &["pod", "--resume", &seat, "--yes"]).await?;
        // The daemon may be faster, and then there is nothing left to go on with.
        match done.code {
            Some(0) => ensure!(done.out.contains(&format!("recreated on {node}")), "{done:#?}"),
            _ => drop(done.ended(1)?.says(&["no live reservation", "was taken"])?),
        }
        let new = ns.replacement(&web, &old).await?;
        ensure!(node_of(&new) == node, "on {}", node_of(&new));
        ns.reserved(&node, 0).await?;
        Ok(())
    })
}

#[test]
fn while_the_replacement_starts_the_daemon_sees_to_the_rest() -> Result<()> {
    SHARED_CLUSTER.run("ctrl-c-unready", async |ns| {
        let node = ns.node("n1", "4").await?;
        let web = ns.deploy(web().start_after(Duration::from_secs(8))).await?;
        let old = ns.running(&web, 1).await?;
        let mut run = begin(&ns, &["pod", name_of(&old[0]), "--yes"])?;
        tokio::task::block_in_place(|| run.hear("  bound "))?;
        run.signal("INT")?;
        let stopped = tokio::task::block_in_place(|| run.end())?.ended(130)?;
        stopped.says(&["interrupted", "The pod was evicted; reservation"])?;
        ensure!(node_of(&ns.replacement(&web, &old).await?) == node);
        ns.reserved(&node, 0).await?;
        ensure!(evictions(&ns).await?.iter().filter(|write| write.is_stored()).count() == 1, "once");
        Ok(())
    })
}

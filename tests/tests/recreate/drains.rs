//! `kubectl reserve drain`: every pod has a place before any is evicted, or nothing is changed at all.

use crate::typed::{begin, evictions, typed, writes};
use crate::{GRACE, TOWN};
use anyhow::{Result, ensure};
use reserve_tests::control_plane::{bare_pod, deployment, node_of, stateful_set};
use serde_json::json;

#[test]
fn a_node_is_emptied_and_everybody_has_a_place() -> Result<()> {
    TOWN.run("emptied", async |plot| {
        let node = plot.node("a", "6").await?;
        let web = plot.deploy(deployment("web").replicas(2).cpu("2").terminate_after(GRACE)).await?;
        plot.running(&web, 2).await?;
        let db = plot.deploy(stateful_set("db").cpu("1").terminate_after(GRACE)).await?;
        plot.running(&db, 1).await?;
        let b = plot.node("b", "3").await?;
        let c = plot.node("c", "2").await?;
        // It would take any of these places.
        let rival = plot.deploy_waiting(deployment("rival").cpu("4")).await?;
        let plan = typed(&plot, &["drain", &node, "--dry-run"]).await?.ended(0)?;
        ensure!(plan.out.starts_with("POD") && plan.out.contains("StatefulSet/db"), "{plan:#?}");
        ensure!(plan.out.ends_with(&format!("node/{node} drained (dry run)\n")), "{plan:#?}");
        ensure!(writes(&plot).await?.is_empty());
        let done = typed(&plot, &["drain", &node, "--yes"]).await?.ended(0)?;
        ensure!(done.out == format!("node/{node} drained\n"), "{done:#?}");
        done.says(&[&format!("node/{node} cordoned"), "3 places reserved"])?;
        let pods = plot.running(&web, 2).await?.into_iter().chain(plot.running(&db, 1).await?);
        ensure!(pods.map(|pod| node_of(&pod).to_owned()).all(|at| at == b || at == c));
        plot.reserved(&b, 0).await?;
        plot.reserved(&c, 0).await?;
        drop(rival);
        Ok(())
    })
}

#[test]
fn without_a_place_for_each_nothing_is_changed() -> Result<()> {
    TOWN.run("drain-full", async |plot| {
        let node = plot.node("a", "6").await?;
        let web = plot.deploy(deployment("web").replicas(2).cpu("2")).await?;
        plot.running(&web, 2).await?;
        plot.node("b", "3").await?;
        let refused = typed(&plot, &["drain", &node, "--yes"]).await?.ended(13)?;
        refused.says(&["1 of 2 pod has no place elsewhere", "Insufficient cpu", "Nothing was changed."])?;
        let lonely = plot.deploy(bare_pod("lonely").cpu("1").pod_field("nodeName", json!(node))).await?;
        plot.running(&lonely, 1).await?;
        let refused = typed(&plot, &["drain", &node, "--yes"]).await?.ended(15)?;
        refused.says(&[
            "cannot delete Pods that declare no controller (use --force to override): drain-full/lonely",
        ])?;
        let written = writes(&plot).await?;
        ensure!(written.is_empty(), "{written:#?}");
        ensure!(plot.cluster.node(&node).await?.spec.and_then(|spec| spec.unschedulable) != Some(true));
        Ok(())
    })
}

#[test]
fn ctrl_c_releases_the_places_of_those_that_were_not_evicted() -> Result<()> {
    TOWN.run("drain-stop", async |plot| {
        let node = plot.node("a", "6").await?;
        let slow = std::time::Duration::from_secs(10);
        let web = plot.deploy(deployment("web").replicas(2).cpu("2").terminate_after(slow)).await?;
        plot.running(&web, 2).await?;
        let b = plot.node("b", "4").await?;
        let mut run = begin(&plot, &["drain", &node, "--yes"])?;
        tokio::task::block_in_place(|| run.hear("  evicted  "))?;
        run.signal("INT")?;
        let stopped = tokio::task::block_in_place(|| run.end())?.ended(130)?;
        stopped.says(&[
            "interrupted",
            "1 of 2 pods were not touched",
            &format!("kubectl uncordon {node}"),
        ])?;
        ensure!(plot.reservations(&b).await?.len() == 1, "that of the pod that is on its way");
        ensure!(evictions(&plot).await?.iter().filter(|write| write.is_stored()).count() == 1);
        ensure!(plot.cluster.node(&node).await?.spec.and_then(|spec| spec.unschedulable) == Some(true));
        plot.running(&web, 2).await?;
        plot.reserved(&b, 0).await?;
        Ok(())
    })
}

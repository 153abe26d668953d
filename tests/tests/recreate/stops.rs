//! Ctrl-C, kill -9, timeouts: what stays is said, and a rerun goes on.

use crate::typed::{begin, evictions, typed, writes};
use crate::{SHARED_CLUSTER, stranger, web};
use anyhow::{Result, ensure};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use reserve_tests::control_plane::{name_of, node_of};
use reserve_tests::programs::daemon;
use reserve_tests::shared_cluster::SOON;
use std::time::Duration;

/// Long enough to do something in between.
const SLOW: Duration = Duration::from_secs(8);

#[test]
fn ctrl_c_after_the_eviction_leaves_the_reservation_and_a_rerun_goes_on() -> Result<()> {
    SHARED_CLUSTER.run("interrupted", async |ns| {
        let node = ns.node("n1", "4").await?;
        let web = ns.deploy(web().terminate_after(SLOW)).await?;
        let old = ns.running(&web, 1).await?;
        let stranger = ns.deploy_waiting(stranger()).await?;
        let mut run = begin(&ns, &["pod", name_of(&old[0]), "--yes"])?;
        tokio::task::block_in_place(|| run.hear("evicted"))?;
        run.signal("INT")?;
        let stopped = tokio::task::block_in_place(|| run.end())?.ended(130)?;
        let seat: String = old[0]
            .metadata
            .uid
            .iter()
            .flat_map(|uid| uid.chars())
            .filter(|digit| *digit != '-')
            .take(12)
            .collect();
        let stays = format!("reservation {seat} stays on {node} until ");
        let stopped = stopped.says(&["interrupted", &stays, &format!("kubectl reserve release {seat}")])?;
        ensure!(ns.reservations(&node).await?.len() == 1, "{stopped:#?}");
        // While it is on its way out, and by the same name.
        let done = typed(&ns, &["pod", name_of(&old[0]), "--yes"]).await?.ended(0)?;
        done.says(&["it is already being deleted", "bound", "(same node)", "released"])?;
        ensure!(node_of(&ns.replacement(&web, &old).await?) == node);
        ns.still_waits(&stranger).await?;
        ensure!(evictions(&ns).await?.iter().filter(|write| write.is_stored()).count() == 1, "once");
        Ok(())
    })
}

#[test]
fn kill_nine_leaves_a_reservation_that_ends_and_a_rerun_goes_on() -> Result<()> {
    SHARED_CLUSTER.run("killed", async |ns| {
        let node = ns.node("n1", "4").await?;
        let web = ns.deploy(web().start_after(SLOW)).await?;
        ns.cluster
            .wait_until("it runs", Duration::from_secs(60), async || ns.running(&web, 1).await.map(drop))
            .await?;
        let old = ns.running(&web, 1).await?;
        let mut run = begin(&ns, &["pod", name_of(&old[0]), "--yes"])?;
        tokio::task::block_in_place(|| run.hear("  gone"))?;
        run.signal("KILL")?;
        drop(tokio::task::block_in_place(|| run.end())?);
        let left = ns.reservations(&node).await?;
        ensure!(left.len() == 1 && left[0]["expires"].is_string(), "{left:?}");
        // The pod is gone: the name alone says where it went on.
        let gone = typed(&ns, &["pod", name_of(&old[0]), "--yes"]).await?.ended(1)?;
        let gone = gone.says(&["is gone; its room on", "--resume "])?;
        let seat = gone.talk.split("--resume ").nth(1).and_then(|rest| rest.split_whitespace().next());
        let seat = seat.unwrap_or_default().to_owned();
        let done = typed(&ns, &["pod", "--resume", &seat, "--yes"]).await?.ended(0)?;
        ensure!(done.out.contains("recreated on"), "{done:#?}");
        ensure!(node_of(&ns.replacement(&web, &old).await?) == node);
        Ok(())
    })
}

#[test]
fn a_pod_that_does_not_go_is_said_to_have_finalizers() -> Result<()> {
    SHARED_CLUSTER.run("stuck", async |ns| {
        let node = ns.node("n1", "4").await?;
        let web = ns.deploy(web()).await?;
        let old = ns.running(&web, 1).await?;
        let name = name_of(&old[0]);
        let stuck = r#"{"metadata":{"finalizers":["example.com/wait"]}}"#;
        ns.cluster.run_kubectl(&["patch", "pod", name, "-n", ns.name, "--type=merge", "-p", stuck]).await?;
        let timeout = typed(&ns, &["pod", name, "--yes", "--timeout=8s"]).await?.ended(12)?;
        timeout.says(&["finalizers example.com/wait", "is Ready", "stays on", "--resume"])?;
        ensure!(ns.reservations(&node).await?.len() == 1);
        let free = r#"{"metadata":{"finalizers":null}}"#;
        ns.cluster.run_kubectl(&["patch", "pod", name, "-n", ns.name, "--type=merge", "-p", free]).await?;
        ensure!(node_of(&ns.replacement(&web, &old).await?) == node);
        ns.reserved(&node, 0).await?;
        Ok(())
    })
}

/// A replica that stands still has not seen the reservation: nothing is evicted, whether we wait or are interrupted.
#[test]
fn without_an_acknowledgement_the_reservation_is_taken_back() -> Result<()> {
    SHARED_CLUSTER.run_alone("unseen", async |ns| {
        let node = ns.node("n1", "4").await?;
        let web = ns.deploy(web()).await?;
        let old = ns.running(&web, 1).await?;
        let still = daemon("another-scheduler").named("standing-still").start(ns.cluster).await?;
        still.signal("STOP")?;
        let mut run = begin(&ns, &["pod", name_of(&old[0]), "--yes"])?;
        tokio::task::block_in_place(|| run.hear("reserved"))?;
        run.signal("INT")?;
        let stopped = tokio::task::block_in_place(|| run.end())?.ended(130)?;
        stopped.says(&["interrupted", "taken back", "Nothing was changed"])?;
        ensure!(ns.reservations(&node).await?.is_empty());
        let evicted = evictions(&ns).await?.iter().any(|write| write.is_stored());
        ensure!(!evicted && writes(&ns).await?.len() == 2, "reserved and taken back");
        let leases: Api<Lease> = Api::namespaced(ns.cluster.admin(), "kube-system");
        let renewed = async || -> Result<_> {
            Ok(leases.get("reserve-standing-still").await?.spec.and_then(|spec| spec.renew_time))
        };
        let before = renewed().await?;
        still.signal("CONT")?;
        // Its Lease is live again from now on, and then it stands still for the whole run.
        ns.cluster
            .wait_until("its Lease is renewed", SOON, async || {
                ensure!(renewed().await? != before, "not yet");
                Ok(())
            })
            .await?;
        still.signal("STOP")?;
        let late = typed(&ns, &["pod", name_of(&old[0]), "--yes"]).await?;
        still.signal("CONT")?;
        late.ended(12)?.says(&["was not acknowledged in 10 s by standing-still", "taken back"])?;
        ensure!(ns.reservations(&node).await?.is_empty());
        ensure!(ns.running(&web, 1).await?[0].metadata.uid == old[0].metadata.uid);
        still.kill()?;
        // Its Lease would keep the neighbours waiting for a while yet.
        ns.cluster.run_kubectl(&["delete", "lease", "-n", "kube-system", "reserve-standing-still"]).await?;
        Ok(())
    })
}

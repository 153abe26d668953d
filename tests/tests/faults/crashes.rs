//! The daemon dies between every two writes of a flow, and the next one finishes it.

use super::{TOWN, behind};
use anyhow::{Context as _, Result, ensure};
use reserve_tests::control_plane::deployment;
use reserve_tests::programs::Daemon;
use reserve_tests::proxy::{Fault, Proxy, rule};
use reserve_tests::town::{Plot, SOON};
use std::time::Duration;

/// More writes than this a recreation does not take.
const WRITES_MAX: usize = 12;

#[test]
fn the_daemon_dies_before_each_write_of_a_recreation() -> Result<()> {
    TOWN.run_alone("dies-before", |plot| dies_at_each_write(plot, Fault::LoseRequest))
}

#[test]
fn the_daemon_dies_after_each_write_of_a_recreation() -> Result<()> {
    TOWN.run_alone("dies-after", |plot| dies_at_each_write(plot, Fault::LoseAnswer))
}

/// Recreates a pod again and again, with a death at the first write, at the second and so on, until a recreation
/// needs no more writes than were let through.
async fn dies_at_each_write(plot: Plot, fault: Fault) -> Result<()> {
    let node = plot.node("a", "4").await?;
    let proxy = Proxy::start(plot.cluster).await?;
    let mut daemon = Some(behind(plot, &proxy)?.start(plot.cluster).await?);
    let web = plot.deploy_kept(deployment("web").cpu("3").terminate_after(Duration::from_secs(2)), 1).await?;
    let stranger = plot.deploy_waiting(deployment("stranger").cpu("3")).await?;
    for write in 0..WRITES_MAX {
        plot.reserved(&node, 0).await?;
        let old = plot.running(&web, 1).await?;
        proxy.heal();
        proxy.add(rule(fault).skip(write).and_cut());
        plot.delete(&old[0]).await?;
        let is_done = async {
            plot.replacement(&web, &old).await?;
            plot.reserved(&node, 0).await.map(drop)
        };
        let died = tokio::select! {
            biased;
            cut = proxy.wait_until_cut(3 * SOON) => cut.map(|()| true)?,
            done = is_done => done.map(|()| false)?,
        };
        if died {
            restart(plot, &proxy, &mut daemon).await?;
            plot.replacement(&web, &old).await.with_context(|| format!("after a death at write {write}"))?;
            plot.reserved(&node, 0).await.with_context(|| format!("after a death at write {write}"))?;
        }
        plot.still_waits(&stranger).await.with_context(|| format!("after a death at write {write}"))?;
        if !died {
            ensure!(write > 2, "a recreation took only {write} writes");
            return Ok(());
        }
    }
    anyhow::bail!("a recreation took more than {WRITES_MAX} writes: {:?}", proxy.writes())
}

/// Kills the daemon, and starts another one.
async fn restart(plot: Plot, proxy: &Proxy, daemon: &mut Option<Daemon>) -> Result<()> {
    daemon.take().context("no daemon")?.kill()?;
    proxy.heal();
    *daemon = Some(behind(plot, proxy)?.start(plot.cluster).await?);
    Ok(())
}

//! Two daemons that both work, and an API server that is killed under load.

use super::TOWN;
use anyhow::{Result, ensure};
use common::api::names;
use reserve_tests::control_plane::{deployment, is_running};
use reserve_tests::programs::daemon;
use reserve_tests::town::Plot;
use std::time::Duration;

const PODS: u32 = 40;
const LONG: Duration = Duration::from_secs(120);

/// All pods run, each bound once.
async fn all_run(plot: Plot) -> Result<()> {
    plot.cluster
        .wait_until("all of them run", LONG, async || {
            let pods = plot.cluster.pods_in(plot.name, "app=many").await?;
            let running = pods.iter().filter(|pod| is_running(pod)).count();
            ensure!(running == PODS as usize && pods.len() == running, "{running} of {}", pods.len());
            Ok(())
        })
        .await
}

#[test]
fn two_daemons_without_election_bind_each_pod_once() -> Result<()> {
    TOWN.run_alone("two-daemons", async |plot| {
        for name in ["a", "b", "c"] {
            let node = plot.node(name, "16").await?;
            plot.cluster.expect_contention(&node);
        }
        let _first = daemon(names::SCHEDULER_NAME).start(plot.cluster).await?;
        let second = daemon(names::SCHEDULER_NAME).named("reserve-daemon-2");
        let _second = second.start(plot.cluster).await?;
        plot.deploy(deployment("many").replicas(PODS).cpu("1")).await?;
        all_run(plot).await
    })
}

#[test]
fn the_api_server_is_killed_under_load() -> Result<()> {
    TOWN.run_alone("api-server", async |plot| {
        for name in ["a", "b", "c"] {
            plot.node(name, "16").await?;
        }
        let _daemon = daemon(names::SCHEDULER_NAME).start(plot.cluster).await?;
        plot.deploy(deployment("many").replicas(PODS).cpu("1")).await?;
        plot.cluster
            .wait_until("some of them run", LONG, async || {
                let pods = plot.cluster.pods_in(plot.name, "app=many").await?;
                ensure!(pods.iter().any(is_running), "none yet");
                Ok(())
            })
            .await?;
        plot.cluster.restart_api_server().await?;
        all_run(plot).await
    })
}

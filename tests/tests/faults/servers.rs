//! Two daemons that both work, and an API server that is killed under load.

use super::SHARED_CLUSTER;
use anyhow::{Result, ensure};
use common::api::names;
use reserve_tests::control_plane::{deployment, is_running};
use reserve_tests::programs::daemon;
use reserve_tests::shared_cluster::TestNamespace;
use std::time::Duration;

const PODS: u32 = 40;
const LONG: Duration = Duration::from_secs(120);

/// All pods run, each bound once.
async fn all_run(ns: TestNamespace) -> Result<()> {
    ns.cluster
        .wait_until("all of them run", LONG, async || {
            let pods = ns.cluster.pods_in(ns.name, "app=many").await?;
            let running = pods.iter().filter(|pod| is_running(pod)).count();
            ensure!(running == PODS as usize && pods.len() == running, "{running} of {}", pods.len());
            Ok(())
        })
        .await
}

#[test]
fn two_daemons_without_election_bind_each_pod_once() -> Result<()> {
    SHARED_CLUSTER.run_alone("two-daemons", async |ns| {
        for name in ["a", "b", "c"] {
            let node = ns.node(name, "16").await?;
            ns.cluster.expect_contention(&node);
        }
        let _first = daemon(names::SCHEDULER_NAME).start(ns.cluster).await?;
        let second = daemon(names::SCHEDULER_NAME).named("reserve-daemon-2");
        let _second = second.start(ns.cluster).await?;
        ns.deploy(deployment("many").replicas(PODS).cpu("1")).await?;
        all_run(ns).await
    })
}

#[test]
fn the_api_server_is_killed_under_load() -> Result<()> {
    SHARED_CLUSTER.run_alone("api-server", async |ns| {
        for name in ["a", "b", "c"] {
            ns.node(name, "16").await?;
        }
        let _daemon = daemon(names::SCHEDULER_NAME).start(ns.cluster).await?;
        ns.deploy(deployment("many").replicas(PODS).cpu("1")).await?;
        ns.cluster
            .wait_until("some of them run", LONG, async || {
                let pods = ns.cluster.pods_in(ns.name, "app=many").await?;
                ensure!(pods.iter().any(is_running), "none yet");
                Ok(())
            })
            .await?;
        ns.cluster.restart_api_server().await?;
        all_run(ns).await
    })
}

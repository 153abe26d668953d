//! Seed 001 with the files in `manifests/examples/001-node-label`: nodes without a label are filtered out, the pod is
//! told so, and a label on a node wakes it up.

use anyhow::{Result, ensure};
use reserve_tests::control_plane::{ControlPlane, node, node_of};
use reserve_tests::programs::{daemon, example};
use std::time::Duration;

const SEED: &str = "001-node-label";
const SCHEDULER: &str = "sample-scheduler";
const APP: &str = "app=test-scheduler";
const SOON: Duration = Duration::from_secs(90);

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_waits_for_a_label_and_runs_once_a_node_has_it() -> Result<()> {
    let cluster = ControlPlane::start("seed_001").await?;
    for name in ["gpu02-poweredge-t420", "gpu03-poweredge-t420"] {
        cluster.add_node(node(name)).await?;
    }
    let shape = daemon(SCHEDULER).configuration(example(SEED, "scheduler.yaml"));
    let _daemon = shape.start(&cluster).await?;
    cluster.apply_file(example(SEED, "workload.yaml")).await?;
    let told = cluster.wait_until_unschedulable("default", APP).await?;
    let why = "0/2 nodes are available: 2 node(s) didn't have the required label(s) cpu=true.";
    assert!(told.starts_with(why), "{told}");
    cluster
        .wait_until("the event says so, too", SOON, async || {
            let events = cluster.run_kubectl(&["describe", "pod", "-l", APP]).await?;
            ensure!(events.contains("FailedScheduling") && events.contains(why), "{events}");
            ensure!(events.contains(SCHEDULER), "{events}");
            Ok(())
        })
        .await?;

    cluster.run_kubectl(&["label", "node", "gpu02-poweredge-t420", "cpu=true"]).await?;
    let pods = cluster.wait_until_running(APP, 1).await?;
    assert_eq!(node_of(&pods[0]), "gpu02-poweredge-t420");
    Ok(())
}

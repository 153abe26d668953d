//! Seed 003 with the files in `manifests/examples/003-pod-limit`: ten replicas, of which six run; and a node that is
//! liked better than the others.

use anyhow::{Result, ensure};
use reserve_tests::control_plane::{ControlPlane, describe, is_running, node, node_of, unscheduled};
use reserve_tests::programs::{daemon, example};
use std::time::Duration;

const SEED: &str = "003-pod-limit";
const SCHEDULER: &str = "test-pod-maxnum-scheduler";
const APP: &str = "app=testngx";
const SOON: Duration = Duration::from_secs(90);

#[tokio::test(flavor = "multi_thread")]
async fn six_of_ten_run_and_the_next_comes_when_one_goes() -> Result<()> {
    let cluster = ControlPlane::start("seed_003").await?;
    cluster.add_node(node("hdd")).await?;
    cluster.add_node(node("ssd").label("disk", "ssd")).await?;
    let shape = daemon(SCHEDULER).configuration(example(SEED, "scheduler.yaml"));
    let _daemon = shape.start(&cluster).await?;
    cluster.apply_file(example(SEED, "workload.yaml")).await?;
    let settled = async || {
        let pods = cluster.pods(APP).await?;
        let running = pods.iter().filter(|pod| is_running(pod)).count();
        let told = pods.iter().filter(|pod| unscheduled(pod).is_some()).count();
        ensure!((pods.len(), running, told) == (10, 6, 4), "{}", describe(&pods));
        Ok(pods)
    };
    let pods = cluster.wait_until("six run and four were told why not", SOON, settled).await?;
    for pod in pods.iter().filter(|pod| is_running(pod)) {
        assert_eq!(node_of(pod), "ssd", "the preferred node: {}", describe(&pods));
    }
    let told = pods.iter().find_map(unscheduled).unwrap_or_default();
    assert!(told.starts_with("0/2 nodes are available: "), "{told}");
    assert!(told.contains("at most 6"), "the limit is named: {told}");

    let first = pods.iter().find(|pod| is_running(pod)).and_then(|pod| pod.metadata.name.clone());
    cluster.delete_pod(&first.unwrap_or_default()).await?;
    cluster.wait_until("six run again", SOON, settled).await?;
    Ok(())
}

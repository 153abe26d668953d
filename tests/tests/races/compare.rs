//! A daemon compares what it believes with the API server while the cluster changes, and finds no difference.

use anyhow::{Result, ensure};
use common::api::names;
use reserve_tests::control_plane::{Cluster, ControlPlane, deployment, node};
use reserve_tests::programs::Daemon;
use reserve_tests::shared_cluster::KEEP;
use std::time::Duration;

/// So many comparisons while pods come and go.
const COMPARISONS: usize = 5;
/// How often pods are restarted meanwhile.
const PACE: Duration = Duration::from_millis(200);

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_is_asked_compares_and_finds_no_difference_while_pods_come_and_go() -> Result<()> {
    let cluster = ControlPlane::start("races_compare").await?;
    cluster.add_node(node("n1").cpu("8")).await?;
    cluster.add_node(node("n2").cpu("8")).await?;
    let daemon = Daemon::start(&cluster, names::SCHEDULER_NAME).await?;
    let web = deployment("web").replicas(10).cpu("1").annotation(KEEP, "true");
    let web = cluster.deploy(web.scheduler(names::SCHEDULER_NAME)).await?;
    cluster.wait_until_running(&web.selector, 10).await?;
    let comparisons = async {
        for number in 0..COMPARISONS {
            let answered = tokio::task::block_in_place(|| daemon.check_belief())?;
            ensure!(answered, "no answer to comparison {number}: {}", daemon.log()?);
            tokio::time::sleep(PACE).await;
        }
        Ok(())
    };
    tokio::select! {
        done = comparisons => done?,
        failed = delete_pods(&cluster, &web.selector) => failed?,
    }
    let equal = daemon.log()?.matches("compared with the API server: equal").count();
    ensure!(equal >= COMPARISONS, "{equal} comparisons came to an end: {}", daemon.log()?);
    Ok(())
}

/// Deletes a pod again and again, for ever.
async fn delete_pods(cluster: &Cluster, selector: &str) -> Result<()> {
    loop {
        let pods = cluster.pods(selector).await?;
        let there = pods.iter().find(|pod| pod.metadata.deletion_timestamp.is_none());
        if let Some(name) = there.and_then(|pod| pod.metadata.name.clone()) {
            cluster.delete_pod(&name).await?;
        }
        tokio::time::sleep(PACE).await;
    }
}

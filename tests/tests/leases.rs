//! Which replica works, and how each says what it has seen, on a real control plane.
//!
//! With `--nocapture` it prints how long each change of the leader, and each acknowledgement, took.

use anyhow::{Context as _, Result, ensure};
use common::api::names::{APP, APP_LABEL, SCHEDULERS, SEEN_NODES};
use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kube::api::ListParams;
use reserve_tests::control_plane::{Cluster, ControlPlane, deployment, node};
use reserve_tests::programs::{Daemon, daemon};
use std::time::Duration;
use tokio::time::Instant;

const SCHEDULER: &str = "reserve-scheduler";
const NOBODY: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";
const SOON: Duration = Duration::from_secs(90);
/// The Lease of one that was killed runs out after 15 s, and others look every 2 s.
const TAKEN_OVER_MAX: Duration = Duration::from_secs(45);
/// Whoever ends lets go: nobody waits until the Lease runs out.
const HANDED_OVER_MAX: Duration = Duration::from_secs(13);
/// A Lease is written at once, not when it is renewed, which is every 5 s.
const ACKNOWLEDGED_MAX: Duration = Duration::from_secs(2);

fn leases(cluster: &Cluster) -> Api<Lease> {
    Api::namespaced(cluster.admin(), "kube-system")
}

async fn start(cluster: &Cluster, name: &'static str) -> Result<Daemon> {
    daemon(SCHEDULER).named(name).elects().start(cluster).await
}

/// Waits until a replica of that name leads, and returns how long it took.
async fn wait_for_leader(cluster: &Cluster, name: &str) -> Result<Duration> {
    let started = Instant::now();
    cluster
        .wait_until("another one leads", SOON, async || {
            let lease = leases(cluster).get("reserve-daemon").await?;
            let holder = lease.spec.and_then(|spec| spec.holder_identity).unwrap_or_default();
            ensure!(holder.split('_').next() == Some(name), "{holder:?} leads");
            Ok(())
        })
        .await?;
    Ok(started.elapsed())
}

/// The replicas that have a Lease, each with the scheduler names that it serves.
async fn replicas(cluster: &Cluster) -> Result<Vec<(String, String)>> {
    let params = ListParams::default().labels(&format!("{APP_LABEL}={APP}"));
    let mut found = Vec::new();
    for lease in leases(cluster).list(&params).await? {
        let holder = lease.spec.and_then(|spec| spec.holder_identity).context("a Lease of nobody")?;
        let annotations = lease.metadata.annotations.unwrap_or_default();
        found.push((holder, annotations.get(SCHEDULERS).cloned().unwrap_or_default()));
    }
    Ok(found)
}

async fn wait_for_replicas(cluster: &Cluster, wanted: &[(&str, &str)]) -> Result<()> {
    cluster
        .wait_until("the replicas say who they are", SOON, async || {
            let found = replicas(cluster).await?;
            let is_as_wanted =
                found.iter().map(|(name, names)| (name.as_str(), names.as_str())).eq(wanted.iter().copied());
            ensure!(is_as_wanted, "{found:?}");
            Ok(())
        })
        .await
}

async fn place_one(cluster: &Cluster, name: &str) -> Result<()> {
    let placed = cluster.deploy(deployment(name).cpu("100m").scheduler(SCHEDULER)).await?;
    cluster.wait_until_running(&placed.selector, 1).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn one_leads_and_when_it_goes_another_goes_on() -> Result<()> {
    let cluster = ControlPlane::start("leases_election").await?;
    cluster.add_node(node("n1").cpu("8").memory("8Gi")).await?;
    let first = start(&cluster, "first").await?;
    wait_for_leader(&cluster, "first").await?;
    let second = start(&cluster, "second").await?;
    place_one(&cluster, "one").await?;
    wait_for_replicas(&cluster, &[("first", SCHEDULER), ("second", "")]).await?;

    first.kill()?;
    let taken_over = wait_for_leader(&cluster, "second").await?;
    println!("killed: another one leads after {taken_over:.1?}");
    assert!(taken_over <= TAKEN_OVER_MAX, "{taken_over:?}");
    place_one(&cluster, "two").await?;

    let third = start(&cluster, "third").await?;
    second.signal("TERM")?;
    let handed_over = wait_for_leader(&cluster, "third").await?;
    println!("ended: another one leads after {handed_over:.1?}");
    assert!(handed_over <= HANDED_OVER_MAX, "{handed_over:?}");
    cluster
        .wait_until("the log says so", HANDED_OVER_MAX, async || {
            ensure!(second.log()?.contains("stopped"), "{}", second.log()?);
            Ok(())
        })
        .await?;
    place_one(&cluster, "three").await?;
    // The first one was killed: its Lease stays, and nobody minds because its word is no longer good.
    wait_for_replicas(&cluster, &[("first", SCHEDULER), ("third", SCHEDULER)]).await?;
    let events = cluster.run_kubectl(&["get", "events", "-n", "kube-system"]).await?;
    assert!(events.contains("LeaderElection") && events.contains("became leader"), "{events}");
    assert!(events.contains("stopped leading"), "{events}");
    drop(third);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_stood_still_too_long_writes_nothing_and_ends() -> Result<()> {
    let cluster = ControlPlane::start("leases_paused").await?;
    cluster.add_node(node("n1").cpu("8").memory("8Gi")).await?;
    let mut only = start(&cluster, "only").await?;
    wait_for_leader(&cluster, "only").await?;
    place_one(&cluster, "before").await?;
    only.signal("STOP")?;
    let waiting = cluster.deploy(deployment("waiting").cpu("100m").scheduler(SCHEDULER)).await?;
    tokio::time::sleep(Duration::from_secs(12)).await;
    only.signal("CONT")?;
    cluster
        .wait_until("it ends", SOON, async || {
            ensure!(only.has_ended(), "{}", only.log()?);
            Ok(())
        })
        .await?;
    let log = only.log()?;
    assert!(log.contains("Lease"), "it says why: {log}");
    let pods = cluster.pods(&waiting.selector).await?;
    let is_bound = |pod: &k8s_openapi::api::core::v1::Pod| {
        pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some())
    };
    assert!(
        !pods.is_empty() && !pods.iter().any(is_bound),
        "nobody led, so nobody may have placed it: {log}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reservation_is_acknowledged_quickly_and_a_replica_that_ends_is_not_waited_for() -> Result<()> {
    let cluster = ControlPlane::start("leases_seen").await?;
    cluster.add_node(node("n1").cpu("8").memory("8Gi")).await?;
    let only = daemon(SCHEDULER).named("only").start(&cluster).await?;
    wait_for_replicas(&cluster, &[("only", SCHEDULER)]).await?;
    let mut took = Vec::new();
    for round in 0..20 {
        let value = format!("{}m", round + 1);
        let written = cluster.annotate_node("n1", &format!("reserve.cpu/{NOBODY}"), Some(&value)).await?;
        let version: u64 = written.metadata.resource_version.context("no version")?.parse()?;
        let started = Instant::now();
        loop {
            let lease = leases(&cluster).get("reserve-only").await?;
            let seen = lease.metadata.annotations.and_then(|all| all.get(SEEN_NODES).cloned());
            if seen.and_then(|seen| seen.parse::<u64>().ok()).is_some_and(|seen| seen >= version) {
                break;
            }
            ensure!(started.elapsed() < SOON, "round {round} is not acknowledged");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        took.push(started.elapsed());
    }
    took.sort();
    println!(
        "acknowledged after {:.0?} (median), {:.0?} (longest)",
        took[took.len() / 2],
        took[took.len() - 1]
    );
    assert!(took[took.len() / 2] < ACKNOWLEDGED_MAX, "{took:?}");
    only.signal("TERM")?;
    wait_for_replicas(&cluster, &[]).await
}

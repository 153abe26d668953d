//! Leaders end while kept pods are deleted: how long does it take from the answer to a deletion until the node says that the
//! place is kept?
//!
//! Two replicas of the daemon run. The nodes are full, so that each pod that is deleted can come back to its own place only, and has to
//! be kept that place. Pods are deleted all the time, and each leader is ended after a while, by `SIGKILL` as by a
//! power cut, or by `SIGTERM` as by a rollout. It starts again at once. The Lease of one that was killed runs for 15 s, in which nobody
//! leads: the other replica writes the places down.

use super::number;
use anyhow::{Context as _, Result, ensure};
use common::api::names;
use futures::TryStreamExt as _;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Api;
use kube::api::{DeleteParams, ListParams, WatchEvent, WatchParams};
use reserve_tests::control_plane::{Cluster, ControlPlane, deployment, is_running, name_of, node};
use reserve_tests::programs::{Daemon, daemon};
use reserve_tests::shared_cluster::KEEP;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

const KILLS: usize = 2;
/// Workloads, each in a namespace of its own, and the pods of each: more than are deleted while nobody leads.
const WORKLOADS: usize = 4;
const REPLICAS: u32 = 25;
/// How often a pod is deleted.
const PACE: Duration = Duration::from_millis(500);
/// So many deletions are written down by each leader before it ends.
const WRITTEN: usize = 10;
const SOON: Duration = Duration::from_secs(120);
/// The Lease of one that was killed runs out after 15 s, and others look every 2 s.
const KILLED_MAX: Duration = Duration::from_secs(45);
/// Whoever ends by itself lets go of the Lease.
const ENDED_MAX: Duration = Duration::from_secs(20);
/// A reservation is written down before this, whoever leads.
const WRITTEN_MAX: Duration = Duration::from_secs(2);
/// With so many leaders there are enough deletions to speak of one in a hundred.
const MEASURED: usize = 50;
const REPLICA_NAMES: [&str; 2] = ["one", "two"];

/// What was measured.
#[derive(Default)]
struct Seen {
    /// When the API server answered each deletion, by the UID of the pod.
    deleted: BTreeMap<String, Instant>,
    /// When a node was first seen to keep the place of each.
    durable: BTreeMap<String, Instant>,
    /// From the end of a leader to the beginning of the next.
    gaps: Vec<(Instant, Instant)>,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_is_written_down_soon_whoever_was_killed() -> Result<()> {
    measure("races_killed", "KILL", KILLED_MAX).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_is_written_down_soon_while_leaders_end() -> Result<()> {
    measure("races_ended", "TERM", ENDED_MAX).await
}

async fn measure(name: &str, signal: &'static str, most: Duration) -> Result<()> {
    let cluster = ControlPlane::start(name).await?;
    let mut daemons = BTreeMap::new();
    for name in REPLICA_NAMES {
        daemons.insert(name, start(&cluster, name).await?);
    }
    set_up(&cluster).await?;
    let seen = Mutex::new(Seen::default());
    tokio::select! {
        done = end_leaders(&cluster, &mut daemons, signal, &seen) => done?,
        failed = delete_pods(&cluster, &seen) => failed?,
        failed = watch_nodes(&cluster, &seen) => failed?,
    }
    let seen = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (all, led) = (seen.delays(|_, _| true), seen.delays(|from, to| !seen.meets_gap(from, to)));
    let gaps = sorted(seen.gaps.iter().map(|(from, to)| *to - *from).collect());
    println!("{signal} {} times: from the answer to a deletion until the node says it:", gaps.len());
    println!("  all deletions:        {}", line(&all));
    println!("  one leads throughout: {}", line(&led));
    println!("  until another leads:  {}", line(&gaps));
    let unwritten = seen.deleted.len() - all.len();
    println!("  {} deletions, {unwritten} never written down", seen.deleted.len());
    ensure!(all.len() >= WRITTEN, "only {} were written down", all.len());
    // Those that were deleted just before the end.
    ensure!(unwritten <= 4, "{unwritten} were never written down");
    ensure!(percentile(&gaps, 100) <= most, "nobody led for {:?}", percentile(&gaps, 100));
    if gaps.len() >= MEASURED {
        ensure!(percentile(&all, 99) < WRITTEN_MAX, "one of a hundred took {:?}", percentile(&all, 99));
    }
    ensure!(percentile(&all, 50) < WRITTEN_MAX, "half took {:?}", percentile(&all, 50));
    Ok(())
}

async fn start(cluster: &Cluster, name: &'static str) -> Result<Daemon> {
    daemon(names::SCHEDULER_NAME).named(name).elects().start(cluster).await
}

async fn set_up(cluster: &Cluster) -> Result<()> {
    for number in 0..WORKLOADS {
        cluster.add_node(node(&format!("n{number}")).cpu(&REPLICAS.to_string())).await?;
    }
    for number in 0..WORKLOADS {
        let namespace = namespace(number);
        cluster.add_namespace(&namespace).await?;
        let web =
            deployment("web").namespace(&namespace).replicas(REPLICAS).cpu("1").annotation(KEEP, "true");
        let web = web.scheduler(names::SCHEDULER_NAME).terminate_after(Duration::from_secs(1));
        let web = cluster.deploy(web).await?;
        cluster.wait_until_running_in(&namespace, &web.selector, REPLICAS as usize).await?;
    }
    Ok(())
}

fn namespace(number: usize) -> String {
    format!("shop-{}", number % WORKLOADS)
}

/// Deletes a running pod again and again.
async fn delete_pods(cluster: &Cluster, seen: &Mutex<Seen>) -> Result<()> {
    for number in 0.. {
        let namespace = namespace(number);
        let pods = cluster.pods_in(&namespace, "app=web").await?;
        let running = pods.iter().filter(|pod| is_running(pod));
        if let Some(pod) = running.min_by_key(|pod| pod.metadata.creation_timestamp.clone()) {
            let api: Api<Pod> = Api::namespaced(cluster.admin(), &namespace);
            api.delete(name_of(pod), &DeleteParams::default()).await.context("delete a pod")?;
            let uid = pod.metadata.uid.clone().unwrap_or_default();
            lock(seen).deleted.insert(uid, Instant::now());
        }
        tokio::time::sleep(PACE).await;
    }
    Ok(())
}

/// Notes when a node is first seen to keep the place of a pod.
async fn watch_nodes(cluster: &Cluster, seen: &Mutex<Seen>) -> Result<()> {
    let nodes: Api<Node> = Api::all(cluster.admin());
    let mut version = nodes.list(&ListParams::default()).await?.metadata.resource_version.unwrap_or_default();
    loop {
        let changes = nodes.watch(&WatchParams::default().timeout(290), &version).await?;
        let mut changes = std::pin::pin!(changes);
        while let Some(change) = changes.try_next().await? {
            let (WatchEvent::Added(node) | WatchEvent::Modified(node)) = change else { continue };
            version = node.metadata.resource_version.clone().unwrap_or_default();
            let replaced = replaced(&node)?;
            let mut seen = lock(seen);
            for uid in replaced {
                seen.durable.entry(uid).or_insert_with(Instant::now);
            }
        }
    }
}

/// The UIDs of the pods whose place a node keeps.
fn replaced(node: &Node) -> Result<BTreeSet<String>> {
    let node = common::api::node::node(&serde_json::to_string(node)?)?;
    let valid = node.reservations.iter().filter_map(|parsed| parsed.valid());
    Ok(valid.filter_map(|one| one.replaces()).map(|replaced| replaced.uid.to_string()).collect())
}

/// Ends one leader after the other, each when it has worked for a while.
async fn end_leaders(
    cluster: &Cluster,
    daemons: &mut BTreeMap<&'static str, Daemon>,
    signal: &str,
    seen: &Mutex<Seen>,
) -> Result<()> {
    let kills = number("RESERVE_KILLS", KILLS);
    let mut leader = wait_for_leader(cluster, "").await?;
    for number in 0..=kills {
        wait_until_written(cluster, seen).await.with_context(|| format!("after {number} leaders"))?;
        if number == kills {
            break;
        }
        let name = leader.split('_').next().unwrap_or_default().to_owned();
        let (name, mut daemon) = daemons.remove_entry(name.as_str()).context("nobody of that name")?;
        let ended = Instant::now();
        if signal == "KILL" {
            daemon.kill()?;
        } else {
            daemon.signal(signal)?;
            let gone = async || {
                ensure!(daemon.has_ended(), "it still runs");
                Ok(())
            };
            cluster.wait_until("the daemon ends", SOON, gone).await?;
        }
        let (next, again) = tokio::join!(wait_for_leader(cluster, &leader), start(cluster, name));
        daemons.insert(name, again?);
        let (next, at) = next.map(|next| (next, Instant::now()))?;
        lock(seen).gaps.push((ended, at));
        leader = next;
    }
    Ok(())
}

/// Waits until one leads that is not `before`, and returns it.
async fn wait_for_leader(cluster: &Cluster, before: &str) -> Result<String> {
    let leases: Api<Lease> = Api::namespaced(cluster.admin(), "kube-system");
    cluster
        .wait_until("another one leads", SOON, async || {
            let lease = leases.get("reserve-daemon").await?;
            let holder = lease.spec.and_then(|spec| spec.holder_identity).unwrap_or_default();
            ensure!(!holder.is_empty() && holder != before, "{holder:?} leads");
            Ok(holder)
        })
        .await
}

/// Waits until so many more deletions were written down.
async fn wait_until_written(cluster: &Cluster, seen: &Mutex<Seen>) -> Result<()> {
    let begun = Instant::now();
    cluster
        .wait_until("the leader writes reservations down", SOON, async || {
            let seen = lock(seen);
            let new = seen.durable.keys().filter(|uid| seen.deleted.get(*uid).is_some_and(|at| *at > begun));
            let written = new.count();
            ensure!(written >= WRITTEN, "{written} of {} deletions", seen.deleted.len());
            Ok(())
        })
        .await
}

impl Seen {
    /// How long it took for certain deletions, by when they were answered and written down. Sorted.
    fn delays(&self, is_wanted: impl Fn(Instant, Instant) -> bool) -> Vec<Duration> {
        let both = self.deleted.iter().filter_map(|(uid, at)| Some((*at, *self.durable.get(uid)?)));
        sorted(
            both.filter(|(at, seen)| is_wanted(*at, *seen))
                .map(|(at, seen)| seen.saturating_duration_since(at))
                .collect(),
        )
    }

    /// Whether for some of the time between both moments nobody led.
    fn meets_gap(&self, deleted: Instant, durable: Instant) -> bool {
        self.gaps.iter().any(|(from, to)| deleted <= *to && *from <= durable)
    }
}

fn sorted(mut times: Vec<Duration>) -> Vec<Duration> {
    times.sort();
    times
}

/// The time within which so many of a hundred took.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let index = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(index).copied().unwrap_or_default()
}

fn line(sorted: &[Duration]) -> String {
    let [half, most, slowest] = [50, 99, 100].map(|percent| percentile(sorted, percent));
    format!("{} times, p50 {half:.2?}, p99 {most:.2?}, max {slowest:.2?}", sorted.len())
}

fn lock(seen: &Mutex<Seen>) -> std::sync::MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

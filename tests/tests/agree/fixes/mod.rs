//! Every fix that `explain` prints makes the pod fit: clusters are made up at random on the real control plane, one pod each
//! waits in them, and what the real kubectl prints is typed as it stands.
//!
//! A cluster is a few nodes of one region, with a namespace of their own, so that many are there side by side. Each fix has a
//! copy of the cluster for itself. `RESERVE_FIXES` says how many pods, `RESERVE_FIXES_SEED` where to begin.

mod carried;
mod drawn;
mod ground;
mod shapes;

use anyhow::{Context as _, Result, ensure};
use carried::{Came, carried};
use common::api::names::SCHEDULER_NAME;
use drawn::Drawn;
use futures::{StreamExt as _, stream};
use ground::Ground;
use reserve_tests::control_plane::Cluster;
use reserve_tests::programs::daemon;
use reserve_tests::shared_cluster::SharedCluster;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

static SHARED_CLUSTER: SharedCluster = SharedCluster::new("agree", Some(|| daemon(SCHEDULER_NAME)));

/// Pods whose fixes are carried out, unless told otherwise.
const PODS: usize = 20;

/// Clusters that are there at once.
const SIDE_BY_SIDE: usize = 12;

/// Every kind of fix that there is.
const KINDS: [&str; 10] = [
    "AddNode",
    "Label",
    "LowerRequest",
    "Move",
    "Release",
    "Scale",
    "Several",
    "Tolerate",
    "Uncordon",
    "Untaint",
];

/// So many pods have to have fixes of every kind among them.
const ENOUGH: usize = 100;

/// What is counted.
#[derive(Default)]
struct Tally {
    waiting: usize,
    /// Pods that were placed after all, of which nothing is asked.
    placed: usize,
    without: usize,
    kinds: BTreeMap<String, usize>,
    failures: Vec<String>,
    /// How many clusters were made, and how long making them took, altogether.
    made: (u32, Duration),
    /// How long the rest took.
    carried: Duration,
}

#[test]
fn every_fix_that_is_printed_makes_the_pod_fit() -> Result<()> {
    let wanted = number("RESERVE_FIXES")?.map_or(PODS, |number| number as usize);
    let first = number("RESERVE_FIXES_SEED")?.unwrap_or(1);
    SHARED_CLUSTER.run("fixes", async |ns| {
        ground::prepare(ns.cluster).await?;
        let tally = run(ns.cluster, first, wanted).await;
        let fixes: usize = tally.kinds.values().sum();
        let Tally { waiting, placed, without, kinds, failures, made, carried } = &tally;
        eprintln!(
            "{waiting} pods waited, {without} of them without a fix ({placed} more were placed at once)"
        );
        eprintln!("{fixes} fixes carried out, {} failed: {kinds:?}", failures.len());
        let mean = |sum: Duration| (sum / made.0.max(1)).as_secs_f64();
        let (make, carry) = (mean(made.1), mean(*carried));
        eprintln!(
            "{} clusters, {make:.1} s each to make, {carry:.1} s for a fix; {SIDE_BY_SIDE} at once",
            made.0
        );
        ensure!(failures.is_empty(), "{} of {fixes} fixes failed, see above", failures.len());
        ensure!(fixes >= wanted, "too few fixes to mean anything: {fixes}");
        let missing: Vec<&&str> = KINDS.iter().filter(|kind| !kinds.contains_key(**kind)).collect();
        ensure!(wanted < ENOUGH || missing.is_empty(), "no fix of the kinds {missing:?}: {kinds:?}");
        ensure!(missing.len() <= KINDS.len() / 2, "too few kinds: {kinds:?}");
        Ok(())
    })
}

/// A number in the environment.
#[expect(clippy::disallowed_methods, reason = "how much is tried is up to who runs the tests")]
fn number(name: &str) -> Result<Option<u64>> {
    match std::env::var(name) {
        Ok(text) => text.parse().map(Some).with_context(|| format!("{name}={text:?} is no number")),
        Err(_) => Ok(None),
    }
}

/// For whoever watches.
#[expect(clippy::print_stderr, reason = "a test's only way to say how far it is")]
fn tell(text: &str) {
    eprint!("{text}");
}

/// Takes seed after seed until so many pods have waited.
async fn run(cluster: &'static Cluster, first: u64, wanted: usize) -> Tally {
    let mut tally = Tally::default();
    let each = stream::iter(first..).map(|seed| one_pod(cluster, seed)).buffer_unordered(SIDE_BY_SIDE);
    let mut each = std::pin::pin!(each);
    while let Some(one) = each.next().await {
        one.failures.iter().for_each(|story| tell(&format!("{story}\n\n")));
        tally.add(one);
        tell(&format!("\r{} of {wanted} ", tally.waiting));
        if tally.placed > 2 * wanted + SIDE_BY_SIDE {
            tally.failures.push("most pods are placed at once: the generator is wrong".to_owned());
            break;
        }
        if tally.waiting >= wanted {
            break;
        }
    }
    tally
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.waiting += other.waiting;
        self.placed += other.placed;
        self.without += other.without;
        self.failures.extend(other.failures);
        self.made = (self.made.0 + other.made.0, self.made.1 + other.made.1);
        self.carried += other.carried;
        for (kind, count) in other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
    }
}

/// All fixes of the pod that this seed makes, each on a cluster of its own.
async fn one_pod(cluster: &'static Cluster, seed: u64) -> Tally {
    let drawn = Drawn::new(seed);
    let mut tally = Tally::default();
    let mut number = 0;
    loop {
        let name = format!("f{seed}-{number}");
        let came = async {
            let begun = Instant::now();
            let ground = Ground::make(cluster, &name, &drawn).await?;
            let made = begun.elapsed();
            let came = carried(&ground, &drawn, number).await;
            tally.made = (tally.made.0 + 1, tally.made.1 + made);
            tally.carried += begun.elapsed() - made;
            ground.clear().await?;
            came
        };
        match came.await {
            Ok(Came::Placed) if number == 0 => {
                tally.placed = 1;
                return tally;
            }
            // Who goes where is up to the scheduler, and so may be how many fixes there are.
            Ok(Came::Placed | Came::NoMore) => {
                tally.without = usize::from(number == 0);
                tally.waiting = 1;
                return tally;
            }
            Ok(Came::Tried { kind, story, is_last }) => {
                *tally.kinds.entry(kind).or_default() += 1;
                tally.failures.extend(story.map(|story| format!("=== seed {seed}, fix {number}\n{story}")));
                if is_last {
                    tally.waiting = 1;
                    return tally;
                }
            }
            Err(error) => {
                tally.waiting = 1;
                tally.failures.push(format!("=== seed {seed}, fix {number}\n{error:#}"));
                return tally;
            }
        }
        number += 1;
    }
}

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
use reserve_tests::town::Town;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

static TOWN: Town = Town::new("agree", Some(|| daemon(SCHEDULER_NAME)));

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
}

#[test]
fn every_fix_that_is_printed_makes_the_pod_fit() -> Result<()> {
    let wanted = number("RESERVE_FIXES")?.map_or(PODS, |number| number as usize);
    let first = number("RESERVE_FIXES_SEED")?.unwrap_or(1);
    TOWN.run("fixes", async |plot| {
        ground::prepare(plot.cluster).await?;
        let tally = run(plot.cluster, first, wanted).await;
        let fixes: usize = tally.kinds.values().sum();
        let Tally { waiting, placed, without, kinds, failures } = &tally;
        eprintln!(
            "{waiting} pods waited, {without} of them without a fix ({placed} more were placed at once)"
        );
        eprintln!("{fixes} fixes carried out, {} failed: {kinds:?}", failures.len());
        ensure!(failures.is_empty(), "{} of {fixes} fixes:\n\n{}", failures.len(), failures.join("\n\n"));
        ensure!(fixes >= wanted, "too few fixes to mean anything: {fixes}");
        let missing: Vec<&&str> = KINDS.iter().filter(|kind| !kinds.contains_key(**kind)).collect();
        ensure!(wanted < ENOUGH || missing.is_empty(), "no fix of the kinds {missing:?}: {kinds:?}");
        ensure!(missing.len() <= KINDS.len() / 2, "too few kinds: {kinds:?}");
        Ok(())
    })
}

/// A number in the environment.
fn number(name: &str) -> Result<Option<u64>> {
    match std::env::var(name) {
        Ok(text) => text.parse().map(Some).with_context(|| format!("{name}={text:?} is no number")),
        Err(_) => Ok(None),
    }
}

/// Takes seed after seed until so many pods have waited.
async fn run(cluster: &'static Cluster, first: u64, wanted: usize) -> Tally {
    let seeds = AtomicU64::new(first);
    let mut tally = Tally::default();
    while tally.waiting < wanted {
        let many = wanted - tally.waiting;
        let next = seeds.fetch_add(many as u64, Ordering::Relaxed);
        let each = stream::iter(next..next + many as u64).map(|seed| one_pod(cluster, seed));
        let all: Vec<Tally> = each.buffer_unordered(SIDE_BY_SIDE).collect().await;
        all.into_iter().for_each(|one| tally.add(one));
        if tally.placed > 5 * wanted {
            tally.failures.push("most pods are placed at once: the generator is wrong".to_owned());
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
            let ground = Ground::make(cluster, &name, &drawn).await?;
            let came = carried(&ground, &drawn, number).await;
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
            Ok(Came::Bound(kind)) => *tally.kinds.entry(kind).or_default() += 1,
            Ok(Came::Failed { kind, story }) => {
                *tally.kinds.entry(kind).or_default() += 1;
                tally.failures.push(format!("=== seed {seed}, fix {number}\n{story}"));
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

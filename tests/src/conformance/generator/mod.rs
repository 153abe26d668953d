//! Generates clusters and pods for the comparison, with unusual combinations of features ([`Generator`]). The same seed gives the
//! same bytes.

mod affinity;
mod changes;
mod claims;
mod containers;
mod csi;
mod disks;
mod labels;
mod mix;
mod nodes;
mod pods;
mod quantity;
mod rng;
mod spread;
mod test_cluster;
#[cfg(test)]
mod tests;
mod tolerations;
mod volumes;
mod workloads;

pub use mix::Mix;

use anyhow::Result;
use serde_json::{Value, json};

use super::run::Batch;
use rng::Rng;
use test_cluster::TestCluster;

/// About how many pods share a cluster.
const PODS_EACH: u64 = 20;

/// Makes `cases` cases from `seed`, cluster by cluster.
pub struct Generator {
    seed: u64,
    mix: Mix,
    left: u64,
    clusters: u64,
}

impl Generator {
    /// With the usual mix of features.
    pub fn new(seed: u64, cases: u64) -> Self {
        Self::with(seed, cases, Mix::default())
    }

    /// With the given mix of features.
    pub fn with(seed: u64, cases: u64, mix: Mix) -> Self {
        Self { seed, mix, left: cases, clusters: 0 }
    }

    fn batch(&self, pods: u64) -> Batch {
        let id = format!("{}-{}", self.seed, self.clusters);
        // A cluster can be generated again without the clusters before it.
        let mut rng = Rng::new(self.seed, self.clusters);
        let mut test_cluster = TestCluster::new(&mut rng, &self.mix, self.clusters);
        test_cluster.settle(&mut rng);
        // Always generate all pods: the cluster contains their claims, and must not depend on how many pods are asked for.
        let case = |number: u64| {
            let pod = pods::pending(&mut test_cluster, &mut rng, number);
            json!({ "id": format!("{id}/{number}"), "pod": pod, "assume": rng.chance(50) })
        };
        let all: Vec<Value> = (0..PODS_EACH).map(case).collect();
        let objects = test_cluster.objects(&mut rng);
        let hint = |case: &Value| {
            let id = format!("{}/change", case["id"].as_str().unwrap_or_default());
            changes::change(&mut rng, &objects, &case["pod"], &id)
        };
        let hints: Vec<Value> = all.iter().map(hint).collect();
        let taken = usize::try_from(pods).unwrap_or(usize::MAX);
        let lines = all.into_iter().take(taken).chain(hints.into_iter().take(taken));
        Batch { cluster: json!({ "id": id, "cluster": objects }), pods: lines.collect() }
    }
}

impl Iterator for Generator {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let pods = PODS_EACH.min(self.left);
        let batch = self.batch(pods);
        self.left -= pods;
        self.clusters += 1;
        Some(Ok(batch))
    }
}

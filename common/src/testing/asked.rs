//! What one plugin says about the nodes of a world.

use super::{PodBuilder, World, now};
use crate::framework::{Filter, Rejection, Score, Verdict};

/// Why the plugin keeps `pod` off the world's first node; empty if it does not.
pub(crate) fn rejections(plugin: &dyn Filter, world: World, pod: &PodBuilder) -> Vec<Rejection> {
    let (cluster, pod) = (world.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    let asker = snapshot.asker(&pod);
    let verdict = plugin.prepare(&asker, &snapshot)(&snapshot.nodes[0]);
    match verdict {
        Verdict::Fits => Vec::new(),
        Verdict::Rejects(rejections) => {
            assert!(!rejections.is_empty(), "a refusal has a reason");
            assert!(rejections.iter().all(|rejection| rejection.plugin == plugin.name()));
            rejections
        }
    }
}

/// The same, as upstream words it.
pub(crate) fn reasons(plugin: &dyn Filter, world: World, pod: &PodBuilder) -> Vec<String> {
    rejections(plugin, world, pod).iter().map(|rejection| rejection.reason.to_string()).collect()
}

/// The plugin's score for each node of the world, normalised.
pub(crate) fn scores(plugin: &dyn Score, world: World, pod: &PodBuilder) -> Vec<i64> {
    let (cluster, pod) = (world.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    let asker = snapshot.asker(&pod);
    let score = plugin.prepare(&asker, &snapshot);
    let mut scores: Vec<i64> = snapshot.nodes.iter().map(score).collect();
    plugin.normalise(&mut scores);
    scores
}

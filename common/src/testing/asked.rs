//! What one plugin says about the nodes of a world.

use super::{PodBuilder, World, now};
use crate::cluster::NodeId;
use crate::framework::{Admission, Filter, PreFilter, Rejection, Score, Verdict};

/// Why the plugin keeps `pod` off each node of the world; empty where it does not.
pub(crate) fn all_rejections(plugin: &dyn Filter, world: World, pod: &PodBuilder) -> Vec<Vec<Rejection>> {
    let (mut cluster, pod) = (world.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    let pod_context = snapshot.pod_context(&pod);
    let Some(ask) = plugin.prepare(&pod_context, &snapshot) else {
        return snapshot.nodes().map(|_| Vec::new()).collect();
    };
    let rejections = |id: NodeId| match ask(id) {
        Verdict::Fits => Vec::new(),
        Verdict::Says(phrase) => vec![phrase.into()],
        Verdict::Rejects(rejections) => {
            assert!(!rejections.is_empty(), "a refusal has a reason");
            assert!(rejections.iter().all(|rejection| rejection.plugin == plugin.name()));
            rejections.into_vec()
        }
        Verdict::Fails(why) => panic!("{why}"),
    };
    snapshot.nodes().map(|ledger| rejections(ledger.id)).collect()
}

/// Why the plugin keeps `pod` off the world's first node; empty if it does not.
pub(crate) fn rejections(plugin: &dyn Filter, world: World, pod: &PodBuilder) -> Vec<Rejection> {
    all_rejections(plugin, world, pod).swap_remove(0)
}

/// The same, as upstream words it.
pub(crate) fn reasons(plugin: &dyn Filter, world: World, pod: &PodBuilder) -> Vec<String> {
    rejections(plugin, world, pod).iter().map(|rejection| rejection.reason.to_string()).collect()
}

/// The same for each node.
pub(crate) fn all_reasons(plugin: &dyn Filter, world: World, pod: &PodBuilder) -> Vec<Vec<String>> {
    let words = |rejections: Vec<Rejection>| rejections.iter().map(|one| one.reason.to_string()).collect();
    all_rejections(plugin, world, pod).into_iter().map(words).collect()
}

/// What the plugin says before any node is looked at.
pub(crate) fn admission(plugin: &dyn PreFilter, world: World, pod: &PodBuilder) -> Admission {
    let (mut cluster, pod) = (world.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    plugin.pre_filter(&snapshot.pod_context(&pod), &snapshot)
}

/// The plugin's score for each node of the world, raw and normalised; `None` if it has no opinion.
pub(crate) fn raw_and_scores(
    plugin: &dyn Score,
    world: World,
    pod: &PodBuilder,
) -> Option<(Vec<i64>, Vec<i64>)> {
    let (mut cluster, pod) = (world.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    let pod_context = snapshot.pod_context(&pod);
    let nodes: Vec<NodeId> = snapshot.nodes().map(|ledger| ledger.id).collect();
    let scorer = plugin.prepare(&pod_context, &snapshot, &nodes).unwrap()?;
    let raw: Vec<i64> = scorer.score.all(&nodes);
    let mut scores = raw.clone();
    scorer.normalise.apply(&nodes, &mut scores);
    Some((raw, scores))
}

/// The plugin's score for each node of the world, normalised.
pub(crate) fn scores(plugin: &dyn Score, world: World, pod: &PodBuilder) -> Vec<i64> {
    raw_and_scores(plugin, world, pod).unwrap().1
}

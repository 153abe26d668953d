//! The answers of one plugin about the nodes of a test cluster.

use super::{ClusterBuilder, PodBuilder, now};
use crate::cluster::NodeId;
use crate::framework::{Admission, Filter, PreFilter, Rejection, Score, Verdict};

/// For each node the reasons for which the plugin rejects `pod`; empty if it accepts the pod.
pub(crate) fn all_rejections(
    plugin: &dyn Filter,
    builder: ClusterBuilder,
    pod: &PodBuilder,
) -> Vec<Vec<Rejection>> {
    let (mut cluster, pod) = (builder.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    let context = snapshot.context(&pod);
    let Some(ask) = plugin.prepare(&context, &snapshot) else {
        return snapshot.nodes().map(|_| Vec::new()).collect();
    };
    let rejections = |id: NodeId| match ask(id) {
        Verdict::Fits => Vec::new(),
        Verdict::RejectsStatic { plugin, reason } => vec![Rejection::new(plugin, *reason)],
        Verdict::Rejects(rejections) => {
            assert!(!rejections.is_empty(), "a refusal has a reason");
            assert!(rejections.iter().all(|rejection| rejection.plugin == plugin.name()));
            rejections.into_vec()
        }
        Verdict::Fails(why) => panic!("{why}"),
    };
    snapshot.nodes().map(|ledger| rejections(ledger.id)).collect()
}

/// The reasons for which the plugin rejects `pod` on the first node; empty if it accepts the pod.
pub(crate) fn rejections(plugin: &dyn Filter, builder: ClusterBuilder, pod: &PodBuilder) -> Vec<Rejection> {
    all_rejections(plugin, builder, pod).swap_remove(0)
}

/// The reasons on the first node in kube-scheduler's words.
pub(crate) fn reasons(plugin: &dyn Filter, builder: ClusterBuilder, pod: &PodBuilder) -> Vec<String> {
    rejections(plugin, builder, pod).iter().map(|rejection| rejection.reason.to_string()).collect()
}

/// The reasons for each node in kube-scheduler's words.
pub(crate) fn all_reasons(
    plugin: &dyn Filter,
    builder: ClusterBuilder,
    pod: &PodBuilder,
) -> Vec<Vec<String>> {
    let texts = |rejections: Vec<Rejection>| rejections.iter().map(|one| one.reason.to_string()).collect();
    all_rejections(plugin, builder, pod).into_iter().map(texts).collect()
}

/// The answer of the plugin at PreFilter.
pub(crate) fn admission(plugin: &dyn PreFilter, builder: ClusterBuilder, pod: &PodBuilder) -> Admission {
    let (mut cluster, pod) = (builder.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    plugin.pre_filter(&snapshot.context(&pod), &snapshot)
}

/// The plugin's score for each node, raw and normalised; `None` if the plugin does not score this pod.
pub(crate) fn raw_and_scores(
    plugin: &dyn Score,
    builder: ClusterBuilder,
    pod: &PodBuilder,
) -> Option<(Vec<i64>, Vec<i64>)> {
    let (mut cluster, pod) = (builder.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    let context = snapshot.context(&pod);
    let nodes: Vec<NodeId> = snapshot.nodes().map(|ledger| ledger.id).collect();
    let scorer = plugin.prepare(&context, &snapshot, &nodes).unwrap()?;
    let raw: Vec<i64> = scorer.score.all(&nodes);
    let mut scores = raw.clone();
    scorer.normalise.apply(&nodes, &mut scores);
    Some((raw, scores))
}

/// The plugin's normalised score for each node.
pub(crate) fn scores(plugin: &dyn Score, builder: ClusterBuilder, pod: &PodBuilder) -> Vec<i64> {
    raw_and_scores(plugin, builder, pod).unwrap().1
}

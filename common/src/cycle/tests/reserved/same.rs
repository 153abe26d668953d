//! What makes no difference: how we came to know it, annotations that are malformed or somebody else's, and reservations
//! that are not in the way.

use super::audit::opinions;
use super::opinion::Opinion;
use super::test_cluster::{Mind, TestCluster, Without};
use super::waiting;
use crate::cluster::Cluster;
use crate::cycle::{Decision, Depth, PluginScores, judge, schedule, scores};
use crate::framework::Registry;
use crate::model::Pod;
use crate::testing::at;
use jiff::Timestamp;

const OURS: &str = "Reservation";

/// Compares what is decided with what a cluster would decide that learns all at once what is so now.
pub(super) fn check(test_cluster: &mut TestCluster, registry: &Registry) {
    let now = at(test_cluster.now);
    let [mut known, mut quiet, mut bare] =
        [Without::Nothing, Without::Noise, Without::Reservations].map(|without| test_cluster.anew(without));
    for test_pod in waiting(test_cluster) {
        let pod = test_cluster.pod(test_pod);
        let said = |cluster: &mut Cluster| decision(cluster, &pod, now, registry);
        let as_it_is = said(&mut known);
        assert_eq!(as_it_is, said(&mut quiet), "noise matters to {}", pod.key);
        let judged = |cluster: &mut Cluster| {
            let snapshot = cluster.snapshot(now);
            let mut trace = judge(&snapshot.pod_context(&pod), &snapshot, registry, Depth::All).unwrap();
            trace.nodes.iter_mut().for_each(|node| node.rejections.retain(|one| one.plugin != OURS));
            trace
        };
        assert_eq!(judged(&mut known), judged(&mut bare), "other plugins see reservations");
        let opinions = opinions(test_cluster, test_pod);
        let is_free = |one: &Opinion| one.own.is_none() && one.said.iter().all(|said| said.plugin != OURS);
        // Whoever fits nowhere may find them in the way once others are preempted.
        if opinions.iter().all(is_free) && as_it_is.is_ok() {
            assert_eq!(as_it_is, said(&mut bare), "nothing is in the way of {}", pod.key);
            assert_eq!(scored(&mut known, &pod, now, registry), scored(&mut bare, &pod, now, registry));
            if test_cluster.test_pods[test_pod].mind != Mind::Not
                && !test_cluster.test_reservations.is_empty()
            {
                test_cluster.met.insert("minds its neighbours, not reservations");
            }
        }
    }
}

/// What a fresh cluster decides: where it goes, or why nowhere.
fn decision(cluster: &mut Cluster, pod: &Pod, now: Timestamp, registry: &Registry) -> Result<String, String> {
    match schedule(pod, &cluster.snapshot(now), registry) {
        Decision::Place { node, seat, .. } => Ok(format!("{node} {seat:?}")),
        Decision::NoFit(no_fit) => Err(no_fit.message()),
        other => panic!("{other:?}"),
    }
}

/// What all plugins but ours think of the nodes that can have it.
fn scored(cluster: &mut Cluster, pod: &Pod, now: Timestamp, registry: &Registry) -> Vec<PluginScores> {
    let snapshot = cluster.snapshot(now);
    let pod_context = snapshot.pod_context(pod);
    let trace = judge(&pod_context, &snapshot, registry, Depth::All).unwrap();
    let feasible: Vec<_> = trace.feasible().collect();
    let mut all = scores(&pod_context, &snapshot, registry, &feasible).unwrap();
    all.retain(|one| one.plugin != OURS);
    all
}

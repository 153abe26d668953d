//! What must not change a decision: the order in which the cluster was learned, annotations that are malformed or foreign, and
//! reservations that do not concern the pod.

use super::check::expectations;
use super::expectation::Expectation;
use super::test_cluster::{NeighbourPreference, Omission, TestCluster};
use super::waiting;
use crate::cluster::Cluster;
use crate::cycle::{Decision, Depth, PluginScores, diagnose, schedule, scores};
use crate::framework::Registry;
use crate::model::Pod;
use crate::testing::at;
use jiff::Timestamp;

const OURS: &str = "Reservation";

/// Compares decisions with those of fresh clusters that are built from the current state: complete, without noise, without
/// reservations.
pub(super) fn check(test_cluster: &mut TestCluster, registry: &Registry) {
    let now = at(test_cluster.now);
    let [mut complete, mut quiet, mut bare] = [Omission::Nothing, Omission::Noise, Omission::Reservations]
        .map(|without| test_cluster.anew(without));
    for test_pod in waiting(test_cluster) {
        let pod = test_cluster.pod(test_pod);
        let decide = |cluster: &mut Cluster| decision(cluster, &pod, now, registry);
        let expected = decide(&mut complete);
        assert_eq!(expected, decide(&mut quiet), "noise matters to {}", pod.key);
        let rejections_of_others = |cluster: &mut Cluster| {
            let snapshot = cluster.snapshot(now);
            let mut diagnosis = diagnose(&snapshot.context(&pod), &snapshot, registry, Depth::All).unwrap();
            diagnosis.nodes.iter_mut().for_each(|node| node.rejections.retain(|one| one.plugin != OURS));
            diagnosis
        };
        assert_eq!(
            rejections_of_others(&mut complete),
            rejections_of_others(&mut bare),
            "other plugins see reservations"
        );
        let expectations = expectations(test_cluster, test_pod);
        let is_free = |one: &Expectation| {
            one.own.is_none() && one.rejections.iter().all(|rejection| rejection.plugin != OURS)
        };
        // For a pod that fits no node, reservations may still change the result of preemption.
        if expectations.iter().all(is_free) && expected.is_ok() {
            assert_eq!(expected, decide(&mut bare), "nothing is in the way of {}", pod.key);
            assert_eq!(scored(&mut complete, &pod, now, registry), scored(&mut bare, &pod, now, registry));
            if test_cluster.test_pods[test_pod].neighbours != NeighbourPreference::None
                && !test_cluster.test_reservations.is_empty()
            {
                test_cluster.covered.insert("minds its neighbours, not reservations");
            }
        }
    }
}

/// The decision of a fresh cluster: the node and the seat, or the message.
fn decision(cluster: &mut Cluster, pod: &Pod, now: Timestamp, registry: &Registry) -> Result<String, String> {
    match schedule(pod, &cluster.snapshot(now), registry) {
        Decision::Place { node, claims } => Ok(format!("{node} {:?}", claims.seat())),
        Decision::NoFit(no_fit) => Err(no_fit.message()),
        other => panic!("{other:?}"),
    }
}

/// The scores of all plugins but ours for the feasible nodes.
fn scored(cluster: &mut Cluster, pod: &Pod, now: Timestamp, registry: &Registry) -> Vec<PluginScores> {
    let snapshot = cluster.snapshot(now);
    let context = snapshot.context(pod);
    let diagnosis = diagnose(&context, &snapshot, registry, Depth::All).unwrap();
    let feasible: Vec<_> = diagnosis.feasible().collect();
    let mut all = scores(&context, &snapshot, registry, &feasible).unwrap();
    all.retain(|one| one.plugin != OURS);
    all
}

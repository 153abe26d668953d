//! The three scoring strategies, with any resources.

use super::super::NodeResourcesFit;
use super::super::score::score;
use super::super::shares::{ScoredResource, Weights};
use crate::config::{NodeResourcesFitArgs, ResourceWeight, ScoringStrategy, ShapePoint};
use crate::framework::SCORE_MAX;
use crate::model::{ResourceName, Resources};
use crate::testing::{NodeBuilder, PodBuilder, cluster_builder, node, pod, scores};
use proptest::prelude::*;
use serde_json::json;

fn shape(points: &[(i32, i32)]) -> ScoringStrategy {
    let point = |(utilization, score): &(i32, i32)| ShapePoint { utilization: *utilization, score: *score };
    ScoringStrategy::RequestedToCapacityRatio(points.iter().map(point).collect())
}

fn weights(resources: &[(&str, i64)]) -> Vec<ResourceWeight> {
    resources
        .iter()
        .map(|(name, weight)| ResourceWeight { name: (*name).to_owned(), weight: *weight })
        .collect()
}

fn scored(
    strategy: &ScoringStrategy,
    resources: &[(&str, i64)],
    node: NodeBuilder,
    there: &[PodBuilder],
    pod: &PodBuilder,
) -> i64 {
    let args = NodeResourcesFitArgs {
        strategy: strategy.clone(),
        resources: weights(resources),
        ..NodeResourcesFitArgs::default()
    };
    let world = there.iter().fold(cluster_builder().node(node), |world, pod| world.pod(pod.clone()));
    scores(&NodeResourcesFit::new(&args), world, pod)[0]
}

const USUAL: [(&str, i64); 2] = [("cpu", 1), ("memory", 1)];

/// Of four cpus and 16 Gi one cpu and 8 Gi are used; the pod wants another cpu and nothing else.
#[test]
fn each_strategy_has_its_own_idea() {
    let there = [pod("a").cpu("1").memory("8Gi").on("n1")];
    let asks = pod("p").cpu("1").memory("0");
    let on = |strategy: &ScoringStrategy, resources: &[(&str, i64)]| {
        scored(strategy, resources, node("n1"), &there, &asks)
    };
    let (least, most) = (ScoringStrategy::LeastAllocated, ScoringStrategy::MostAllocated);
    assert_eq!(on(&least, &USUAL), 50);
    assert_eq!(on(&most, &USUAL), 50);
    let rising = shape(&[(0, 0), (100, 10)]);
    assert_eq!(on(&rising, &USUAL), 50);
    let three = pod("p").cpu("2").memory("0");
    let on = |strategy: &ScoringStrategy, resources: &[(&str, i64)]| {
        scored(strategy, resources, node("n1"), &there, &three)
    };
    assert_eq!(on(&least, &USUAL), (25 + 50) / 2);
    assert_eq!(on(&most, &USUAL), (75 + 50) / 2);
    assert_eq!(on(&rising, &USUAL), 63, "62.5 is rounded up");
    assert_eq!(on(&least, &[("cpu", 3), ("memory", 1)]), (3 * 25 + 50) / 4);
    assert_eq!(on(&most, &[("cpu", 3), ("memory", 1)]), (3 * 75 + 50) / 4);
    assert_eq!(on(&rising, &[("cpu", 3), ("memory", 1)]), 69, "68.75 is rounded up");
    assert_eq!(on(&shape(&[(0, 10), (100, 0)]), &USUAL), 38, "37.5 is rounded up");
    assert_eq!(on(&shape(&[(0, 0), (75, 0), (100, 10)]), &USUAL), 0, "nothing scores");
    assert_eq!(on(&shape(&[(50, 0), (75, 10)]), &USUAL), 100, "what scores nothing does not count");
    assert_eq!(on(&shape(&[(60, 3)]), &USUAL), 30, "a single point is a level line");
    assert_eq!(on(&shape(&[(80, 3), (90, 7)]), &USUAL), 30, "before the first point");
    assert_eq!(on(&shape(&[(10, 3), (20, 7)]), &USUAL), 70, "after the last point");
    assert_eq!(on(&shape(&[(0, 0), (70, 1), (100, 10)]), &[("cpu", 1)]), 25, "10 + 90 * 5 / 30");
}

#[test]
fn too_much_is_full() {
    let asks = pod("p").cpu("9").memory("0");
    let on = |strategy: &ScoringStrategy| scored(strategy, &USUAL, node("n1"), &[], &asks);
    assert_eq!(on(&ScoringStrategy::LeastAllocated), 50);
    assert_eq!(on(&ScoringStrategy::MostAllocated), 50);
    assert_eq!(on(&shape(&[(0, 0), (100, 10)])), 100);
}

#[test]
fn any_resource_can_count() {
    let gpus = || node("n1").has("example.com/gpu", "8").has("ephemeral-storage", "100");
    let there = [pod("a").asks("example.com/gpu", "2").asks("ephemeral-storage", "10").on("n1")];
    let most = |resources: &[(&str, i64)], pod: PodBuilder| {
        scored(&ScoringStrategy::MostAllocated, resources, gpus(), &there, &pod)
    };
    let gpu = [("example.com/gpu", 1)];
    assert_eq!(most(&gpu, pod("p").asks("example.com/gpu", "2")), 50);
    assert_eq!(most(&gpu, pod("p")), 0, "who wants none is not scored by it");
    assert_eq!(most(&gpu, pod("p").asks("example.com/gpu", "0")), 0);
    let both = [("example.com/gpu", 2), ("cpu", 1)];
    assert_eq!(most(&both, pod("p").asks("example.com/gpu", "2").cpu("0")), (2 * 50 + 2) / 3);
    assert_eq!(most(&both, pod("p").cpu("4")), 100);
    let storage = [("ephemeral-storage", 1)];
    assert_eq!(most(&storage, pod("p").asks("ephemeral-storage", "30")), 40);
    assert_eq!(most(&storage, pod("p")), 10, "what is no scalar counts in any case");
    assert_eq!(most(&[("example.com/none", 1)], pod("p").asks("example.com/none", "2")), 0);
    assert_eq!(most(&[("foo", 1)], pod("p").asks("foo", "2")), 0, "a word that means nothing");
    assert_eq!(most(&[("pods", 1)], pod("p")), 0, "slots are not found by this name");
    let with_slots = [("pods", 5), ("cpu", 1)];
    assert_eq!(most(&with_slots, pod("p").cpu("4")), 100);
}

/// As in kube-scheduler, this score ignores pod-level requests.
#[test]
fn pod_level_requests_do_not_count() {
    let huge = [("hugepages-2Mi", 1), ("cpu", 1)];
    let test_cluster = || node("n1").has("hugepages-2Mi", "8Mi");
    let most = |pod: &PodBuilder| scored(&ScoringStrategy::MostAllocated, &huge, test_cluster(), &[], pod);
    let whole = pod("p").with("/spec/resources/requests", json!({ "hugepages-2Mi": "4Mi", "cpu": "4" }));
    assert_eq!(whole.build().spec.requests.incoming.cpu, 4000);
    assert_eq!(most(&whole), 2, "100m of four cpus");
    assert_eq!(most(&whole.cpu("2").asks("hugepages-2Mi", "2Mi")), (25 + 52) / 2 - 1, "25 and 50");
}

proptest! {
    #[test]
    fn a_score_is_a_score(
        values in prop::collection::vec((any::<i64>(), any::<i64>(), any::<i64>(), any::<i64>()), 1..5),
        points in prop::collection::vec((0..=100_i32, 0..=10_i32), 1..4),
        kind in 0..3,
    ) {
        let strategy = match kind {
            0 => ScoringStrategy::LeastAllocated,
            1 => ScoringStrategy::MostAllocated,
            _ => shape(&points),
        };
        let share = |(allocatable, used, asks, weight): &(i64, i64, i64, i64)| {
            let names = weights(&[("cpu", (*weight).max(1))]);
            let scored: Vec<ScoredResource> = Weights::new(&names).for_pod(|_| *asks);
            let mut has = Resources::default();
            has.set(ResourceName::Cpu, *allocatable);
            scored.first().and_then(|one| one.share(&has, *used))
        };
        let score = score(&strategy, values.iter().filter_map(share));
        prop_assert!((0..=SCORE_MAX).contains(&score), "{score}");
    }

    /// With numbers that do not overflow, the formula is that of kube-scheduler.
    #[test]
    fn sane_numbers_are_upstreams(
        allocatable in 1..1_i64 << 40, used in 0..1_i64 << 40, asks in 0..1_i64 << 40, fit in any::<bool>(),
    ) {
        let (used, asks) = if fit { (used % allocatable, asks % allocatable) } else { (used, asks) };
        let names = weights(&[("memory", 1)]);
        let mut has = Resources::default();
        has.set(ResourceName::Memory, allocatable);
        let shares = || Weights::new(&names).for_pod(|_| asks).into_iter().filter_map(|one| one.share(&has, used));
        let requested = used + asks;
        let least = if requested > allocatable { 0 } else { (allocatable - requested) * 100 / allocatable };
        let most = requested.min(allocatable) * 100 / allocatable;
        prop_assert_eq!(score(&ScoringStrategy::LeastAllocated, shares()), least);
        prop_assert_eq!(score(&ScoringStrategy::MostAllocated, shares()), most);
        prop_assert_eq!(score(&shape(&[(0, 0), (100, 10)]), shares()), most);
    }
}

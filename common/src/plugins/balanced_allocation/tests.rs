//! NodeResourcesBalancedAllocation: a table of cases, and numbers of any size.

use super::BalancedAllocation;
use super::score::score;
use crate::config::{BalancedAllocationArgs, ResourceWeight};
use crate::framework::SCORE_MAX;
use crate::model::{ResourceName, Resources};
use crate::plugins::node_resources::shares::{ResourceShare, Weights};
use crate::testing::{NodeBuilder, PodBuilder, cluster_builder, node, pod, raw_and_scores};
use proptest::prelude::*;
use serde_json::json;

fn plugin(resources: &[&str]) -> BalancedAllocation {
    BalancedAllocation::new(&BalancedAllocationArgs { resources: weights(resources) })
}

fn weights(resources: &[&str]) -> Vec<ResourceWeight> {
    resources.iter().map(|name| ResourceWeight { name: (*name).to_owned(), weight: 1 }).collect()
}

fn scored(
    plugin: &BalancedAllocation,
    node: NodeBuilder,
    there: &[PodBuilder],
    pod: &PodBuilder,
) -> Option<i64> {
    let world = there.iter().fold(cluster_builder().node(node), |world, pod| world.pod(pod.clone()));
    let (raw, normalised) = raw_and_scores(plugin, world, pod)?;
    assert_eq!(raw, normalised);
    Some(raw[0])
}

/// The node has four cpus and 16 Gi.
#[test]
fn evening_out_is_good() {
    let usual = plugin(&["cpu", "memory"]);
    let table = [
        ("even before and after", pod("a"), pod("p").cpu("1").memory("4Gi"), 75),
        ("worse: 1/4 and 0", pod("a"), pod("p").cpu("1"), 50 + (50 + 87 - 100) / 2),
        ("worst: 1 and 0", pod("a"), pod("p").cpu("4"), 50),
        ("better", pod("a").cpu("4"), pod("p").memory("16Gi"), 100),
        ("half as bad", pod("a").cpu("2"), pod("p").memory("4Gi"), 50 + (50 + 87 - 75) / 2),
        ("over the top is full", pod("a").cpu("9"), pod("p").memory("16Gi"), 100),
        ("an odd difference is cut", pod("a"), pod("p").cpu("100m"), 50 + (50 + 98 - 100) / 2),
        (
            "real requests count, not a little of everything",
            pod("a"),
            pod("p").memory("1Gi"),
            50 + (50 + 96 - 100) / 2,
        ),
    ];
    for (name, there, asks, expected) in table {
        assert_eq!(scored(&usual, node("n1"), &[there.on("n1")], &asks), Some(expected), "{name}");
    }
}

#[test]
fn who_asks_for_nothing_is_not_scored() {
    let usual = plugin(&["cpu", "memory"]);
    assert_eq!(scored(&usual, node("n1"), &[], &pod("p")), None);
    assert_eq!(scored(&usual, node("n1"), &[], &pod("p").cpu("0").memory("0")), None);
    assert_eq!(scored(&usual, node("n1"), &[], &pod("p").asks("example.com/gpu", "1")), None);
    assert_eq!(scored(&plugin(&["pods"]), node("n1"), &[], &pod("p").cpu("1")), None);
    let gpu = plugin(&["cpu", "example.com/gpu"]);
    assert_eq!(scored(&gpu, node("n1"), &[], &pod("p").asks("example.com/gpu", "1")), Some(75));
}

#[test]
fn three_resources_deviate_from_their_mean() {
    let three = plugin(&["cpu", "memory", "example.com/gpu"]);
    let gpus = || node("n1").has("example.com/gpu", "4");
    let gpu = |count: &str| pod("p").asks("example.com/gpu", count);
    // Fractions 0, 0 and 1: a deviation of 0.4714, so 52 of 100.
    assert_eq!(scored(&three, gpus(), &[], &gpu("4")), Some(50 + (50 + 52 - 100) / 2));
    // 1/4, 1/4, 1/4.
    assert_eq!(scored(&three, gpus(), &[], &gpu("1").cpu("1").memory("4Gi")), Some(75));
    // Two of the three count, since the pod wants no gpu: 1/4 and 0.
    let beside = [pod("a").asks("example.com/gpu", "3").on("n1")];
    assert_eq!(scored(&three, gpus(), &beside, &pod("p").cpu("1")), Some(50 + (50 + 87 - 100) / 2));
    assert_eq!(scored(&three, node("n1"), &[], &gpu("1").cpu("1")), Some(68), "a node without gpus");
    assert_eq!(
        scored(&plugin(&["cpu"]), node("n1"), &[], &pod("p").cpu("1")),
        Some(75),
        "one is always even"
    );
}

#[test]
fn pod_level_requests_and_overhead_count() {
    let usual = plugin(&["cpu", "memory"]);
    let whole = pod("p").with("/spec/resources/requests", json!({ "cpu": "4" }));
    assert_eq!(scored(&usual, node("n1"), &[], &whole), Some(50));
    let overhead = pod("p").with("/spec/overhead", json!({ "cpu": "4" }));
    assert_eq!(scored(&usual, node("n1"), &[], &overhead), Some(50));
}

proptest! {
    #[test]
    fn a_score_is_a_score(
        values in prop::collection::vec((any::<i64>(), any::<i64>(), any::<i64>()), 0..5),
    ) {
        let names = weights(&["cpu"]);
        let share = |(allocatable, used, asks): &(i64, i64, i64)| {
            let mut has = Resources::default();
            has.set(ResourceName::Cpu, *allocatable);
            Weights::new(&names).for_pod(|_| *asks).first().and_then(|one| one.share(&has, *used))
        };
        let shares: Vec<ResourceShare> = values.iter().filter_map(share).collect();
        let score = score(shares.into_iter());
        prop_assert!((0..=SCORE_MAX).contains(&score), "{score}");
    }

    #[test]
    fn sane_numbers_stay_in_the_upper_half(
        values in prop::collection::vec((1..i64::MAX, 0..i64::MAX, 0..i64::MAX), 0..5),
    ) {
        let names = weights(&["cpu"]);
        let share = |(allocatable, used, asks): &(i64, i64, i64)| {
            let mut has = Resources::default();
            has.set(ResourceName::Cpu, *allocatable);
            Weights::new(&names).for_pod(|_| *asks).first().and_then(|one| one.share(&has, *used))
        };
        let shares: Vec<ResourceShare> = values.iter().filter_map(share).collect();
        let score = score(shares.into_iter());
        prop_assert!((SCORE_MAX / 2..=SCORE_MAX).contains(&score), "{score}");
    }
}

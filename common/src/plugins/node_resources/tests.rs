//! NodeResourcesFit: a table of cases for each extension point.

mod strategies;

use super::NodeResourcesFit;
use crate::config::NodeResourcesFitArgs;
use crate::framework::{Numbers, Reason};
use crate::model::ResourceName;
use crate::testing::{
    NodeBuilder, PodBuilder, cluster_builder, node, pod, reasons, rejections, reservation, scores,
};
use serde_json::json;

fn said(node: NodeBuilder, there: &[PodBuilder], pod: &PodBuilder) -> Vec<String> {
    let world = there.iter().fold(cluster_builder().node(node), |world, pod| world.pod(pod.clone()));
    reasons(&NodeResourcesFit::default(), world, pod)
}

#[test]
fn what_is_left_must_be_enough() {
    let there = [pod("a").cpu("3").memory("15Gi").on("n1")];
    let gpus =
        || node("n1").has("nvidia.com/gpu", "2").has("hugepages-2Mi", "4Mi").has("ephemeral-storage", "1Gi");
    let table = [
        (pod("p"), vec![]),
        (pod("p").cpu("1").memory("1Gi"), vec![]),
        (pod("p").cpu("1001m"), vec!["Insufficient cpu"]),
        (pod("p").cpu("1.0001"), vec!["Insufficient cpu"]),
        (pod("p").memory("1025Mi"), vec!["Insufficient memory"]),
        (pod("p").cpu("2").memory("2Gi"), vec!["Insufficient cpu", "Insufficient memory"]),
        (pod("p").asks("ephemeral-storage", "2Gi"), vec!["Insufficient ephemeral-storage"]),
        (pod("p").asks("nvidia.com/gpu", "2"), vec![]),
        (pod("p").asks("nvidia.com/gpu", "3"), vec!["Insufficient nvidia.com/gpu"]),
        (pod("p").asks("hugepages-2Mi", "6Mi"), vec!["Insufficient hugepages-2Mi"]),
        (pod("p").asks("example.com/unheard-of", "1"), vec!["Insufficient example.com/unheard-of"]),
        (pod("p").asks("foo", "1"), vec![]),
        (pod("p").cpu("0").memory("0"), vec![]),
        (pod("p").cpu("10e99"), vec!["Insufficient cpu"]),
    ];
    for (pod, expected) in table {
        assert_eq!(said(gpus(), &there, &pod), expected, "{:?}", pod.build().spec.requests.incoming);
    }
}

#[test]
fn pods_are_counted_too() {
    let there = [pod("a").on("n1"), pod("b").on("n1").phase("Succeeded"), pod("c")];
    assert_eq!(said(node("n1").pods(2), &there, &pod("p")), [""; 0]);
    assert_eq!(said(node("n1").pods(1), &there, &pod("p")), ["Too many pods"]);
    assert_eq!(said(node("n1").pods(1), &there, &pod("p").cpu("5")), ["Too many pods", "Insufficient cpu"]);
    assert_eq!(said(node("n1").pods(0), &[], &pod("p")), ["Too many pods"], "a node without slots");
}

#[test]
fn who_asks_for_nothing_fits_a_node_that_is_too_full() {
    let there = [pod("a").cpu("9").memory("99Gi").on("n1")];
    assert_eq!(said(node("n1"), &there, &pod("p")), [""; 0]);
    assert_eq!(said(node("n1"), &there, &pod("p").cpu("1m")), ["Insufficient cpu"]);
}

#[test]
fn preemption_cannot_help_a_pod_that_is_larger_than_the_node() {
    let beyond_help = |pod: &PodBuilder| {
        let full = cluster_builder().node(node("n1").pods(1)).pod(crate::testing::pod("a").cpu("3").on("n1"));
        let rejected = rejections(&NodeResourcesFit::default(), full, pod);
        rejected.iter().map(|one| one.reason.is_unresolvable()).collect::<Vec<_>>()
    };
    assert_eq!(beyond_help(&pod("p")), [false], "too many pods");
    assert_eq!(beyond_help(&pod("p").cpu("4")), [false, false]);
    assert_eq!(beyond_help(&pod("p").cpu("4001m")), [false, true]);
}

#[test]
fn a_refusal_comes_with_its_numbers() {
    let test_cluster = cluster_builder().node(node("n1")).pod(pod("a").cpu("3").on("n1"));
    let rejected = rejections(&NodeResourcesFit::default(), test_cluster, &pod("p").cpu("2500m"));
    let numbers = Numbers { asks: 2500, allocatable: 4000, used: 3000, reserved: 0 };
    assert_eq!((numbers.free(), numbers.short()), (1000, 1500));
    let reason = Reason::Insufficient { resource: ResourceName::Cpu, numbers, blocked_by: Box::default() };
    assert_eq!(rejected[0].reason, reason);
}

#[test]
fn reservations_are_none_of_its_business() {
    let kept = reservation(&crate::testing::deployment("web")).cpu("4");
    assert_eq!(said(node("n1").reserves(kept), &[], &pod("p").cpu("4")), [""; 0]);
}

#[test]
fn amounts_that_cannot_be_read_let_nobody_in() {
    let unreadable = "node(s) had amounts that cannot be read";
    assert_eq!(said(node("n1").cpu("x"), &[], &pod("p")), [unreadable]);
    let beside = [pod("a").cpu("x").on("n1")];
    assert_eq!(said(node("n1"), &beside, &pod("p").cpu("1m")), ["Insufficient cpu"]);
    assert_eq!(said(node("n1"), &[], &pod("p").cpu("x")), ["Insufficient cpu", "Insufficient memory"]);
}

/// kube-scheduler 1.37 was run with the first case: 98. cpu: (4000 - 100) * 100 / 4000 = 97, memory:
/// (16384 - 100) * 100 / 16384 = 99, and their mean is 98.
#[test]
fn emptier_is_better_in_upstreams_numbers() {
    let score = |node: NodeBuilder, there: &[PodBuilder], pod: &PodBuilder| {
        let world = there.iter().fold(cluster_builder().node(node), |world, pod| world.pod(pod.clone()));
        scores(&NodeResourcesFit::default(), world, pod)[0]
    };
    let small = pod("p").cpu("100m").memory("100Mi");
    assert_eq!(score(node("n1"), &[], &small), 98);
    let half = [pod("a").cpu("2").memory("8Gi").on("n1")];
    assert_eq!(score(node("n1"), &half, &small), (47 + 49) / 2);
    // A pod without requests counts as 100m and 200Mi: 97 and 98.
    assert_eq!(score(node("n1"), &[], &pod("p")), 97);
    assert_eq!(score(node("n1"), &[pod("a").on("n1")], &pod("p")), 96);
    let exact_zero = pod("p").cpu("0").memory("0");
    assert_eq!(score(node("n1"), &[], &exact_zero), 100, "nothing said is not the same as none");
    assert_eq!(score(node("n1"), &[], &pod("p").cpu("5").memory("8Gi")), 25, "over the top is none left");
    assert_eq!(
        score(node("n1").cpu("0"), &[], &pod("p").memory("8Gi")),
        50,
        "what a node has none of is left out"
    );
    assert_eq!(score(node("n1").cpu("0").memory("0"), &[], &pod("p")), 0);
    let two = pod("p").with("/spec/containers", json!([{ "name": "a" }, { "name": "b" }]));
    assert_eq!(score(node("n1"), &[], &two), 96, "two containers that ask for nothing: 95 and 97");
    let all_of_it = node("n1").cpu("10e99").memory("10e99");
    assert_eq!(score(all_of_it, &[], &small), 99, "no overflow");
}

#[test]
fn what_is_ignored_is_for_others_to_look_after() {
    let asks = || {
        pod("p")
            .asks("example.com/a", "1")
            .asks("example.com/b", "1")
            .asks("other.org/a", "1")
            .asks("hugepages-2Mi", "2Mi")
            .asks("sub.kubernetes.io/a", "1")
    };
    let table: [(&[&str], &[&str], &[&str]); 7] = [
        (
            &[],
            &[],
            &["example.com/a", "example.com/b", "hugepages-2Mi", "other.org/a", "sub.kubernetes.io/a"],
        ),
        (&["example.com/a"], &[], &["example.com/b", "hugepages-2Mi", "other.org/a", "sub.kubernetes.io/a"]),
        (&[], &["example.com"], &["hugepages-2Mi", "other.org/a", "sub.kubernetes.io/a"]),
        (&["other.org/a"], &["example.com"], &["hugepages-2Mi", "sub.kubernetes.io/a"]),
        (
            &["hugepages-2Mi", "sub.kubernetes.io/a", "cpu"],
            &["sub.kubernetes.io", "hugepages-2Mi", ""],
            &["example.com/a", "example.com/b", "hugepages-2Mi", "other.org/a", "sub.kubernetes.io/a"],
        ),
        (
            &["example.com"],
            &["example"],
            &["example.com/a", "example.com/b", "hugepages-2Mi", "other.org/a", "sub.kubernetes.io/a"],
        ),
        (&["pods", "memory"], &["example.com", "other.org"], &["hugepages-2Mi", "sub.kubernetes.io/a"]),
    ];
    for (names, groups, short) in table {
        let args = NodeResourcesFitArgs {
            ignored_resources: names.iter().map(ToString::to_string).collect(),
            ignored_resource_groups: groups.iter().map(ToString::to_string).collect(),
            ..NodeResourcesFitArgs::default()
        };
        let found = reasons(&NodeResourcesFit::new(&args), cluster_builder().node(node("n1")), &asks());
        let expected: Vec<String> = short.iter().map(|name| format!("Insufficient {name}")).collect();
        assert_eq!(found, expected, "{names:?} {groups:?}");
    }
}

#[test]
fn nothing_is_too_much_for_a_node_without_anything() {
    let bare = || node("n1").cpu("0").memory("0");
    let zeros = pod("p").cpu("0").memory("0").asks("ephemeral-storage", "0").asks("example.com/a", "0");
    assert_eq!(said(bare(), &[], &zeros), [""; 0], "none of something is not some of it");
    assert_eq!(said(bare(), &[], &zeros.cpu("1m")), ["Insufficient cpu"]);
}

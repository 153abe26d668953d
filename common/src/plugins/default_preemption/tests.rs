//! DefaultPreemption: the victims, the nominated node, the message.

use crate::cycle::{Decision, NoFit, schedule, schedule_by_scan};
use crate::framework::{Filter, NodeFilter, Plugin, Reason, Registry, Verdict, ledger_filter};
use crate::plugins::{default_registry, without_reservations};
use crate::testing::{
    ClusterBuilder, PodBuilder, at, budget, cluster_builder, deployment, node, now, pod, reservation,
};
use serde_json::json;

mod messages;
mod reserved;

/// The result for a pod that fits no node; the same for both searches.
fn no_fit_with(test_cluster: ClusterBuilder, pod: &PodBuilder, registry: &Registry) -> NoFit {
    let (mut cluster, pod) = (test_cluster.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    let decision = schedule(&pod, &snapshot, registry);
    assert_eq!(decision, schedule_by_scan(&pod, &snapshot, registry));
    match decision {
        Decision::NoFit(no_fit) => *no_fit,
        other => panic!("{other:?}"),
    }
}

fn no_fit(test_cluster: ClusterBuilder, pod: &PodBuilder) -> NoFit {
    no_fit_with(test_cluster, pod, &default_registry())
}

/// Each candidate as `node: victims (violations)`, the nominated one with a star.
fn candidates(test_cluster: ClusterBuilder, pod: &PodBuilder) -> Vec<String> {
    let result = no_fit(test_cluster, pod).post_filter;
    let nominated = result.nominated.as_ref().map(|victims| victims.node.clone());
    let show = |victims: &crate::framework::NodeVictims| {
        let star = if Some(&victims.node) == nominated.as_ref() { "*" } else { "" };
        let names: Vec<&str> = victims.pods.iter().map(|pod| &*pod.key.name).collect();
        format!("{star}{}: {} ({})", victims.node, names.join(" "), victims.violations)
    };
    result.candidates.iter().map(show).collect()
}

fn on(name: &str, node: &str, priority: i32, cpu: &str) -> PodBuilder {
    pod(name).on(node).priority(priority).cpu(cpu)
}

fn started(pod: PodBuilder, seconds: i64) -> PodBuilder {
    pod.with("/status/startTime", json!(at(seconds).to_string()))
}

fn labelled(pod: PodBuilder, value: &str) -> PodBuilder {
    pod.with("/metadata/labels", json!({ "app": value }))
}

fn preemptor(cpu: &str) -> PodBuilder {
    pod("p").priority(10).cpu(cpu)
}

#[test]
fn only_as_many_go_as_must_and_the_least_important_first() {
    let test_cluster = || {
        cluster_builder()
            .node(node("n1"))
            .pod(on("low", "n1", 0, "1"))
            .pod(on("middle", "n1", 5, "1"))
            .pod(on("high", "n1", 9, "1"))
            .pod(on("equal", "n1", 10, "1"))
    };
    let table = [("1", "*n1: low (0)"), ("2", "*n1: middle low (0)"), ("3", "*n1: high middle low (0)")];
    for (cpu, expected) in table {
        assert_eq!(candidates(test_cluster(), &preemptor(cpu)), [expected], "{cpu}");
    }
    assert_eq!(candidates(test_cluster(), &preemptor("4")), [""; 0], "its equals stay");
}

#[test]
fn a_large_unimportant_pod_can_save_several() {
    let test_cluster = cluster_builder()
        .node(node("n1"))
        .pod(on("a", "n1", 5, "1"))
        .pod(on("b", "n1", 5, "1"))
        .pod(on("c", "n1", 0, "2"));
    assert_eq!(candidates(test_cluster, &preemptor("2")), ["*n1: c (0)"]);
}

#[test]
fn of_equals_who_has_run_for_longer_stays_and_who_has_not_started_goes() {
    let test_cluster = || {
        cluster_builder()
            .node(node("n1"))
            .pod(on("new", "n1", 0, "1"))
            .pod(started(on("young", "n1", 0, "1"), -10))
            .pod(started(on("old", "n1", 0, "1"), -90))
            .pod(on("newer", "n1", 0, "1"))
    };
    assert_eq!(candidates(test_cluster(), &preemptor("1")), ["*n1: newer (0)"]);
    assert_eq!(candidates(test_cluster(), &preemptor("2")), ["*n1: new newer (0)"]);
    assert_eq!(candidates(test_cluster(), &preemptor("4")), ["*n1: old young new newer (0)"]);
}

#[test]
fn budgets_protect_whom_they_can() {
    let test_cluster = || {
        cluster_builder()
            .node(node("n1"))
            .pod(labelled(on("a", "n1", 0, "2"), "kept"))
            .pod(labelled(on("b", "n1", 5, "2"), "free"))
    };
    let kept = budget("kept").selector([("app", "kept")]);
    assert_eq!(candidates(test_cluster(), &preemptor("2")), ["*n1: a (0)"]);
    assert_eq!(candidates(test_cluster().with(kept.clone().allows(0)), &preemptor("2")), ["*n1: b (0)"]);
    assert_eq!(candidates(test_cluster().with(kept.clone().allows(1)), &preemptor("2")), ["*n1: a (0)"]);
    assert_eq!(candidates(test_cluster().with(kept.clone().allows(0)), &preemptor("4")), ["*n1: b a (1)"]);
    let other = kept.clone().allows(0).namespace("elsewhere");
    assert_eq!(
        candidates(test_cluster().with(other), &preemptor("2")),
        ["*n1: a (0)"],
        "of another namespace"
    );
    let gone = kept.allows(0).set("/status/disruptedPods", json!({ "a": "2026-01-31T12:00:00Z" }));
    assert_eq!(candidates(test_cluster().with(gone), &preemptor("2")), ["*n1: a (0)"], "on its way already");
    let all = budget("all").set("/spec/selector", json!({})).allows(0);
    assert_eq!(
        candidates(test_cluster().with(all), &preemptor("2")),
        ["*n1: a (0)"],
        "an empty one protects nobody"
    );
}

#[test]
fn a_budget_is_used_up_by_the_most_important_first() {
    let pods = ["a", "b", "c"].into_iter().zip([1, 2, 3]);
    let test_cluster = pods.fold(cluster_builder().node(node("n1").cpu("3")), |world, (name, priority)| {
        world.pod(labelled(on(name, "n1", priority, "1"), "x"))
    });
    let two = budget("two").selector([("app", "x")]).allows(2);
    // All three are removed at first: c and b are within the budget, a is not, and so a is added back first.
    assert_eq!(candidates(test_cluster.clone().with(two.clone()), &preemptor("1")), ["*n1: b (0)"]);
    assert_eq!(candidates(test_cluster.with(two), &preemptor("3")), ["*n1: c b a (1)"]);
}

#[test]
fn nodes_are_ranked_as_upstream_ranks_them() {
    let test_cluster = |n1: &[PodBuilder], n2: &[PodBuilder]| {
        let all = n1.iter().chain(n2).cloned();
        let test_cluster =
            cluster_builder().node(node("n1")).node(node("n2")).with(budget("b").selector([("app", "x")]));
        all.fold(test_cluster, |world, pod| world.pod(pod))
    };
    let one = |name: &str, node: &str, priority| on(name, node, priority, "4");
    let half = |name: &str, node: &str, priority| on(name, node, priority, "2");
    let table = [
        ("fewer budgets", vec![labelled(one("a", "n1", 0), "x")], vec![one("b", "n2", 9)]),
        ("a lower highest priority", vec![one("a", "n1", 5)], vec![half("b", "n2", 4), half("c", "n2", 4)]),
        (
            "a lower sum",
            vec![half("a", "n1", 4), half("b", "n1", 4)],
            vec![half("c", "n2", 4), half("d", "n2", 3)],
        ),
        (
            "fewer victims by their sum",
            vec![half("a", "n1", -4), half("b", "n1", -4)],
            vec![one("c", "n2", -4)],
        ),
        ("a later start", vec![started(one("a", "n1", 1), -9)], vec![started(one("b", "n2", 1), -8)]),
        ("not started is latest", vec![started(one("a", "n1", 1), -9)], vec![one("b", "n2", 1)]),
        (
            "the earliest of the highest counts",
            vec![started(half("a", "n1", 1), -9), started(half("b", "n1", 1), -1)],
            vec![started(half("c", "n2", 1), -8), started(half("d", "n2", 1), -8)],
        ),
    ];
    for (why, n1, n2) in table {
        let nominated = no_fit(test_cluster(&n1, &n2), &preemptor("4")).post_filter.nominated.unwrap();
        assert_eq!(nominated.node.as_str(), "n2", "{why}");
    }
    let equal = test_cluster(&[one("a", "n1", 1)], &[one("b", "n2", 1)]);
    assert_eq!(candidates(equal, &preemptor("4")), ["*n1: a (0)", "n2: b (0)"], "ties go to the first");
}

#[test]
fn nodes_that_nobody_could_make_room_on_are_not_tried() {
    let test_cluster = cluster_builder()
        .node(node("cordoned").cordoned())
        .node(node("small").cpu("1"))
        .node(node("taken"))
        .node(node("will-do"))
        .pod(on("a", "cordoned", 0, "4"))
        .pod(on("b", "small", 0, "1"))
        .pod(on("c", "taken", 10, "3"))
        .pod(on("d", "will-do", 0, "4"));
    assert_eq!(candidates(test_cluster, &preemptor("2")), ["*will-do: d (0)"]);
}

#[test]
fn pods_nominated_to_the_node_keep_their_room() {
    let nominated =
        |priority| pod("x").cpu("2").priority(priority).with("/status/nominatedNodeName", json!("n1"));
    let test_cluster =
        || cluster_builder().node(node("n1")).pod(on("a", "n1", 0, "2")).pod(on("b", "n1", 1, "2"));
    assert_eq!(candidates(test_cluster().pod(nominated(9)), &preemptor("2")), ["*n1: a (0)"]);
    assert_eq!(candidates(test_cluster().pod(nominated(10)), &preemptor("2")), ["*n1: b a (0)"]);
    assert_eq!(candidates(test_cluster().pod(nominated(10)), &preemptor("3")), [""; 0]);
}

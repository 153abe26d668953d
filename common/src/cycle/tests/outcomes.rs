//! Decisions when PreFilter plugins exclude nodes, when plugins fail, and when Reserve rejects.

use super::test_plugins::{Broken, FixedAdmission, only, rejects, with_rejecting_reserve};
use crate::cycle::{Decision, schedule, schedule_by_scan};
use crate::framework::{Admission, Registry};
use crate::testing::{cluster_builder, node, now, pod};

fn decide(registry: &Registry) -> Decision {
    let mut cluster = cluster_builder()
        .node(node("a"))
        .node(node("b").cordoned())
        .node(node("c"))
        .pod(pod("x").on("a"))
        .cluster();
    let (snapshot, pod) = (cluster.snapshot(now()), pod("p").cpu("1").build());
    let decision = schedule(&pod, &snapshot, registry);
    assert_eq!(decision, schedule_by_scan(&pod, &snapshot, registry));
    decision
}

fn message(registry: &Registry) -> String {
    match decide(registry) {
        Decision::NoFit(no_fit) => no_fit.message(),
        other => panic!("{other:?}"),
    }
}

/// A registry with the filter NodeUnschedulable only.
fn registry() -> Registry {
    let mut registry = crate::plugins::without_reservations();
    registry.filters.retain(|plugin| plugin.name() == "NodeUnschedulable");
    registry.pre_filters.clear();
    registry.post_filters.clear();
    registry
}

#[test]
fn only_the_nodes_that_come_into_question_are_looked_at() {
    let placed = |node: &str| Decision::Place { node: node.into(), claims: None.into() };
    assert_eq!(decide(&registry().pre_filter(only("One", &["b", "c"]))), placed("c"));
    let both = registry().pre_filter(only("One", &["a", "c"])).pre_filter(only("Two", &["a", "b"]));
    assert_eq!(decide(&both), placed("a"));
    assert_eq!(
        message(&registry().pre_filter(only("Two", &["b"])).pre_filter(only("One", &["b", "x"]))),
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't satisfy plugin(s) [One Two]."
    );
    assert_eq!(
        message(&registry().pre_filter(only("One", &["ghost"]))),
        "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [One]."
    );
}

#[test]
fn a_node_that_the_pod_was_nominated_to_is_looked_at_even_if_it_is_left_out() {
    let registry = registry().pre_filter(only("One", &["ghost"]));
    let mut cluster = cluster_builder().node(node("a")).node(node("b").cordoned()).cluster();
    let said = |decision| match decision {
        Decision::NoFit(no_fit) => no_fit.message(),
        Decision::Place { node, .. } => node.to_string(),
        other => panic!("{other:?}"),
    };
    let mut decide = |nominated_node: &str| {
        let pod = pod("p").nominated(nominated_node).build();
        said(schedule(&pod, &cluster.snapshot(now()), &registry))
    };
    assert_eq!(decide("a"), "a");
    assert_eq!(
        decide("b"),
        "0/2 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeUnschedulable One], 1 node(s) were unschedulable."
    );
}

#[test]
fn plugins_that_leave_no_node_are_named() {
    let apart = registry().pre_filter(only("Two", &["a"])).pre_filter(only("One", &["b"]));
    assert_eq!(
        message(&apart),
        "0/3 nodes are available: node(s) didn't satisfy plugin(s) [One Two] simultaneously."
    );
    let none = registry().pre_filter(only("One", &[]));
    assert_eq!(message(&none), "0/3 nodes are available: node(s) didn't satisfy plugin One.");
}

#[test]
fn what_holds_for_every_node_is_said_once() {
    let (soft, hard) = (|| rejects("Soft", "not now", false), || rejects("Hard", "never", true));
    assert_eq!(message(&registry().pre_filter(soft())), "0/3 nodes are available: not now.");
    let both = registry().pre_filter(soft()).pre_filter(hard()).pre_filter(only("One", &[]));
    assert_eq!(message(&both), "0/3 nodes are available: never.", "what cannot be helped ends it");
    let twice = registry().pre_filter(soft()).pre_filter(rejects("Other", "nor now", false));
    assert_eq!(message(&twice), "0/3 nodes are available: not now.", "the first is told");
}

#[test]
fn whoever_cannot_say_fails_the_decision() {
    let lost = FixedAdmission("Lost", Admission::Fails("no answer".into()));
    let expected = "running PreFilter plugin \"Lost\": no answer";
    assert_eq!(failure(&registry().pre_filter(lost)), expected);
    let expected = "running \"Broken\" filter plugin: out of order";
    assert_eq!(failure(&registry().filter(Broken)), expected);
}

fn failure(registry: &Registry) -> String {
    let decision = decide(registry);
    let Decision::Failed(error) = decision else { panic!("{decision:?}") };
    error.to_string()
}

#[test]
fn whoever_has_nothing_left_at_the_end_says_so_of_one_node() {
    assert_eq!(message(&with_rejecting_reserve(registry())), "0/1 nodes are available: 1 all is gone.");
}

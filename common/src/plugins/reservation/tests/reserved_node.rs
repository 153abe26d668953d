//! Which pod waits for which reserved node.

use super::{replica, set, web};
use crate::framework::{Admission, ReservedNode};
use crate::model::owner::OwnerKind;
use crate::model::reservation::Placement;
use crate::plugins::reservation::ReservationPlugin;
use crate::testing::{
    ClusterBuilder, PodBuilder, admission, at, cluster_builder, node, now, pod, reservation, uid, workload,
};
use serde_json::json;

/// The replaced pod on n1; its grace period ends after 30 seconds.
fn old() -> PodBuilder {
    let ends = at(30).to_string();
    replica("old").cpu("4").on("n1").with("/metadata/deletionTimestamp", json!(ends))
}

fn test_cluster(placement: Placement) -> ClusterBuilder {
    let kept = reservation(&web()).cpu("4").replaces(&old().build());
    let kept = kept.record(|record| record.placement = placement);
    cluster_builder().workload(&web()).workload(&set()).node(node("n1").reserves(kept)).node(node("n2"))
}

fn kept_back(world: ClusterBuilder, pod: &PodBuilder) -> Option<ReservedNode> {
    match admission(&ReservationPlugin, world, pod) {
        Admission::ReservedNode(reserved_node) => Some(reserved_node),
        Admission::All => None,
        other => panic!("{other:?}"),
    }
}

fn created(pod: PodBuilder, seconds: i64) -> PodBuilder {
    pod.with("/metadata/creationTimestamp", json!(at(seconds).to_string()))
}

#[test]
fn only_the_owners_pod_waits_and_only_while_the_other_leaves() {
    let new = replica("new").cpu("4");
    let until = Some(at(90));
    let reserved_node =
        ReservedNode { node: "n1".into(), after: Some(uid("old")), is_required: false, until };
    let leaving = |placement| test_cluster(placement).pod(old());
    assert_eq!(kept_back(leaving(Placement::Wait), &new), Some(reserved_node));
    assert_eq!(kept_back(leaving(Placement::Wait), &pod("stranger")), None);
    assert_eq!(kept_back(leaving(Placement::Prefer), &new), None);
    assert_eq!(kept_back(test_cluster(Placement::Wait), &new), None, "the room is empty: it just goes there");
    let staying = replica("old").cpu("4").on("n1");
    assert_eq!(kept_back(test_cluster(Placement::Wait).pod(staying), &new), None);
    let over = old().with("/metadata/deletionTimestamp", json!(at(-60).to_string()));
    assert_eq!(
        kept_back(test_cluster(Placement::Wait).pod(over), &new),
        None,
        "it has had its grace and a minute: {}",
        now()
    );
}

#[test]
fn require_keeps_a_pod_back_whatever_happens() {
    let new = replica("new").cpu("4");
    let reserved_node =
        |after| Some(ReservedNode { node: "n1".into(), after, is_required: true, until: None });
    assert_eq!(kept_back(test_cluster(Placement::Require).pod(old()), &new), reserved_node(Some(uid("old"))));
    assert_eq!(kept_back(test_cluster(Placement::Require), &new), reserved_node(None));
}

#[test]
fn a_reservation_keeps_back_the_first_pod_in_the_order_of_the_queue() {
    let new = || created(replica("new").cpu("4"), 5);
    let table = [
        (created(replica("b"), 1), false),
        (created(replica("b"), 9), true),
        (created(replica("b"), 9).priority(1), false),
        (created(replica("b"), 1).scheduler("other"), true),
        (created(replica("b"), 1).on("n2"), true),
        (created(replica("b"), 1).terminating(), true),
        (created(replica("b"), 1).with("/spec/schedulingGates", json!([{ "name": "g" }])), true),
        (created(pod("b"), 1), true),
        (created(replica("a"), 5), false),
    ];
    for (rival, expected) in table {
        let shown = format!("{:?}", rival.build().key);
        let world = test_cluster(Placement::Wait).pod(old()).pod(rival).pod(new());
        assert_eq!(kept_back(world, &new()).is_some(), expected, "{shown}");
    }
}

#[test]
fn a_stateful_sets_pod_waits_for_the_place_of_its_name() {
    let set = workload(OwnerKind::StatefulSet, "db");
    let old = || {
        let pod = pod("db-0").uid("old").owned_by(&set).cpu("4").on("n1");
        pod.with("/metadata/deletionTimestamp", json!(at(30).to_string()))
    };
    let kept = || reservation(&set).replaces(&old().build()).record(|one| one.placement = Placement::Wait);
    let test_cluster = || {
        cluster_builder()
            .workload(&set)
            .node(node("n1").reserves(kept()))
            .pod(old().with("/metadata/name", json!("db-0")))
    };
    let other = pod("db-1").owned_by(&set);
    assert_eq!(kept_back(test_cluster(), &other), None);
}

//! Nominated pods: pods for which others were preempted, and which are not bound yet.

use super::test_plugins::{ALONE, COMPANY, SHY};
use crate::cluster::{Assumption, Change, Event, WatchEvent};
use crate::cycle::{Decision, message, schedule, schedule_by_scan};
use crate::framework::Registry;
use crate::model::Pod;
use crate::plugins::default_registry;
use crate::testing::{ClusterBuilder, PodBuilder, cluster_builder, node, now, pod};

/// The node that the pod goes to, or the message; the same for both searches.
fn decision(test_cluster: ClusterBuilder, pod: &Pod, registry: &Registry) -> String {
    let mut cluster = test_cluster.cluster();
    let snapshot = cluster.snapshot(now());
    let decision = schedule(pod, &snapshot, registry);
    assert_eq!(decision, schedule_by_scan(pod, &snapshot, registry));
    match decision {
        Decision::Place { node, .. } => node.to_string(),
        Decision::NoFit(no_fit) => message(&no_fit.diagnosis),
        other => panic!("{other:?}"),
    }
}

fn decided(test_cluster: ClusterBuilder, pod: &PodBuilder) -> String {
    decision(test_cluster, &pod.build(), &default_registry())
}

#[test]
fn room_that_is_made_for_a_pod_is_kept_for_it_from_all_that_are_not_more_important() {
    let test_cluster = |priority: i32| {
        cluster_builder().node(node("n1")).pod(pod("x").cpu("3").priority(priority).nominated("n1"))
    };
    let no_room = "0/1 nodes are available: 1 Insufficient cpu.";
    for (theirs, ours, expected) in [(10, 0, no_room), (10, 10, no_room), (10, 11, "n1"), (0, 0, no_room)] {
        let asks = pod("p").cpu("2").priority(ours);
        assert_eq!(decided(test_cluster(theirs), &asks), expected, "{ours} meets {theirs}");
    }
    assert_eq!(decided(test_cluster(10), &pod("p").cpu("1")), "n1", "there is room for both");
}

#[test]
fn several_of_them_count_together_and_elsewhere_they_do_not() {
    let test_cluster = cluster_builder()
        .node(node("n1").cpu("8"))
        .node(node("n2"))
        .pod(pod("x").cpu("3").priority(5).nominated("n1"))
        .pod(pod("y").cpu("3").priority(5).nominated("n1"))
        .pod(pod("z").cpu("3").priority(-1).nominated("n1"));
    assert_eq!(decided(test_cluster.clone(), &pod("p").cpu("3")), "n2");
    assert_eq!(
        decided(test_cluster.clone(), &pod("p").cpu("5")),
        "0/2 nodes are available: 2 Insufficient cpu.",
        "it is too much for the one and the other"
    );
    assert_eq!(decided(test_cluster, &pod("p").cpu("5").priority(6)), "n1");
}

#[test]
fn a_pod_has_to_fit_with_them_and_without_them() {
    let test_cluster = || cluster_builder().node(node("n1")).pod(pod("x").priority(5).nominated("n1"));
    let with = |filter| decision(test_cluster(), &pod("p").build(), &Registry::default().filter(filter));
    assert_eq!(with(COMPANY), "0/1 nodes are available: 1 company.", "it may never come");
    assert_eq!(with(ALONE), "0/1 nodes are available: 1 alone.", "it may come");
    let more = pod("p").priority(6).build();
    assert_eq!(
        decision(test_cluster(), &more, &Registry::default().filter(ALONE)),
        "n1",
        "it does not matter"
    );
}

#[test]
fn a_filter_that_had_nothing_to_say_is_not_asked_about_what_may_come() {
    let test_cluster = || cluster_builder().node(node("n1")).pod(pod("x").priority(5).nominated("n1"));
    let registry = || Registry::default().filter(SHY);
    assert_eq!(decision(test_cluster(), &pod("p").build(), &registry()), "n1");
    let busy = test_cluster().node(node("n2")).pod(pod("y").on("n2"));
    let expected = "0/2 nodes are available: 2 shy.";
    assert_eq!(decision(busy, &pod("p").build(), &registry()), expected, "now it has, everywhere");
}

#[test]
fn a_nominated_pod_goes_where_room_was_made_for_it_if_it_can() {
    let test_cluster = || cluster_builder().node(node("n1").cpu("64")).node(node("n2"));
    assert_eq!(decided(test_cluster(), &pod("p").cpu("1")), "n1");
    assert_eq!(decided(test_cluster(), &pod("p").cpu("1").nominated("n2")), "n2");
    assert_eq!(decided(test_cluster(), &pod("p").cpu("1").nominated("n9")), "n1", "there is no such node");
    assert_eq!(decided(test_cluster(), &pod("p").cpu("5").nominated("n2")), "n1", "it does not fit there");
    let itself = pod("p").cpu("3").nominated("n2");
    assert_eq!(
        decided(test_cluster().pod(itself.clone()), &itself),
        "n2",
        "it does not stand in its own way"
    );
    let rival = pod("x").cpu("3").priority(1).nominated("n2");
    assert_eq!(decided(test_cluster().pod(rival), &itself), "n1", "a more important one was nominated too");
}

#[test]
fn who_has_found_another_place_no_longer_waits_for_this_one() {
    let waiting = pod("x").cpu("3").priority(5).nominated("n1").build();
    let mut cluster = cluster_builder().node(node("n1")).node(node("n2")).pod(waiting.clone()).cluster();
    let (registry, asks) = (default_registry(), pod("p").cpu("4").build());
    let mut place = |node: &str| {
        let assumed =
            Assumption { uid: waiting.uid.clone(), node: node.into(), claims: None.into(), since: now() };
        cluster.assume(&waiting.key, assumed);
        let found = schedule(&asks, &cluster.snapshot(now()), &registry);
        cluster.forget(&waiting.key, &waiting.uid);
        let again = schedule(&asks, &cluster.snapshot(now()), &registry);
        (found, again)
    };
    let at = |node: &str| Decision::Place { node: node.into(), claims: None.into() };
    assert_eq!(place("n2"), (at("n1"), at("n2")));
    assert_eq!(place("n1"), (at("n2"), at("n2")), "it is there, and then nominated again");
}

#[test]
fn a_nomination_can_come_later_go_elsewhere_and_be_taken_back() {
    let waiting = || pod("x").cpu("3").priority(5);
    let mut cluster = cluster_builder().node(node("n1")).node(node("n2")).pod(waiting()).cluster();
    let (registry, asks) = (default_registry(), pod("p").cpu("4").build());
    let mut learn = |seen: WatchEvent<Pod>| {
        let freed = |change: Change| match change {
            Change::Cluster(change) if change.event.to_string() == "AssignedPodDelete" => {
                change.node_name().map(ToString::to_string)
            }
            _ => None,
        };
        let changes: Vec<String> = cluster.apply(Event::Pods(seen)).into_iter().filter_map(freed).collect();
        let found = match schedule(&asks, &cluster.snapshot(now()), &registry) {
            Decision::Place { node, .. } => node.to_string(),
            other => panic!("{other:?}"),
        };
        (changes, found)
    };
    let freed = |node: &str| node.to_owned();
    let to = |node: &str, version| waiting().nominated(node).version(version).build();
    assert_eq!(learn(WatchEvent::Applied(to("n1", 2))), (vec![], "n2".into()));
    assert_eq!(learn(WatchEvent::Applied(to("n1", 3))), (vec![], "n2".into()), "said again");
    assert_eq!(learn(WatchEvent::Applied(to("n2", 4))), (vec![freed("n1")], "n1".into()));
    assert_eq!(learn(WatchEvent::Applied(to("n1", 5))), (vec![freed("n2")], "n2".into()));
    let none = waiting().version(6).build();
    assert_eq!(learn(WatchEvent::Applied(none)), (vec![freed("n1")], "n1".into()));
    assert_eq!(learn(WatchEvent::Applied(to("n1", 7))).1, "n2");
    let (changes, found) = learn(WatchEvent::Deleted(to("n1", 7)));
    assert_eq!((changes.first(), found.as_str()), (Some(&freed("n1")), "n1"));
}

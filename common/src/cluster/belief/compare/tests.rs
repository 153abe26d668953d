//! A comparison finds every error of the belief, and reports nothing else.

mod late_streams;

use super::{Comparison, Difference, DifferenceKind, ListedObjects, Listing};
use crate::cluster::{Assumption, Cluster, Event, WatchEvent};
use crate::model::{Node, Pod};
use crate::testing::{PodBuilder, at, cluster_builder, deployment, node, now, pod, replica_set, reservation};

/// A replica of the Deployment `web` on the node `n1`.
fn replica(name: &str) -> PodBuilder {
    pod(name).cpu("1").on("n1").owned_by(&replica_set("web-1").of(&deployment("web")))
}

/// The nodes of the API server.
fn nodes() -> Vec<Node> {
    let kept = reservation(&deployment("web")).cpu("1").build();
    vec![node("n1").version(3).reserves(kept).build(), node("n2").version(4).build()]
}

/// The pods of the API server.
fn pods() -> Vec<Pod> {
    vec![replica("a").version(5).build(), replica("b").version(6).build(), pod("waits").version(7).build()]
}

/// A belief that has seen all nodes and pods.
fn cluster() -> Cluster {
    let owners =
        cluster_builder().workload(&deployment("web")).workload(&replica_set("web-1").of(&deployment("web")));
    let builder = nodes().into_iter().fold(owners, |builder, node| builder.node(node));
    let mut cluster = pods().into_iter().fold(builder, |builder, pod| builder.pod(pod)).cluster();
    cluster.advance(now());
    cluster
}

fn listing() -> Listing {
    Listing {
        nodes: ListedObjects { objects: nodes(), version: 9 },
        pods: ListedObjects { objects: pods(), version: 9 },
    }
}

/// The differences, once the belief has seen everything up to the list.
fn compared(cluster: &mut Cluster, listing: Listing) -> Vec<Difference> {
    let mut comparison = Comparison::new(listing);
    if let Some(differences) = comparison.step(cluster) {
        return differences;
    }
    cluster.apply(Event::NodesUpTo(9));
    cluster.apply(Event::PodsUpTo(9));
    comparison.step(cluster).unwrap()
}

fn found(cluster: &mut Cluster) -> Vec<(DifferenceKind, String)> {
    compared(cluster, listing())
        .into_iter()
        .map(|difference| (difference.kind, difference.description))
        .collect()
}

fn only(cluster: &mut Cluster) -> (DifferenceKind, String) {
    let mut found = found(cluster);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn a_belief_that_is_right_is_equal_at_once_and_without_waiting_for_a_bookmark() {
    let cluster = cluster();
    assert_eq!(cluster.newest_versions(), (4, 7), "the list is newer than anything that was seen");
    assert_eq!(Comparison::new(listing()).step(&cluster), Some(Vec::new()));
}

#[test]
fn a_pod_that_the_belief_lost_is_found() {
    let mut cluster = cluster();
    cluster.apply(Event::Pods(WatchEvent::Deleted(replica("a").version(5).build())));
    let (kind, what) = only(&mut cluster);
    assert_eq!(kind, DifferenceKind::Pods);
    assert_eq!(what, "pod default/a: the API server has it, and the belief does not");
}

#[test]
fn a_pod_that_left_since_the_comparison_began_is_not_missed() {
    let mut cluster = cluster();
    cluster.begin_comparison();
    cluster.apply(Event::Pods(WatchEvent::Deleted(replica("a").version(10).build())));
    assert_eq!(found(&mut cluster), []);
    cluster.end_comparison();
    assert_eq!(found(&mut cluster).len(), 1, "the next comparison does not excuse it");
}

#[test]
fn a_pod_that_the_api_server_never_had_is_found_once_its_deletion_would_have_come() {
    let mut cluster = cluster();
    cluster.apply(Event::Pods(WatchEvent::Applied(replica("ghost").version(7).build())));
    let mut comparison = Comparison::new(listing());
    assert_eq!(comparison.step(&cluster), None, "its deletion may be on its way");
    cluster.apply(Event::PodsUpTo(8));
    assert_eq!(comparison.step(&cluster), None);
    cluster.apply(Event::PodsUpTo(9));
    let differences = comparison.step(&cluster).unwrap();
    let what: Vec<&str> = differences.iter().map(|difference| difference.description.as_str()).collect();
    assert_eq!(what, ["pod default/ghost: the belief has it, and the API server does not"]);
}

#[test]
fn a_node_of_another_version_content_or_uid_is_found() {
    let cases = [
        (node("n2").version(3), "node n2: the belief has version 3, and the API server has version 4"),
        (node("n2").version(4).cpu("5"), "node n2: the belief has this version with another content"),
        (node("n2").version(4).uid("other"), "node n2: the belief has another object of that name"),
    ];
    for (wrong, expected) in cases {
        let mut cluster = cluster();
        cluster.apply(Event::Nodes(WatchEvent::Deleted(node("n2").version(4).build())));
        cluster.apply(Event::Nodes(WatchEvent::Applied(wrong.build())));
        assert_eq!(only(&mut cluster), (DifferenceKind::Nodes, expected.to_owned()));
    }
}

#[test]
fn what_is_newer_than_the_list_is_not_compared() {
    let mut cluster = cluster();
    cluster.apply(Event::Nodes(WatchEvent::Applied(node("n2").version(10).cpu("5").build())));
    cluster.apply(Event::Nodes(WatchEvent::Applied(node("n3").version(11).build())));
    cluster.apply(Event::Pods(WatchEvent::Applied(replica("new").version(12).build())));
    assert_eq!(found(&mut cluster), []);
}

#[test]
fn what_only_we_know_is_no_difference() {
    let mut cluster = cluster();
    let waits = pod("waits").build();
    cluster.nominate_to(&waits.key, &waits.uid, Some("n2".into()));
    assert_eq!(found(&mut cluster), [], "nominated");
    let assumed = Assumption { uid: waits.uid.clone(), node: "n2".into(), claims: None.into(), since: now() };
    cluster.assume(&waits.key, assumed);
    let kept = reservation(&deployment("web")).seat("b").cpu("1").build();
    cluster.extend_locally(&"n1".into(), &reservation(&deployment("web")).id(), &"r".into(), at(900));
    cluster.reserve_locally(&"n1".into(), kept);
    assert_eq!(found(&mut cluster), [], "assumed, and about to be written");
}

#[test]
fn books_that_are_wrong_are_found() {
    type Break = (fn(&mut Cluster), &'static str);
    let breaks: [Break; 5] = [
        (|cluster| change(cluster, |ledger| ledger.used.cpu += 1), "node n1: the books have 2001m cpu"),
        (
            |cluster| change(cluster, |ledger| ledger.entries.clear()),
            "node n1: the books have the reservations []",
        ),
        (|cluster| change(cluster, |ledger| drop(ledger.pods.pop())), "do not count pods [default/b]"),
        (|cluster| cluster.reserved.clear(), "the list of nodes with reservations is not"),
        (
            |cluster| cluster.reservation_candidates.extend([replica("a").build().key]),
            "the list of pods that leave",
        ),
    ];
    for (wrong, expected) in breaks {
        let mut cluster = cluster();
        assert_eq!(found(&mut cluster), []);
        wrong(&mut cluster);
        let found = found(&mut cluster);
        assert!(found.iter().all(|(kind, _)| *kind == DifferenceKind::Ledgers), "{found:?}");
        assert!(found.iter().any(|(_, what)| what.contains(expected)), "{expected}: {found:?}");
    }
}

/// Changes the ledger of `n1` without updating the indexes.
fn change(cluster: &mut Cluster, change: impl FnOnce(&mut crate::cluster::Ledger)) {
    let id = cluster.nodes.id(&"n1".into()).unwrap();
    change(cluster.nodes.change(id).unwrap());
}

//! Counts by domain, while nodes change in every way.

use crate::cluster::{Cluster, Event, Ledger, PerDomain, WatchEvent};
use crate::model::Node;
use crate::model::ids::Text;
use crate::testing::{NodeBuilder, cluster_builder, node, now, pod};
use serde_json::json;

/// The number of pods on nodes that are not cordoned.
#[derive(Clone, Hash, PartialEq, Eq)]
struct PodCount(Text);

impl PerDomain for PodCount {
    fn key(&self) -> &Text {
        &self.0
    }

    fn read(&self, ledger: &Ledger) -> Option<u32> {
        (!ledger.node.unschedulable).then(|| u32::try_from(ledger.pods.len()).unwrap())
    }
}

fn in_zone(name: &str, zone: &str) -> NodeBuilder {
    node(name).with("/metadata/labels/zone", json!(zone))
}

/// The number of domains, the sum of all counts, the lowest count, the count of nodes without a zone, and the count of each node's
/// zone.
fn counted(cluster: &mut Cluster) -> (usize, i64, Option<i64>, i64, Vec<Option<i64>>) {
    let snapshot = cluster.snapshot(now());
    let counts = snapshot.counts(&PodCount("zone".into()));
    let each =
        snapshot.nodes().map(|ledger| counts.domain(ledger.id).map(|domain| counts.at(domain))).collect();
    (counts.len(), counts.total(), counts.lowest(), counts.unlabelled(), each)
}

fn apply(cluster: &mut Cluster, node: impl Into<Node>) {
    cluster.apply(Event::Nodes(WatchEvent::Applied(node.into())));
}

#[test]
fn counts_follow_the_nodes() {
    let test_cluster = cluster_builder()
        .node(in_zone("n1", "a"))
        .node(in_zone("n2", "a"))
        .node(in_zone("n3", "b"))
        .node(node("n4"));
    let pods = [("p1", "n1"), ("p2", "n2"), ("p3", "n2"), ("p4", "n4"), ("p5", "n3")];
    let mut cluster = pods
        .iter()
        .fold(test_cluster, |test_cluster, (name, on)| test_cluster.pod(pod(name).on(on)))
        .cluster();
    assert_eq!(counted(&mut cluster), (2, 4, Some(1), 1, vec![Some(3), Some(3), Some(1), None]));
    apply(&mut cluster, in_zone("n2", "b").version(2));
    assert_eq!(counted(&mut cluster), (2, 4, Some(1), 1, vec![Some(1), Some(3), Some(3), None]));
    apply(&mut cluster, in_zone("n4", "c").version(2));
    cluster.apply(Event::Pods(WatchEvent::Deleted(pod("p4").build())));
    assert_eq!(counted(&mut cluster), (3, 4, Some(0), 0, vec![Some(1), Some(3), Some(3), Some(0)]));
    apply(&mut cluster, in_zone("n4", "c").cordoned().version(3));
    assert_eq!(counted(&mut cluster), (2, 4, Some(1), 0, vec![Some(1), Some(3), Some(3), Some(0)]));
    cluster.apply(Event::Nodes(WatchEvent::Deleted(in_zone("n1", "a").build())));
    assert_eq!(counted(&mut cluster), (1, 3, Some(3), 0, vec![Some(3), Some(3), Some(0)]));
    apply(&mut cluster, in_zone("n5", "a"));
    apply(&mut cluster, in_zone("n1", "a"));
    assert_eq!(counted(&mut cluster).0, 2, "the pod is there again with its node");
    assert_eq!(counted(&mut cluster).4, [Some(1), Some(3), Some(3), Some(0), Some(1)]);
}

#[test]
fn values_that_no_node_has_any_more_are_cleared_out() {
    let test_cluster = cluster_builder()
        .node(in_zone("n1", "a"))
        .node(in_zone("n2", "b"))
        .pod(pod("p1").on("n1"))
        .pod(pod("p2").on("n2"));
    let mut cluster = test_cluster.cluster();
    for number in 2..3000 {
        apply(&mut cluster, in_zone("n1", &format!("z{number}")).version(number));
        assert_eq!(counted(&mut cluster), (2, 2, Some(1), 0, vec![Some(1), Some(1)]));
    }
    assert!(cluster.snapshot(now()).domains(&"zone".into()).len() < 1100);
}

#[test]
fn the_lowest_count_minds_what_is_supposed() {
    let test_cluster =
        cluster_builder().node(in_zone("n1", "a")).node(in_zone("n2", "b")).node(in_zone("n3", "c"));
    let pods = [("p1", "n1"), ("p2", "n2"), ("p3", "n2"), ("p4", "n3"), ("p5", "n3"), ("p6", "n3")];
    let mut cluster = pods
        .iter()
        .fold(test_cluster, |test_cluster, (name, on)| test_cluster.pod(pod(name).on(on)))
        .cluster();
    let snapshot = cluster.snapshot(now());
    let lowest = |node: &str, pods: usize| {
        let mut ledger = snapshot.ledger(snapshot.find(&node.into()).unwrap()).unwrap().clone();
        for known in ledger.pods.clone() {
            ledger.remove(&known.uid);
        }
        (0..pods).for_each(|number| ledger.add(pod(&format!("s{number}")).on(node).build().into()));
        let counts = snapshot.suppose(ledger).counts(&PodCount("zone".into()));
        (counts.lowest().unwrap(), counts.total())
    };
    let table = [
        ("n1", 0, (0, 5)),
        ("n1", 1, (1, 6)),
        ("n1", 2, (2, 7)),
        ("n1", 5, (2, 10)),
        ("n2", 0, (0, 4)),
        ("n2", 9, (1, 13)),
        ("n3", 0, (0, 3)),
        ("n3", 1, (1, 4)),
    ];
    for (node, pods, expected) in table {
        assert_eq!(lowest(node, pods), expected, "{node} with {pods}");
    }
}

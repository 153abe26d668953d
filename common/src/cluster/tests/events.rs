//! Events, the changes that they cause, and assumptions.

use super::{replica, test_cluster, web, web_set};
use crate::cluster::{Assumption, Change, Cluster, Event, WatchEvent};
use crate::model::ids::PodKey;
use crate::model::owner::OwnerKind;
use crate::model::{CatalogKind, Pod, ResourceName};
use crate::testing::{NodeBuilder, PodBuilder, at, cluster_builder, entry, node, now, pod, reservation, uid};
use std::slice;

fn applied(pod: &PodBuilder) -> Event {
    Event::Pods(WatchEvent::Applied(pod.build()))
}

fn applied_node(node: &NodeBuilder) -> Event {
    Event::Nodes(WatchEvent::Applied(node.build()))
}

fn key(name: &str) -> PodKey {
    PodKey::new("default", name)
}

/// The changes in short: the event and its node, or the variant.
fn short(changes: &[Change]) -> Vec<String> {
    let short = |change: &Change| match change {
        Change::Cluster(change) => {
            let node = change.node_name().map(|node| format!(" {node}"));
            format!("{}{}", change.event, node.unwrap_or_default())
        }
        other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
    };
    changes.iter().map(short).collect()
}

fn used(cluster: &mut Cluster) -> Vec<i64> {
    cluster.snapshot(now()).nodes().map(|ledger| ledger.used.get(&ResourceName::Cpu)).collect()
}

fn assume(cluster: &mut Cluster, pod: &Pod, node: &str) {
    let assumed = Assumption { uid: pod.uid.clone(), node: node.into(), claims: None.into(), since: now() };
    cluster.assume(&pod.key.clone(), assumed);
}

#[test]
fn a_pod_waits_settles_and_leaves() {
    let mut cluster = cluster_builder().node(node("n1")).cluster();
    let new = pod("p").cpu("1");
    assert_eq!(cluster.apply(applied(&new)), [Change::PodWaiting(key("p"))]);
    let bound = new.version(2).on("n1");
    assert_eq!(short(&cluster.apply(applied(&bound))), ["AssignedPodAdd n1", "PodNotWaiting"]);
    assert_eq!(used(&mut cluster), [1000]);
    let terminating = cluster.apply(applied(&bound.clone().version(3).terminating()));
    assert_eq!(short(&terminating), ["AssignedPodUpdate n1", "PodNotWaiting"]);
    assert_eq!(used(&mut cluster), [1000]);
    let gone = cluster.apply(Event::Pods(WatchEvent::Deleted(bound.version(4).build())));
    assert_eq!(short(&gone), ["AssignedPodDelete n1", "PodNotWaiting"]);
    assert_eq!((used(&mut cluster), cluster.pod(&key("p"))), (vec![0], None));
}

#[test]
fn a_pod_that_ends_frees_its_room() {
    let bound = pod("p").cpu("1").on("n1");
    let mut cluster = cluster_builder().node(node("n1")).pod(bound.clone()).cluster();
    assert_eq!(short(&cluster.apply(applied(&bound.version(2).phase("Failed")))), ["AssignedPodDelete n1"]);
    assert_eq!(used(&mut cluster), [0]);
}

#[test]
fn a_pod_that_shrinks_where_it_is_frees_room() {
    let bound = pod("p").cpu("3").on("n1");
    let mut cluster = cluster_builder().node(node("n1")).pod(bound.clone()).cluster();
    let shrunk = cluster.apply(applied(&bound.clone().version(2).cpu("1")));
    assert_eq!(short(&shrunk), ["AssignedPodUpdatePodScaleDown n1", "PodNotWaiting"]);
    assert_eq!(cluster.apply(applied(&bound.version(3).cpu("1"))), [Change::PodNotWaiting(key("p"))]);
    assert_eq!(used(&mut cluster), [1000]);
}

#[test]
fn the_same_name_with_another_uid_is_another_pod() {
    let old = pod("db-0").cpu("1").on("n1");
    let mut cluster = cluster_builder().node(node("n1")).pod(old.clone().version(9)).cluster();
    let new = pod("db-0").cpu("2").uid("db-0 again").version(10);
    let changes = cluster.apply(applied(&new));
    assert_eq!(short(&changes), ["AssignedPodDelete n1", "PodNotWaiting", "PodWaiting"]);
    assert_eq!(used(&mut cluster), [0]);
    assert_eq!(
        cluster.apply(Event::Pods(WatchEvent::Deleted(old.build()))),
        [],
        "the old one is gone already"
    );
    assert_eq!(cluster.pod(&key("db-0")).unwrap().uid, uid("db-0 again"));
}

#[test]
fn what_is_older_than_known_is_ignored() {
    let bound = pod("p").cpu("1").on("n1").version(5);
    let mut cluster = cluster_builder().node(node("n1").version(5)).pod(bound).cluster();
    assert_eq!(cluster.apply(applied(&pod("p").version(4))), []);
    assert_eq!(cluster.apply(applied_node(&node("n1").version(4).cpu("1"))), []);
    assert_eq!(used(&mut cluster), [1000]);
    assert_eq!(cluster.snapshot(now()).nodes().next().unwrap().node.allocatable.cpu, 4000);
    let newer = cluster.apply(applied_node(&node("n1").version(6).cpu("1")));
    assert_eq!(short(&newer), ["NodeUpdateNodeAllocatable n1"]);
}

#[test]
fn a_relist_finds_what_vanished_unseen() {
    let test_cluster =
        cluster_builder().node(node("n1")).node(node("n2")).pod(pod("a").cpu("1").on("n1")).pod(pod("b"));
    let mut cluster = test_cluster.cluster();
    let changes = cluster.apply(Event::Pods(WatchEvent::Relisted(vec![pod("b").build(), pod("c").build()])));
    assert_eq!(short(&changes), ["AssignedPodDelete n1", "PodNotWaiting", "PodWaiting"]);
    assert_eq!((used(&mut cluster), cluster.pod(&key("a"))), (vec![0, 0], None));
    let changes = cluster.apply(Event::Nodes(WatchEvent::Relisted(vec![node("n2").build()])));
    assert_eq!(short(&changes), ["NodeDelete n1"], "n2 is what it was");
}

#[test]
fn a_node_that_comes_back_under_its_name_is_another_node() {
    let kept = reservation(&web()).cpu("1");
    let mut cluster = cluster_builder().node(node("n1").version(9).reserves(kept)).cluster();
    let again = node("n1").uid("n1 again").version(10);
    assert_eq!(short(&cluster.apply(applied_node(&again))), ["ReservationsChanged", "NodeAdd n1"]);
    assert!(cluster.snapshot(now()).nodes().next().unwrap().entries.is_empty(), "it has no reservations");
    let late = Event::Nodes(WatchEvent::Deleted(node("n1").build()));
    assert_eq!(cluster.apply(late), [], "that the old one is gone says nothing about the new one");
    let gone = Event::Nodes(WatchEvent::Deleted(again.build()));
    assert_eq!(short(&cluster.apply(gone)), ["NodeDelete n1"]);
    assert!(cluster.snapshot(now()).is_empty());
}

#[test]
fn owners_come_and_go_in_the_books() {
    let kept = reservation(&web()).cpu("1");
    let mut cluster = test_cluster(&[kept]).pod(replica("web-2").scheduled_at(at(-1))).cluster();
    let taken = |cluster: &mut Cluster| entry(&cluster.snapshot(now())).taken_by.is_some();
    assert!(taken(&mut cluster));
    let set = OwnerKind::ReplicaSet;
    let gone = cluster.apply(Event::Workloads(set, WatchEvent::Deleted(web_set())));
    assert_eq!(short(&for_pods(gone)), ["ReservationUpdate n1"]);
    assert!(!taken(&mut cluster));
    cluster.apply(Event::Workloads(set, WatchEvent::Applied(web_set())));
    assert!(taken(&mut cluster));
    let mut other = web_set();
    other.uid = uid("other");
    cluster.apply(Event::Workloads(set, WatchEvent::Deleted(other)));
    assert!(taken(&mut cluster), "another one of that name");
    let mut orphan = web_set();
    (orphan.controller, orphan.resource_version) = (None, 0);
    cluster.apply(Event::Workloads(set, WatchEvent::Applied(orphan)));
    assert!(taken(&mut cluster), "older than known");
    cluster.apply(Event::Workloads(set, WatchEvent::Relisted(Vec::new())));
    assert!(!taken(&mut cluster));
}

#[test]
fn nothing_is_complete_before_every_kind_was_listed() {
    let mut lists: Vec<Event> =
        OwnerKind::ALL.map(|kind| Event::Workloads(kind, WatchEvent::Relisted(Vec::new()))).into();
    lists.extend(CatalogKind::ALL.map(|kind| match kind {
        CatalogKind::Service => Event::CatalogKindUnreadable(kind),
        _ => Event::CatalogObjects(kind, WatchEvent::Relisted(Vec::new())),
    }));
    lists.push(Event::Nodes(WatchEvent::Relisted(Vec::new())));
    lists.push(Event::Pods(WatchEvent::Relisted(Vec::new())));
    for last in 0..lists.len() {
        let mut cluster = Cluster::default();
        cluster.apply(applied(&pod("p")));
        cluster.apply(applied_node(&node("n")));
        cluster.apply(Event::Workloads(OwnerKind::Deployment, WatchEvent::Applied(web())));
        let others = lists.iter().enumerate().filter(|(index, _)| *index != last);
        others.for_each(|(_, list)| drop(cluster.apply(list.clone())));
        assert!(!cluster.is_complete(), "without {:?}", lists[last]);
        cluster.apply(lists[last].clone());
        assert!(cluster.is_complete());
    }
}

#[test]
fn an_assumed_pod_counts_where_it_is_going() {
    let waiting = pod("p").cpu("1");
    let mut cluster = cluster_builder().node(node("n1")).node(node("n2")).pod(waiting.clone()).cluster();
    assume(&mut cluster, &waiting.build(), "n2");
    assert_eq!((used(&mut cluster), cluster.is_assumed(&key("p"))), (vec![0, 1000], true));
    assert_eq!(cluster.apply(applied(&waiting.clone().version(2))), [], "what others say about it");
    assert_eq!(used(&mut cluster), [0, 1000], "it is not seen bound yet");
    let bound = waiting.version(3).on("n2");
    assert_eq!(cluster.apply(applied(&bound)), [Change::PodNotWaiting(key("p"))]);
    assert_eq!((used(&mut cluster), cluster.is_assumed(&key("p"))), (vec![0, 1000], false));
    assert_eq!(cluster.forget(&key("p"), &uid("p")), [], "confirmed meanwhile");
    assert_eq!(used(&mut cluster), [0, 1000]);
}

#[test]
fn a_pod_that_turns_up_elsewhere_frees_the_room_that_was_assumed() {
    let waiting = pod("p").cpu("1");
    let mut cluster = cluster_builder().node(node("n1")).node(node("n2")).pod(waiting.clone()).cluster();
    assume(&mut cluster, &waiting.build(), "n2");
    let changes = cluster.apply(applied(&waiting.version(2).on("n1")));
    assert_eq!(short(&changes), ["AssignedPodDelete n2", "AssignedPodAdd n1", "PodNotWaiting"]);
    assert_eq!(used(&mut cluster), [1000, 0]);
}

#[test]
fn an_assumption_is_taken_back_only_for_that_very_pod() {
    let waiting = pod("p").cpu("1");
    let mut cluster = cluster_builder().node(node("n1")).pod(waiting.clone()).cluster();
    assume(&mut cluster, &waiting.build(), "n1");
    assert_eq!(cluster.forget(&key("p"), &uid("another")), []);
    assert_eq!(cluster.forget(&key("q"), &uid("p")), []);
    assert_eq!(used(&mut cluster), [1000]);
    assert_eq!(short(&cluster.forget(&key("p"), &uid("p"))), ["AssignedPodDelete n1"]);
    assert_eq!((used(&mut cluster), cluster.is_assumed(&key("p"))), (vec![0], false));
}

#[test]
fn with_the_pod_goes_the_assumption() {
    let waiting = pod("p").cpu("1");
    let mut cluster = cluster_builder().node(node("n1")).pod(waiting.clone()).cluster();
    assume(&mut cluster, &waiting.build(), "n1");
    let changes = cluster.apply(applied(&pod("p").uid("another").version(2)));
    assert_eq!(
        short(&changes),
        ["UnscheduledPodDelete", "AssignedPodDelete n1", "PodNotWaiting", "PodWaiting"]
    );
    assert_eq!((used(&mut cluster), cluster.is_assumed(&key("p"))), (vec![0], false));
}

#[test]
fn assuming_takes_the_seat_at_once() {
    let kept = reservation(&web()).cpu("1");
    let waiting = pod("web-2").cpu("1").owned_by(&web_set());
    let mut cluster = test_cluster(slice::from_ref(&kept)).pod(waiting.clone()).cluster();
    let seat = Some(kept.id());
    let assumed =
        Assumption { uid: waiting.build().uid, node: "n1".into(), claims: seat.into(), since: now() };
    cluster.assume(&key("web-2"), assumed);
    let state = |cluster: &mut Cluster| entry(&cluster.snapshot(now())).state.as_str();
    assert_eq!((state(&mut cluster), used(&mut cluster)), ("Taken", vec![1000]));
    cluster.apply(applied(&waiting.on("n1").version(2).stamp(&kept.id())));
    assert_eq!((state(&mut cluster), used(&mut cluster)), ("Taken", vec![1000]), "the stamp says the same");
}

#[test]
fn the_next_expiry_is_the_earliest_to_come() {
    let kept = |seat: &str, seconds| reservation(&web()).seat(seat).expires(at(seconds));
    let nodes = node("n1").reserves(kept("a", 10)).reserves(crate::testing::plain(&web().uid).cpu("1"));
    let cluster = cluster_builder().node(nodes).node(node("n2").reserves(kept("b", 5))).cluster();
    assert_eq!(cluster.next_expiry(now()), Some(at(5)));
    assert_eq!(cluster.next_expiry(at(4)), Some(at(5)));
    assert_eq!(cluster.next_expiry(at(5)), Some(at(10)), "what has ended is not to come");
    assert_eq!(cluster.next_expiry(at(10)), None);
}

#[test]
fn what_makes_no_difference_alters_nothing() {
    let n1 = node("n1").cpu("4");
    let waiting = pod("web-2").owned_by(&web_set());
    let expected = [Change::PodWaiting(waiting.build().key)];
    let mut cluster = cluster_builder().node(n1.clone()).pod(waiting).cluster();
    assert_eq!(cluster.apply(applied_node(&n1.clone().version(5))), [], "a kubelet's report");
    let cordoned = cluster.apply(applied_node(&n1.clone().version(6).cordoned()));
    assert_eq!(short(&cordoned), ["NodeUpdate n1"], "of no help to any pod");
    assert_eq!(short(&cluster.apply(applied_node(&n1.version(7)))), ["NodeUpdateNodeTaint n1"]);
    let mut set = web_set();
    let learn = |cluster: &mut Cluster, set: &crate::model::Workload| {
        cluster.apply(Event::Workloads(OwnerKind::ReplicaSet, WatchEvent::Applied(set.clone())))
    };
    assert_eq!(for_pods(learn(&mut cluster, &set)), expected);
    set.resource_version += 1;
    assert_eq!(learn(&mut cluster, &set), [], "a controller's status");
    set.controller = None;
    assert_eq!(for_pods(learn(&mut cluster, &set)), expected, "it was orphaned");
    set.desired_pods = Some(3);
    assert_eq!(learn(&mut cluster, &set), [Change::OwnerChanged(set.uid.clone())], "no pod can hope for it");
}

/// The changes that concern waiting pods.
fn for_pods(mut changes: Vec<Change>) -> Vec<Change> {
    changes.retain(|change| !matches!(change, Change::OwnerChanged(_)));
    changes
}

#[test]
fn an_owner_is_missing_until_it_was_read_or_cannot_be() {
    let mut cluster = cluster_builder().node(node("n1")).cluster();
    let web_pod = replica("web-1").build();
    assert!(cluster.is_owner_missing(&web_pod));
    let learn = |cluster: &mut Cluster, owner: crate::model::Workload| {
        cluster.apply(Event::Workloads(owner.kind, WatchEvent::Applied(owner)));
    };
    learn(&mut cluster, web_set());
    assert!(cluster.is_owner_missing(&web_pod), "its ReplicaSet claims a Deployment");
    learn(&mut cluster, web());
    assert!(!cluster.is_owner_missing(&web_pod));
    assert!(!cluster.is_owner_missing(&pod("bare").build()));
    let mut cluster = cluster_builder().node(node("n1")).cluster();
    cluster.apply(Event::WorkloadsUnreadable(OwnerKind::ReplicaSet));
    assert!(!cluster.is_owner_missing(&web_pod), "there is nothing to wait for");
}

#[test]
fn a_kind_that_cannot_be_read_any_more_keeps_what_was_read() {
    let web_pod = replica("web-1").build();
    let mut cluster = test_cluster(&[]).cluster();
    cluster.apply(Event::WorkloadsUnreadable(OwnerKind::ReplicaSet));
    assert!(cluster.snapshot(now()).context(&web_pod).is_owned_by(&web().uid));
}

#[test]
fn what_was_seen_last_is_known_by_its_version() {
    let mut cluster = Cluster::default();
    cluster.apply(Event::Nodes(WatchEvent::Relisted(vec![
        node("n1").version(7).build(),
        node("n2").version(5).build(),
    ])));
    cluster.apply(applied(&pod("p").version(9)));
    cluster.apply(applied(&pod("p").version(8)));
    assert_eq!(cluster.newest_versions(), (7, 9));
    cluster.apply(Event::Pods(WatchEvent::Deleted(pod("p").version(11).build())));
    assert_eq!(cluster.newest_versions(), (7, 11), "a deletion is news too");
    assert!(cluster.replicas().is_empty() && !cluster.is_complete());
}

#[test]
fn reservations_that_come_change_and_go_are_told() {
    let mut cluster = Cluster::default();
    let changes_reservations = |cluster: &mut Cluster, node: &NodeBuilder| {
        cluster.apply(applied_node(node)).contains(&Change::ReservationsChanged("n1".into()))
    };
    assert!(!changes_reservations(&mut cluster, &node("n1")));
    let reserved = node("n1").version(2).reserves(reservation(&web()));
    assert!(changes_reservations(&mut cluster, &reserved));
    assert!(!changes_reservations(&mut cluster, &reserved.version(3)));
    assert!(changes_reservations(&mut cluster, &node("n1").version(4)));
}

#[test]
fn news_of_an_earlier_pod_or_node_of_the_same_name_are_old_news() {
    let old = pod("db-0").uid("before").version(5).on("n1").cpu("1");
    let new = pod("db-0").uid("after").version(9);
    let mut cluster = cluster_builder().node(node("n1").version(8)).pod(new.clone()).cluster();
    let key = new.build().key;
    let assumed = Assumption { uid: new.build().uid, node: "n1".into(), claims: None.into(), since: now() };
    cluster.assume(&key, assumed);
    assert_eq!(cluster.apply(Event::Pods(WatchEvent::Applied(old.build()))), []);
    assert!(cluster.is_assumed(&key), "who was decided on stays so");
    let again = node("n1").uid("before").version(3).cpu("1").build();
    assert_eq!(cluster.apply(Event::Nodes(WatchEvent::Applied(again))), []);
}

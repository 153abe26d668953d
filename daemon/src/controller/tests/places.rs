//! Which of several reservations is released: those that are being released, those that are not written yet, those of pods without
//! a stamp.

use super::full;
use super::rules::{kept, put};
use super::test_cluster::{TestCluster, WriteFault, time};
use crate::effects::StoredNode;
use common::api::reservation::encode;
use common::model::reservation::{Origin, ReplacedPod, Seat};

#[test]
fn a_pod_without_a_stamp_does_not_get_a_second_place() {
    // Two pods of one owner on one node, both deleted; another scheduler binds one replacement.
    let mut test_cluster = TestCluster::new(&["n1"], 1, 2);
    let places = ["web-1", "web-2"].map(|_| test_cluster.create_pod(true, 0, None));
    for name in &places {
        test_cluster.bind_elsewhere(name, "n1");
    }
    test_cluster.run();
    places.iter().for_each(|name| test_cluster.delete(name, 0));
    test_cluster.run();
    assert_eq!(test_cluster.reservations().len(), 2, "whoever placed them");
    test_cluster.wait(1);
    let new = test_cluster.create_pod(true, 0, None);
    test_cluster.bind_elsewhere(&new, "n1");
    test_cluster.start_all();
    test_cluster.run();
    test_cluster.wait(100);
    assert_eq!(test_cluster.reservations().len(), 2, "released, the first would be the second's end");
    let other = test_cluster.create_pod(true, 0, None);
    test_cluster.bind_elsewhere(&other, "n1");
    test_cluster.start_all();
    test_cluster.run();
    test_cluster.wait(30);
    assert_eq!(test_cluster.reservations(), []);
}

#[test]
fn a_place_whose_release_is_under_way_is_no_reason_to_release_the_next_one() {
    // A pod without a stamp has taken the first reservation, and leaves while that is being released.
    let mut test_cluster = TestCluster::new(&["n1"], 1, 1);
    let first = test_cluster.create_pod(true, 0, None);
    test_cluster.bind_elsewhere(&first, "n1");
    test_cluster.run();
    test_cluster.delete(&first, 0);
    test_cluster.run();
    test_cluster.wait(2);
    let second = test_cluster.create_pod(true, 0, None);
    test_cluster.bind_elsewhere(&second, "n1");
    test_cluster.delete(&second, 30);
    test_cluster.run();
    assert_eq!(test_cluster.reservations().len(), 2, "the place of the second, and the one that it took");
    test_cluster.runs(&second);
    test_cluster.vanish(&second);
    test_cluster.run();
    let left: Vec<_> = test_cluster.reservations().into_iter().map(|(_, one)| one).collect();
    let [left] = &left[..] else { panic!("one place is kept for one pod: {left:?}") };
    assert_eq!(left.replaces().map(|replaced| &*replaced.name), Some(second.as_str()));
}

#[test]
fn pods_that_still_terminate_at_the_start_get_theirs() {
    let mut test_cluster = full();
    test_cluster.keep = None;
    test_cluster.send_workloads();
    test_cluster.delete("web-1", 300);
    test_cluster.run();
    assert_eq!(test_cluster.reservations(), []);
    test_cluster.keep = Some("true");
    test_cluster.crash(0);
    test_cluster.run();
    assert_eq!(test_cluster.reservations().len(), 1);
}

#[test]
fn a_node_that_comes_back_under_its_name_has_no_reservations() {
    let mut test_cluster = full();
    test_cluster.delete("web-1", 30);
    test_cluster.run();
    if let Some(server) = test_cluster.nodes.get_mut("n1") {
        *server = StoredNode { uid: "another".into(), ..StoredNode::new(&[]) };
    }
    test_cluster.send_node("n1");
    test_cluster.run();
    assert_eq!(test_cluster.events(), [("ReservationLost", "web")]);
}

/// Writes are forbidden when the pod vanishes; when they are allowed again, its replacement is there.
#[test]
fn a_place_that_was_taken_before_it_could_be_written_is_not_written() {
    let mut test_cluster = full();
    test_cluster.write_fault = WriteFault::Forbidden;
    test_cluster.delete("web-1", 0);
    test_cluster.vanish("web-1");
    test_cluster.reconcile();
    test_cluster.run();
    assert_eq!(test_cluster.places(), ["web-3 n1"], "the place was kept all the same");
    test_cluster.start_all();
    test_cluster.run();
    let version = |test_cluster: &TestCluster| test_cluster.nodes["n1"].version;
    let before = version(&test_cluster);
    test_cluster.write_fault = WriteFault::None;
    test_cluster.wait(120);
    assert_eq!((test_cluster.reservations(), version(&test_cluster)), (vec![], before));
}

/// A reservation that only the belief has can be lost with the daemon: it is never a reason to release one that a node has.
#[test]
fn a_place_that_is_not_written_yet_is_no_reason_to_release_one_that_is() {
    let mut written = kept();
    written.id.seat = Seat::parse("z");
    if let Origin::Recorded(record) = &mut written.origin {
        record.replaces = Some(ReplacedPod { name: "gone".into(), uid: "gone".into(), seat: None });
        (record.created, record.request) = (time(5), "cli-1".into());
    }
    let mut test_cluster = full();
    test_cluster.replicas = 2;
    test_cluster.send_workloads();
    test_cluster.write_fault = WriteFault::Forbidden;
    test_cluster.delete("web-1", 0);
    test_cluster.vanish("web-1");
    test_cluster.run();
    put(&mut test_cluster, &encode(&written).unwrap());
    let seats = |test_cluster: &TestCluster| {
        test_cluster.reservations().iter().map(|(_, one)| one.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(seats(&test_cluster), [written.id.clone()]);
    // By its creation time the written one, which is newer, would have to be released.
    test_cluster.replicas = 1;
    test_cluster.write_fault = WriteFault::None;
    test_cluster.send_workloads();
    test_cluster.run();
    test_cluster.wait(120);
    assert_eq!(seats(&test_cluster), [written.id]);
}

/// If the heir were released first, the seat would be held again, for a pod that has come long ago.
#[test]
fn an_heir_that_is_over_stays_until_its_seat_is_released() {
    let seat = |seat: &str, replaced: &str, before: Option<&str>, expires| {
        let mut one = kept();
        one.id.seat = Seat::parse(seat);
        if let Origin::Recorded(record) = &mut one.origin {
            let before = before.and_then(Seat::parse);
            record.replaces = Some(ReplacedPod { name: replaced.into(), uid: replaced.into(), seat: before });
            (record.expires, record.request) = (expires, "cli-1".into());
        }
        one
    };
    let mut test_cluster = full();
    let (first, heir) = (seat("z", "older", None, time(600)), seat("a", "old", Some("z"), time(1)));
    test_cluster.wait(10);
    test_cluster
        .nodes
        .get_mut("n1")
        .unwrap()
        .annotations
        .extend([encode(&first), encode(&heir)].map(Result::unwrap).concat());
    test_cluster.send_node("n1");
    let ids = |test_cluster: &TestCluster| {
        test_cluster.reservations().into_iter().map(|(_, one)| one.id).collect::<Vec<_>>()
    };
    let mut histories = vec![ids(&test_cluster)];
    while test_cluster.run_one() {
        histories.push(ids(&test_cluster));
    }
    histories.dedup();
    assert_eq!(histories, [vec![heir.id.clone(), first.id], vec![heir.id], vec![]]);
}

/// A pod without a controller is another owner each time it is created: only its name says for whom the reservations are.
#[test]
fn of_two_places_of_one_bare_pod_the_older_is_released() {
    let place = |seat: &str, uid: &str, name: &str, created| {
        let mut one = kept();
        (one.id.owner, one.id.seat) = (uid.into(), Seat::parse(seat));
        if let Origin::Recorded(record) = &mut one.origin {
            let owner = &mut record.owner;
            (owner.kind, owner.name, owner.uid) = ("Pod".into(), name.into(), uid.into());
            record.replaces = Some(ReplacedPod { name: name.into(), uid: uid.into(), seat: None });
            (record.created, record.expires, record.request) = (created, time(600), "cli-1".into());
        }
        one
    };
    let [first, second] = ["2c1f7a54-6d0e-4b7e-9a43-5f1c8e1b7d21", "2c1f7a54-6d0e-4b7e-9a43-5f1c8e1b7d22"];
    let (older, newer) = (place("a", first, "tool", time(1)), place("b", second, "tool", time(2)));
    let other = place("c", "2c1f7a54-6d0e-4b7e-9a43-5f1c8e1b7d23", "other", time(1));
    let mut test_cluster = TestCluster::new(&["n1"], 1, 0);
    test_cluster.wait(10);
    put(&mut test_cluster, &[encode(&older), encode(&newer), encode(&other)].map(Result::unwrap).concat());
    let mut left: Vec<_> = test_cluster.reservations().into_iter().map(|(_, one)| one.id).collect();
    left.sort();
    assert_eq!(left, [newer.id, other.id]);
}

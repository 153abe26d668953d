//! Single rules: expiry, events, what is never touched, and what replicas have to see before a release.

use super::full;
use super::test_cluster::{DEPLOYMENT, TestCluster, time};
use crate::state::Note;
use common::api::reservation::encode;
use common::api::workload::workload;
use common::cluster::{Event, WatchEvent};
use common::model::object::ObjectMeta;
use common::model::owner::Owner;
use common::model::reservation::{Origin, ReplacedPod, Seat};
use common::model::{OwnerKind, Replica, Reservation, ReservationId};
use serde_json::json;
use std::time::Duration;

pub(super) fn put(test_cluster: &mut TestCluster, annotations: &[(String, String)]) {
    if let Some(server) = test_cluster.nodes.get_mut("n1") {
        server.annotations.extend(annotations.iter().cloned());
    }
    test_cluster.send_node("n1");
    test_cluster.run();
}

pub(super) fn replica(seen: u64, seconds: u64) -> Replica {
    let meta = ObjectMeta {
        namespace: "kube-reserve".into(),
        name: "reserve-a".into(),
        uid: "a".into(),
        resource_version: seen,
        is_deleting: false,
    };
    Replica {
        meta,
        name: "a".into(),
        seen_nodes: seen,
        seen_pods: seen,
        schedulers: Box::default(),
        extends: Box::default(),
        renew_time: Some(time(seconds)),
        duration: Duration::from_secs(15),
        version: "1".into(),
        is_restricted: false,
    }
}

/// The reservation of a pod that is being deleted, as the controller writes it.
pub(super) fn kept() -> Reservation {
    let mut test_cluster = full();
    test_cluster.delete("web-1", 30);
    test_cluster.run();
    test_cluster.reservations().remove(0).1
}

#[test]
fn what_a_person_asked_for_lives_for_as_long_as_they_said() {
    let mut asked = kept();
    if let Origin::Recorded(record) = &mut asked.origin {
        (record.by, record.request, record.life) =
            ("jane".into(), "cli-1@1".into(), Some(Duration::from_secs(60)));
        record.expires = time(60);
    }
    let mut test_cluster = full();
    put(&mut test_cluster, &encode(&asked).unwrap());
    test_cluster.delete("web-1", 30);
    test_cluster.run();
    let [(_, kept)] = &test_cluster.reservations()[..] else { panic!("{:?}", test_cluster.reservations()) };
    assert_eq!(
        kept.expires(),
        Some(time(30 + 60 + 60)),
        "a minute from when the pod is gone, and one more ahead"
    );
}

#[test]
fn what_was_made_for_a_newer_version_of_the_pod_is_not_ours_to_judge() {
    let kept = encode(&kept()).unwrap();
    // Another replica wrote it; this one has not seen yet that the pod is being deleted.
    let mut test_cluster = full();
    put(&mut test_cluster, &kept);
    assert_eq!(test_cluster.reservations().len(), 1);
    test_cluster.wait(61);
    assert_eq!(test_cluster.reservations().len(), 1);
    test_cluster.send_pod("web-1");
    test_cluster.run();
    assert_eq!(test_cluster.reservations(), [], "it is newer now, and neither leaves nor wishes anything");
}

#[test]
fn two_places_for_a_pod_of_one_name_are_one_too_many() {
    const OWNER: &str = "4e1f7a54-6d0e-4b7e-9a43-5f1c8e1b7d20";
    let mut test_cluster = full();
    let set = json!({ "spec": { "replicas": 2 }, "metadata": {
        "name": "db", "namespace": "default", "uid": OWNER, "resourceVersion": "1" } });
    let set = workload(OwnerKind::StatefulSet, &set.to_string()).unwrap();
    test_cluster.learn(&Event::Workloads(OwnerKind::StatefulSet, WatchEvent::Applied(set)));
    let of = |seat: &str, name: &str, created| {
        let mut one = kept();
        one.id = ReservationId { owner: OWNER.into(), seat: Seat::parse(seat) };
        if let Origin::Recorded(record) = &mut one.origin {
            let (kind, namespace) = ("StatefulSet".into(), "default".into());
            record.owner = Owner { kind, namespace, name: "db".into(), uid: OWNER.into() };
            record.replaces = Some(ReplacedPod { name: name.into(), uid: seat.into(), seat: None });
            (record.created, record.request) = (time(created), "cli-1".into());
        }
        encode(&one).unwrap()
    };
    // The owner lacks both pods, so that by number alone all reservations would be needed.
    put(&mut test_cluster, &of("older", "db-0", 1));
    put(&mut test_cluster, &of("other", "db-1", 1));
    assert_eq!(test_cluster.reservations().len(), 2);
    put(&mut test_cluster, &of("newer", "db-0", 2));
    let seats: Vec<String> = test_cluster.reservations().iter().map(|(_, one)| one.id.to_string()).collect();
    assert_eq!(seats, [format!("{OWNER}.newer"), format!("{OWNER}.other")]);
}

#[test]
fn a_seat_is_not_released_before_the_one_that_was_passed_on_to_it() {
    let mut test_cluster = full();
    let seat = |kept: &Reservation, seat: &str, replaced: &str, before: Option<&str>| {
        let mut one = kept.clone();
        one.id.seat = Seat::parse(seat);
        if let Origin::Recorded(record) = &mut one.origin {
            let before = before.and_then(Seat::parse);
            record.replaces = Some(ReplacedPod { name: replaced.into(), uid: replaced.into(), seat: before });
        }
        one
    };
    let kept = kept();
    let (first, heir) = (seat(&kept, "z", "older", None), seat(&kept, "a", "old", Some("z")));
    if let Some(test_pod) = test_cluster.test_pods.get_mut("web-1") {
        test_pod.stamp = Some(heir.id.to_string());
    }
    test_cluster.send_pod("web-1");
    let both = [encode(&first).unwrap(), encode(&heir).unwrap()].concat();
    if let Some(server) = test_cluster.nodes.get_mut("n1") {
        server.annotations.extend(both);
    }
    test_cluster.send_node("n1");
    let mut left = vec![2];
    while test_cluster.run_one() {
        let ids: Vec<String> =
            test_cluster.reservations().iter().map(|(_, one)| one.id.to_string()).collect();
        assert!(ids.is_empty() || ids.contains(&heir.id.to_string()), "{ids:?}");
        left.push(ids.len());
    }
    assert!(left.contains(&1) && test_cluster.reservations().is_empty(), "{left:?}");
}

/// A drain reserves room on another node for each pod before it deletes the pod.
#[test]
fn a_place_on_another_node_is_kept_for_a_pod_that_is_yet_to_leave() {
    let reservation = encode(&kept()).unwrap();
    let mut test_cluster = TestCluster::new(&["n1", "n2"], 1, 1);
    test_cluster.reconcile();
    test_cluster.run();
    test_cluster.start_all();
    let place = test_cluster.places()[0].clone();
    let other = if place.ends_with("n1") { "n2" } else { "n1" };
    test_cluster.nodes.get_mut(other).unwrap().annotations.extend(reservation);
    test_cluster.send_node(other);
    test_cluster.run();
    test_cluster.wait(60);
    assert_eq!(test_cluster.reservations().len(), 1, "its owner lacks no pod yet");
    // It is deleted, and its owner wants no replacement.
    test_cluster.replicas = 0;
    test_cluster.keep = None;
    test_cluster.send_workloads();
    test_cluster.delete("web-1", 0);
    test_cluster.run();
    test_cluster.wait(30);
    assert_eq!(test_cluster.reservations(), []);
}

#[test]
fn it_is_counted_how_long_the_replicas_took_to_see_one() {
    let mut test_cluster = full();
    test_cluster.update_replica(replica(1, 0));
    test_cluster.delete("web-1", 300);
    test_cluster.run();
    let counted = |test_cluster: &mut TestCluster| {
        let is_counted = |note: &Note| matches!(note, Note::Acknowledged { .. });
        test_cluster.states[0].take_notes().into_iter().filter(is_counted).collect::<Vec<_>>()
    };
    assert_eq!(counted(&mut test_cluster), []);
    test_cluster.wait(3);
    test_cluster.update_replica(replica(10_000, 3));
    test_cluster.run();
    assert_eq!(counted(&mut test_cluster), [Note::Acknowledged { after_ms: 3000 }]);
    test_cluster.update_replica(replica(10_001, 3));
    test_cluster.run();
    assert_eq!(counted(&mut test_cluster), [], "once");
}

#[test]
fn a_pod_that_asks_for_what_it_cannot_have_is_told_why_once() {
    let mut test_cluster = full();
    test_cluster.states.iter_mut().for_each(|state| state.set_automatic_max(0));
    test_cluster.set_keep("web-1", Some("true"));
    test_cluster.send_pod("web-1");
    test_cluster.wait(60);
    assert_eq!(
        (test_cluster.events(), test_cluster.reservations().len()),
        (vec![("NotReserved", "web-1")], 0)
    );
    assert!(
        test_cluster.written_events[0].note.ends_with("which is the limit"),
        "{:?}",
        test_cluster.written_events
    );
    test_cluster.states.iter_mut().for_each(|state| state.set_automatic_max(1));
    test_cluster.wait(60);
    assert_eq!(test_cluster.reservations().len(), 1, "what was in the way is gone");
}

#[test]
fn a_taken_place_is_released_when_all_replicas_have_seen_the_pod() {
    let mut test_cluster = full();
    test_cluster.update_replica(replica(1, 0));
    test_cluster.delete("web-1", 0);
    test_cluster.reconcile();
    test_cluster.run();
    test_cluster.start_all();
    test_cluster.run();
    assert_eq!(test_cluster.reservations().len(), 1);
    test_cluster.update_replica(replica(10_000, 1));
    test_cluster.run();
    assert_eq!(test_cluster.reservations(), []);
}

#[test]
fn what_was_made_by_hand_or_by_a_newer_version_is_never_touched() {
    let mut test_cluster = full();
    let newer =
        encode(&kept()).unwrap().into_iter().map(|(key, value)| (key, value.replace("\"v\":1", "\"v\":9")));
    let newer: Vec<(String, String)> = newer.collect();
    let manual = (format!("reserve.cpu/{DEPLOYMENT}"), "1".to_owned());
    put(&mut test_cluster, &[&newer[..], &[manual]].concat());
    let before = test_cluster.nodes["n1"].annotations.clone();
    test_cluster.wait(5000);
    assert_eq!(test_cluster.nodes["n1"].annotations, before);
}

#[test]
fn what_is_malformed_is_told_once() {
    let mut test_cluster = full();
    put(
        &mut test_cluster,
        &[("reserve.cpu/nobody".into(), "1".into()), (format!("reserve.gpu/{DEPLOYMENT}"), "1".into())],
    );
    assert_eq!(test_cluster.events(), [("InvalidReservation", "n1"); 2]);
    test_cluster.wait(300);
    test_cluster.send_node("n1");
    test_cluster.run();
    assert_eq!(test_cluster.events().len(), 2);
}

/// A person removes the reservation of a pod that is being deleted, and leaves the annotations `before` or not.
fn removed(before: &[(&str, &str)], leaves: bool) -> TestCluster {
    let mut test_cluster = full();
    let others = before.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    put(&mut test_cluster, &others.collect::<Vec<_>>());
    test_cluster.delete("web-1", 30);
    test_cluster.run();
    if let Some(server) = test_cluster.nodes.get_mut("n1") {
        server.annotations.retain(|key, _| leaves && !key.starts_with("reserve."));
    }
    test_cluster.send_node("n1");
    assert_eq!(test_cluster.reservations(), []);
    test_cluster.run();
    test_cluster
}

#[test]
fn a_reservation_that_somebody_wipes_is_told_as_lost() {
    let test_cluster = removed(&[("node.alpha.kubernetes.io/ttl", "0")], false);
    assert_eq!(test_cluster.events(), [("ReservationLost", "web")]);
    assert_eq!(test_cluster.reservations().len(), 1, "and made again, for as long as there is need");
}

#[test]
fn a_reservation_that_somebody_releases_is_not() {
    for (others, leaves) in [(&[("node.alpha.kubernetes.io/ttl", "0")][..], true), (&[], false)] {
        let test_cluster = removed(others, leaves);
        assert_eq!(test_cluster.events(), [("ReservationReleased", "web")]);
        let [event] = &test_cluster.written_events[..] else { panic!("{:?}", test_cluster.written_events) };
        assert!(event.note.ends_with("on node n1 was released by hand"), "{}", event.note);
        assert!(!event.is_warning, "{event:?}");
    }
}

#[test]
fn a_yield_is_told_to_both_sides_and_strangers_hear_no_names() {
    let mut test_cluster = full();
    test_cluster.delete("web-1", 0);
    test_cluster.run();
    // The creation time of a reservation can be a second later than the truth.
    test_cluster.wait(2);
    let important = test_cluster.create_pod(false, 100, None);
    test_cluster.run();
    assert_eq!(test_cluster.places(), [format!("{important} n1")]);
    let mut told = test_cluster.events();
    told.sort_unstable();
    assert_eq!(told, [("ReservationYielded", important.as_str()), ("ReservationYielded", "web")]);
    for report in &test_cluster.written_events {
        let is_own = &*report.about.name == "web";
        assert_eq!(report.note.contains(DEPLOYMENT), is_own, "{report:?}");
        assert_eq!(report.note.contains(&important), is_own, "{report:?}");
    }
    test_cluster.wait(100);
    assert_eq!(test_cluster.events().len(), 2, "once");
}

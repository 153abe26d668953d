//! Reports, pods that ask for themselves, what is never touched, and the trap of pods without a stamp.

use super::full;
use super::town::{DEPLOYMENT, Town, time};
use crate::state::Note;
use common::api::reservation::encode;
use common::api::workload::workload;
use common::cluster::{Event, Seen};
use common::model::object::Meta;
use common::model::owner::Owner;
use common::model::reservation::{Origin, ReplacedPod, Seat};
use common::model::{OwnerKind, Replica, Reservation, ReservationId};
use serde_json::json;
use std::time::Duration;

pub(super) fn put(town: &mut Town, annotations: &[(String, String)]) {
    if let Some(server) = town.nodes.get_mut("n1") {
        server.annotations.extend(annotations.iter().cloned());
    }
    town.tell_node("n1");
    town.run();
}

pub(super) fn replica(seen: u64, seconds: u64) -> Replica {
    let meta = Meta {
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
        renewed: Some(time(seconds)),
        duration: Duration::from_secs(15),
        version: "1".into(),
        is_restricted: false,
    }
}

/// The reservation of a pod that is being deleted, as the controller writes it.
pub(super) fn kept() -> Reservation {
    let mut town = full();
    town.delete("web-1", 30);
    town.run();
    town.reservations().remove(0).1
}

#[test]
fn what_a_person_asked_for_lives_for_as_long_as_they_said() {
    let mut asked = kept();
    if let Origin::Recorded(record) = &mut asked.origin {
        (record.by, record.request, record.life) =
            ("jane".into(), "cli-1@1".into(), Some(Duration::from_secs(60)));
        record.expires = time(60);
    }
    let mut town = full();
    put(&mut town, &encode(&asked).unwrap());
    town.delete("web-1", 30);
    town.run();
    let [(_, kept)] = &town.reservations()[..] else { panic!("{:?}", town.reservations()) };
    assert_eq!(
        kept.expires(),
        Some(time(30 + 60 + 60)),
        "a minute from when the pod is gone, and one more ahead"
    );
}

#[test]
fn what_was_made_for_a_newer_version_of_the_pod_is_not_ours_to_judge() {
    let kept = encode(&kept()).unwrap();
    // Another replica wrote it down; that the pod is being deleted has not been heard of here.
    let mut town = full();
    put(&mut town, &kept);
    assert_eq!(town.reservations().len(), 1);
    town.wait(60);
    assert_eq!(town.reservations().len(), 1);
    town.tell("web-1");
    town.run();
    assert_eq!(town.reservations(), [], "it is newer now, and neither leaves nor wishes anything");
}

#[test]
fn two_places_for_a_pod_of_one_name_are_one_too_many() {
    const OWNER: &str = "4e1f7a54-6d0e-4b7e-9a43-5f1c8e1b7d20";
    let mut town = full();
    let set = json!({ "spec": { "replicas": 2 }, "metadata": {
        "name": "db", "namespace": "default", "uid": OWNER, "resourceVersion": "1" } });
    let set = workload(OwnerKind::StatefulSet, &set.to_string()).unwrap();
    town.learn(&Event::Workloads(OwnerKind::StatefulSet, Seen::Applied(set)));
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
    // Both pods are lacking, so that by their number alone all of them would be needed.
    put(&mut town, &of("older", "db-0", 1));
    put(&mut town, &of("other", "db-1", 1));
    assert_eq!(town.reservations().len(), 2);
    put(&mut town, &of("newer", "db-0", 2));
    let seats: Vec<String> = town.reservations().iter().map(|(_, one)| one.id.to_string()).collect();
    assert_eq!(seats, [format!("{OWNER}.newer"), format!("{OWNER}.other")]);
}

#[test]
fn a_seat_is_not_released_before_the_one_that_was_passed_on_to_it() {
    let mut town = full();
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
    if let Some(guest) = town.guests.get_mut("web-1") {
        guest.stamp = Some(heir.id.to_string());
    }
    town.tell("web-1");
    let both = [encode(&first).unwrap(), encode(&heir).unwrap()].concat();
    if let Some(server) = town.nodes.get_mut("n1") {
        server.annotations.extend(both);
    }
    town.tell_node("n1");
    let mut left = vec![2];
    while town.run_one() {
        let ids: Vec<String> = town.reservations().iter().map(|(_, one)| one.id.to_string()).collect();
        assert!(ids.is_empty() || ids.contains(&heir.id.to_string()), "{ids:?}");
        left.push(ids.len());
    }
    assert!(left.contains(&1) && town.reservations().is_empty(), "{left:?}");
}

/// Somebody empties a node, and has a place elsewhere for each pod before it goes.
#[test]
fn a_place_on_another_node_is_kept_for_a_pod_that_is_yet_to_leave() {
    let reservation = encode(&kept()).unwrap();
    let mut town = Town::new(&["n1", "n2"], 1, 1);
    town.reconcile();
    town.run();
    town.start_all();
    let home = town.places()[0].clone();
    let other = if home.ends_with("n1") { "n2" } else { "n1" };
    town.nodes.get_mut(other).unwrap().annotations.extend(reservation);
    town.tell_node(other);
    town.run();
    town.wait(60);
    assert_eq!(town.reservations().len(), 1, "its owner lacks no pod yet");
    // It goes, and its owner wants none in its stead.
    town.wanted = 0;
    town.keep = None;
    town.tell_workloads();
    town.delete("web-1", 0);
    town.run();
    town.wait(30);
    assert_eq!(town.reservations(), []);
}

#[test]
fn it_is_counted_how_long_the_replicas_took_to_see_one() {
    let mut town = full();
    town.seen(replica(1, 0));
    town.delete("web-1", 300);
    town.run();
    let counted = |town: &mut Town| {
        let is_counted = |note: &Note| matches!(note, Note::Acknowledged { .. });
        town.states[0].take_notes().into_iter().filter(is_counted).collect::<Vec<_>>()
    };
    assert_eq!(counted(&mut town), []);
    town.wait(3);
    town.seen(replica(10_000, 3));
    town.run();
    assert_eq!(counted(&mut town), [Note::Acknowledged { after_ms: 3000 }]);
    town.seen(replica(10_001, 3));
    town.run();
    assert_eq!(counted(&mut town), [], "once");
}

#[test]
fn a_pod_that_asks_for_what_it_cannot_have_is_told_why_once() {
    let mut town = full();
    town.states.iter_mut().for_each(|state| state.set_automatic_max(0));
    town.set_keep("web-1", Some("true"));
    town.tell("web-1");
    town.wait(60);
    assert_eq!((town.told(), town.reservations().len()), (vec![("NotReserved", "web-1")], 0));
    assert!(town.reports[0].note.ends_with("which is the limit"), "{:?}", town.reports);
    town.states.iter_mut().for_each(|state| state.set_automatic_max(1));
    town.wait(60);
    assert_eq!(town.reservations().len(), 1, "what was in the way is gone");
}

#[test]
fn a_taken_place_is_released_when_all_replicas_have_seen_the_pod() {
    let mut town = full();
    town.seen(replica(1, 0));
    town.delete("web-1", 0);
    town.reconcile();
    town.run();
    town.start_all();
    town.run();
    assert_eq!(town.reservations().len(), 1);
    town.seen(replica(10_000, 1));
    town.run();
    assert_eq!(town.reservations(), []);
}

#[test]
fn what_was_made_by_hand_or_by_a_newer_version_is_never_touched() {
    let mut town = full();
    let newer =
        encode(&kept()).unwrap().into_iter().map(|(key, value)| (key, value.replace("\"v\":1", "\"v\":9")));
    let newer: Vec<(String, String)> = newer.collect();
    let manual = (format!("reserve.cpu/{DEPLOYMENT}"), "1".to_owned());
    put(&mut town, &[&newer[..], &[manual]].concat());
    let before = town.nodes["n1"].annotations.clone();
    town.wait(5000);
    assert_eq!(town.nodes["n1"].annotations, before);
}

#[test]
fn what_is_malformed_is_told_once() {
    let mut town = full();
    put(
        &mut town,
        &[("reserve.cpu/nobody".into(), "1".into()), (format!("reserve.gpu/{DEPLOYMENT}"), "1".into())],
    );
    assert_eq!(town.told(), [("InvalidReservation", "n1"); 2]);
    town.wait(300);
    town.tell_node("n1");
    town.run();
    assert_eq!(town.told().len(), 2);
}

/// The reservation of a pod that leaves is removed by somebody, who leaves the annotations `before` or not.
fn removed(before: &[(&str, &str)], leaves: bool) -> Town {
    let mut town = full();
    let others = before.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    put(&mut town, &others.collect::<Vec<_>>());
    town.delete("web-1", 30);
    town.run();
    if let Some(server) = town.nodes.get_mut("n1") {
        server.annotations.retain(|key, _| leaves && !key.starts_with("reserve."));
    }
    town.tell_node("n1");
    assert_eq!(town.reservations(), []);
    town.run();
    town
}

#[test]
fn a_reservation_that_somebody_wipes_is_told_as_lost() {
    let town = removed(&[("node.alpha.kubernetes.io/ttl", "0")], false);
    assert_eq!(town.told(), [("ReservationLost", "web")]);
    assert_eq!(town.reservations().len(), 1, "and made again, for as long as there is need");
}

#[test]
fn a_reservation_that_somebody_releases_is_not() {
    for (others, leaves) in [(&[("node.alpha.kubernetes.io/ttl", "0")][..], true), (&[], false)] {
        let town = removed(others, leaves);
        assert_eq!(town.told(), [("ReservationReleased", "web")]);
        let [report] = &town.reports[..] else { panic!("{:?}", town.reports) };
        assert!(report.note.ends_with("on node n1 was released by hand"), "{}", report.note);
        assert!(!report.is_warning, "{report:?}");
    }
}

#[test]
fn a_yield_is_told_to_both_sides_and_strangers_hear_no_names() {
    let mut town = full();
    town.delete("web-1", 0);
    town.run();
    // A reservation says that it is a second younger than it is.
    town.wait(2);
    let important = town.comes(false, 100, None);
    town.run();
    assert_eq!(town.places(), [format!("{important} n1")]);
    let mut told = town.told();
    told.sort_unstable();
    assert_eq!(told, [("ReservationYielded", important.as_str()), ("ReservationYielded", "web")]);
    for report in &town.reports {
        let is_own = &*report.about.name == "web";
        assert_eq!(report.note.contains(DEPLOYMENT), is_own, "{report:?}");
        assert_eq!(report.note.contains(&important), is_own, "{report:?}");
    }
    town.wait(100);
    assert_eq!(town.told().len(), 2, "once");
}

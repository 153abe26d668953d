//! Which of several places goes: those under way, those that are not written yet, those of pods without a stamp.

use super::full;
use super::rules::{kept, put};
use super::town::{Luck, Town, time};
use crate::effects::Server;
use common::api::reservation::encode;
use common::model::reservation::{Origin, ReplacedPod, Seat};

#[test]
fn a_pod_without_a_stamp_does_not_get_a_second_place() {
    // Two replicas of one owner on one node, both deleted; somebody else's scheduler places one replacement.
    let mut town = Town::new(&["n1"], 1, 2);
    let places = ["web-1", "web-2"].map(|_| town.comes(true, 0, None));
    for name in &places {
        town.bind_elsewhere(name, "n1");
    }
    town.run();
    places.iter().for_each(|name| town.delete(name, 0));
    town.run();
    assert_eq!(town.reservations().len(), 2, "whoever placed them");
    town.wait(1);
    let new = town.comes(true, 0, None);
    town.bind_elsewhere(&new, "n1");
    town.start_all();
    town.run();
    town.wait(100);
    assert_eq!(town.reservations().len(), 2, "released, the first would be the second's end");
    let other = town.comes(true, 0, None);
    town.bind_elsewhere(&other, "n1");
    town.start_all();
    town.run();
    town.wait(30);
    assert_eq!(town.reservations(), []);
}

#[test]
fn a_place_whose_release_is_under_way_is_no_reason_to_release_the_next_one() {
    // A pod without a stamp sits in the first place, and leaves while that is being released.
    let mut town = Town::new(&["n1"], 1, 1);
    let first = town.comes(true, 0, None);
    town.bind_elsewhere(&first, "n1");
    town.run();
    town.delete(&first, 0);
    town.run();
    town.wait(2);
    let second = town.comes(true, 0, None);
    town.bind_elsewhere(&second, "n1");
    town.delete(&second, 30);
    town.run();
    assert_eq!(town.reservations().len(), 2, "the place of the second, and the one that it took");
    town.runs(&second);
    town.vanish(&second);
    town.run();
    let left: Vec<_> = town.reservations().into_iter().map(|(_, one)| one).collect();
    let [left] = &left[..] else { panic!("one place is kept for one pod: {left:?}") };
    assert_eq!(left.replaces().map(|replaced| &*replaced.name), Some(second.as_str()));
}

#[test]
fn pods_that_still_terminate_at_the_start_get_theirs() {
    let mut town = full();
    town.keep = None;
    town.tell_workloads();
    town.delete("web-1", 300);
    town.run();
    assert_eq!(town.reservations(), []);
    town.keep = Some("true");
    town.crash(0);
    town.run();
    assert_eq!(town.reservations().len(), 1);
}

#[test]
fn a_node_that_comes_back_under_its_name_has_no_reservations() {
    let mut town = full();
    town.delete("web-1", 30);
    town.run();
    if let Some(server) = town.nodes.get_mut("n1") {
        *server = Server { uid: "another".into(), ..Server::new(&[]) };
    }
    town.tell_node("n1");
    town.run();
    assert_eq!(town.told(), [("ReservationLost", "web")]);
}

/// Nobody could write when the pod vanished, and by the time somebody can its replacement is there.
#[test]
fn a_place_that_was_taken_before_it_could_be_written_is_not_written() {
    let mut town = full();
    town.luck = Luck::Forbidden;
    town.delete("web-1", 0);
    town.vanish("web-1");
    town.reconcile();
    town.run();
    assert_eq!(town.places(), ["web-3 n1"], "the place was kept all the same");
    town.start_all();
    town.run();
    let version = |town: &Town| town.nodes["n1"].version;
    let before = version(&town);
    town.luck = Luck::Good;
    town.wait(120);
    assert_eq!((town.reservations(), version(&town)), (vec![], before));
}

/// A reservation that only we know of can be lost with us: it is never the reason to release one that a node says.
#[test]
fn a_place_that_is_not_written_yet_is_no_reason_to_release_one_that_is() {
    let mut written = kept();
    written.id.seat = Seat::parse("z");
    if let Origin::Recorded(record) = &mut written.origin {
        record.replaces = Some(ReplacedPod { name: "gone".into(), uid: "gone".into(), seat: None });
        (record.created, record.request) = (time(5), "cli-1".into());
    }
    let mut town = full();
    town.wanted = 2;
    town.tell_workloads();
    town.luck = Luck::Forbidden;
    town.delete("web-1", 0);
    town.vanish("web-1");
    town.run();
    put(&mut town, &encode(&written).unwrap());
    let seats = |town: &Town| town.reservations().iter().map(|(_, one)| one.id.clone()).collect::<Vec<_>>();
    assert_eq!(seats(&town), [written.id.clone()]);
    // By its time the written one, which is newer, would have to go.
    town.wanted = 1;
    town.luck = Luck::Good;
    town.tell_workloads();
    town.run();
    town.wait(120);
    assert_eq!(seats(&town), [written.id]);
}

/// With the heir gone first, the seat would be held again, for a pod that has come long ago.
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
    let mut town = full();
    let (first, heir) = (seat("z", "older", None, time(600)), seat("a", "old", Some("z"), time(1)));
    town.wait(10);
    town.nodes
        .get_mut("n1")
        .unwrap()
        .annotations
        .extend([encode(&first), encode(&heir)].map(Result::unwrap).concat());
    town.tell_node("n1");
    let ids = |town: &Town| town.reservations().into_iter().map(|(_, one)| one.id).collect::<Vec<_>>();
    let mut histories = vec![ids(&town)];
    while town.run_one() {
        histories.push(ids(&town));
    }
    histories.dedup();
    assert_eq!(histories, [vec![heir.id.clone(), first.id], vec![heir.id], vec![]]);
}

/// Each time a pod without an owner is made anew it is another owner: its name says for whom the places are.
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
    let mut town = Town::new(&["n1"], 1, 0);
    town.wait(10);
    put(&mut town, &[encode(&older), encode(&newer), encode(&other)].map(Result::unwrap).concat());
    let mut left: Vec<_> = town.reservations().into_iter().map(|(_, one)| one.id).collect();
    left.sort();
    assert_eq!(left, [newer.id, other.id]);
}

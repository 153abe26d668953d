//! Which pod has taken which reservation: one pod takes one seat, and a stamp counts only on a pod that may use the seat.

use super::{NO_PODS, database, entries, replica, stranger, test_cluster, web};
use crate::testing::{at, bare_reservation, now, pod, reservation, uid};

#[test]
fn a_stamped_pod_has_the_reservation_that_it_names() {
    let kept = [reservation(&web()).cpu("1"), reservation(&web()).seat("b").cpu("1")];
    let taker = replica("web-2").stamp(&kept[1].id());
    assert_eq!(entries(now(), &kept, [taker]), ["a Held 1000m", "b Taken by web-2"]);
}

#[test]
fn a_pod_without_a_stamp_has_it_if_it_was_scheduled_since() {
    let kept = [reservation(&web()).cpu("1").created(at(-60))];
    let bound = |seconds| [replica("web-2").scheduled_at(at(seconds))];
    assert_eq!(entries(now(), &kept, bound(-61)), ["a Held 1000m"], "it was there before");
    assert_eq!(entries(now(), &kept, bound(-60)), ["a Taken by web-2"]);
    assert_eq!(entries(now(), &kept, bound(-1)), ["a Taken by web-2"]);
    assert_eq!(
        entries(now(), &kept, [replica("web-2")]),
        ["a Held 1000m"],
        "no one knows since when it is there"
    );
}

/// Found by the simulation, seeds 109665 and 126419.
#[test]
fn a_pod_without_a_stamp_that_was_on_its_way_before_has_not_come_for_it() {
    let kept = [reservation(&web()).cpu("1").created(at(-60))];
    let created = |seconds| {
        let bound = replica("web-2").scheduled_at(at(-50));
        [bound.with("/metadata/creationTimestamp", serde_json::json!(at(seconds).to_string()))]
    };
    assert_eq!(entries(now(), &kept, created(-66)), ["a Held 1000m"], "a sibling that waited for long");
    assert_eq!(entries(now(), &kept, created(-65)), ["a Taken by web-2"], "the pod was deleted just before");
    assert_eq!(entries(now(), &kept, created(-55)), ["a Taken by web-2"]);
}

#[test]
fn without_stamps_the_first_pod_has_the_oldest_reservation() {
    let old = reservation(&web()).seat("z").cpu("1").created(at(-50));
    let new = reservation(&web()).seat("a").cpu("1").created(at(-40));
    let first = replica("web-9").scheduled_at(at(-30));
    let second = replica("web-1").scheduled_at(at(-20));
    let kept = [old, new];
    assert_eq!(entries(now(), &kept, [&first]), ["a Held 1000m", "z Taken by web-9"]);
    assert_eq!(entries(now(), &kept, [second, first]), ["a Taken by web-1", "z Taken by web-9"]);
    let between = replica("web-5").scheduled_at(at(-45));
    assert_eq!(entries(now(), &kept, [between]), ["a Held 1000m", "z Taken by web-5"]);
}

#[test]
fn a_strangers_stamp_means_nothing() {
    let kept = [reservation(&web()).cpu("1")];
    let forger = stranger("x").stamp(&kept[0].id()).scheduled_at(at(-1));
    assert_eq!(entries(now(), &kept, [&forger]), ["a Held 1000m"]);
    let claimed = pod("y").cpu("1").on("n1").stamp(&kept[0].id()).scheduled_at(at(-1)).with(
        "/metadata/ownerReferences",
        serde_json::json!([{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "other", "controller": true,
            "uid": web().uid.to_string() }]),
    );
    assert_eq!(entries(now(), &kept, [forger, claimed]), ["a Held 1000m"], "nor a claimed owner");
}

#[test]
fn a_stamp_of_others_does_not_hide_that_a_pod_took_its_own() {
    let kept = [reservation(&web()).cpu("1")];
    for foreign in [format!("{}.a", uid("other")), "garbage".into(), String::new(), web().uid.to_string()] {
        let taker = replica("web-2").stamp(&foreign).scheduled_at(at(-1));
        assert_eq!(entries(now(), &kept, [taker]), ["a Taken by web-2"], "{foreign:?}");
    }
}

#[test]
fn one_pod_has_one_seat() {
    let kept = [reservation(&web()).cpu("1"), reservation(&web()).seat("b").cpu("1")];
    for taker in
        [replica("web-2").stamp(&kept[0].id()).scheduled_at(at(-1)), replica("web-2").scheduled_at(at(-1))]
    {
        assert_eq!(entries(now(), &kept, [taker]), ["a Taken by web-2", "b Held 1000m"]);
    }
}

#[test]
fn one_seat_has_one_pod() {
    let kept = [reservation(&web()).cpu("1"), reservation(&web()).seat("b").cpu("1")];
    let same = |name: &str, seconds| replica(name).stamp(&kept[0].id()).scheduled_at(at(seconds));
    let pods = [same("web-2", -1), same("web-3", -2)];
    assert_eq!(entries(now(), &kept, &pods), ["a Taken by web-3", "b Held 1000m"], "the first who came");
}

#[test]
fn who_took_a_seat_that_was_released_does_not_take_the_next() {
    let released = reservation(&web()).seat("a").id();
    let left = [reservation(&web()).seat("b").cpu("1")];
    let taker = replica("web-2").stamp(&released).scheduled_at(at(-1));
    assert_eq!(entries(now(), &left, [&taker]), ["b Held 1000m"]);
    let expired = reservation(&web()).seat("a").expires(now());
    assert_eq!(entries(now(), &[expired, left[0].clone()], [taker]), ["a Expired", "b Held 1000m"]);
}

#[test]
fn the_replaced_pod_never_takes_its_own() {
    let old = replica("web-1").scheduled_at(at(-1));
    let kept = [reservation(&web()).cpu("1").replaces(&old.build())];
    for same in [old.clone(), old.clone().stamp(&kept[0].id())] {
        assert_eq!(entries(now(), &kept, [same]), ["a Occupied"]);
    }
    let both = [kept[0].clone(), reservation(&web()).seat("b").cpu("1").created(at(-9))];
    assert_eq!(entries(now(), &both, [old]), ["a Occupied", "b Taken by web-1"], "but it may take another");
}

#[test]
fn a_seat_that_is_still_occupied_is_taken_last() {
    let old = replica("web-1").scheduled_at(at(-900));
    let occupied = reservation(&web()).seat("a").cpu("1").replaces(&old.build()).created(at(-60));
    let empty = reservation(&web()).seat("b").cpu("1").created(at(-50));
    let kept = [occupied, empty];
    let taker = replica("web-2").scheduled_at(at(-1));
    assert_eq!(entries(now(), &kept, [old.clone(), taker.clone()]), ["a Occupied", "b Taken by web-2"]);
    assert_eq!(entries(now(), &kept[..1], [old, taker.clone()]), ["a Occupied"]);
    assert_eq!(
        entries(now(), &kept[..1], [taker]),
        ["a Taken by web-2"],
        "it came while the old one was there"
    );
}

#[test]
fn a_taker_that_ends_gives_the_seat_back() {
    let kept = [reservation(&web()).cpu("1")];
    let taker = replica("web-2").stamp(&kept[0].id()).scheduled_at(at(-1));
    assert_eq!(entries(now(), &kept, [taker.clone().phase("Failed")]), ["a Held 1000m"]);
    assert_eq!(entries(now(), &kept, [taker.terminating()]), ["a Taken by web-2"]);
}

#[test]
fn of_a_stateful_set_only_the_pod_of_that_name_comes_back() {
    let member = |name: &str| pod(name).cpu("1").on("n1").owned_by(&database()).scheduled_at(at(-1));
    let old = member("db-0").uid("db-0 before");
    let kept = [reservation(&database()).cpu("1").replaces(&old.build())];
    assert_eq!(entries(now(), &kept, [member("db-1")]), ["a Held 1000m"]);
    assert_eq!(
        entries(now(), &kept, [member("db-1").stamp(&kept[0].id())]),
        ["a Held 1000m"],
        "stamped or not"
    );
    assert_eq!(entries(now(), &kept, [member("db-0")]), ["a Taken by db-0"]);
    let added = [reservation(&database()).cpu("1")];
    assert_eq!(entries(now(), &added, [member("db-1")]), ["a Taken by db-1"], "it replaces nobody");
}

#[test]
fn a_bare_pod_comes_back_under_its_name_with_another_uid() {
    let old = stranger("tool").uid("tool before");
    let kept = [bare_reservation(&old.build()).cpu("1")];
    let back = stranger("tool").scheduled_at(at(-1));
    assert_eq!(entries(now(), &kept, [old]), ["a Occupied"]);
    assert_eq!(entries(now(), &kept, NO_PODS), ["a Held 1000m"]);
    assert_eq!(entries(now(), &kept, [&back]), ["a Taken by tool"]);
    assert_eq!(entries(now(), &kept, [back.clone().namespace("elsewhere")]), ["a Held 1000m"]);
    assert_eq!(entries(now(), &kept, [back.owned_by(&database())]), ["a Held 1000m"], "it is not bare");
    assert_eq!(entries(now(), &kept, [stranger("tool-2").scheduled_at(at(-1))]), ["a Held 1000m"]);
}

#[test]
fn the_plain_form_is_nobodys_seat() {
    let kept = [crate::testing::plain(&web().uid).cpu("3")];
    let taker = replica("web-2").stamp(&kept[0].id()).scheduled_at(at(-1));
    assert_eq!(entries(now(), &kept, [taker]), ["plain Held 2000m"]);
}

#[test]
fn a_seat_whose_pod_is_itself_replaced_is_passed_on() {
    let first = reservation(&web()).cpu("1").created(at(-60));
    let between = replica("web-2").stamp(&first.id()).scheduled_at(at(-50));
    let second = |seat: Option<&str>| {
        let replaced = crate::model::reservation::ReplacedPod {
            name: "web-2".into(),
            uid: between.build().uid,
            seat: seat.and_then(crate::model::Seat::parse),
        };
        reservation(&web())
            .seat("b")
            .cpu("1")
            .created(at(-40))
            .record(|record| record.replaces = Some(replaced))
    };
    let kept = [first.clone(), second(Some("a"))];
    assert_eq!(entries(now(), &kept, [&between]), ["a Taken by web-2", "b Occupied"]);
    assert_eq!(entries(now(), &kept, NO_PODS), ["a Taken", "b Held 1000m"], "there is one room, kept once");
    let back = replica("web-3").scheduled_at(at(-1));
    assert_eq!(entries(now(), &kept, [back]), ["a Taken", "b Taken by web-3"], "also without a stamp");
    let early = |seconds| replica("web-3").stamp(&first.id()).scheduled_at(at(seconds));
    let both = ["a Taken by web-3", "b Taken by web-3"];
    assert_eq!(entries(now(), &kept, [early(-30)]), both, "the second was written late");
    assert_eq!(entries(now(), &kept[1..], [early(-30)]), both[1..], "also when the first was released");
    assert_eq!(entries(now(), &kept, [early(-45)])[1], "b Held 1000m", "it has another room");
    let apart = [first.clone(), second(None)];
    assert_eq!(entries(now(), &apart, NO_PODS), ["a Held 1000m", "b Held 1000m"]);
    let ended = [first, second(Some("a")).expires(at(-1))];
    assert_eq!(
        entries(now(), &ended, NO_PODS),
        ["a Taken", "b Expired"],
        "the place was its heir's, and that is over"
    );
    let back = replica("web-3").stamp(&ended[1].id()).scheduled_at(at(-1));
    assert_eq!(entries(now(), &ended, [back]), ["a Taken", "b Expired"], "nothing is kept beside who has it");
}

#[test]
fn of_the_plain_form_nothing_more_is_held_when_a_pod_leaves_whose_place_is_kept() {
    let pod = replica("web-2");
    let kept =
        [crate::testing::plain(&web().uid).cpu("2"), reservation(&web()).cpu("1").replaces(&pod.build())];
    assert_eq!(entries(now(), &kept, [pod]), ["plain Held 1000m", "a Occupied"]);
    assert_eq!(entries(now(), &kept, NO_PODS), ["plain Held 1000m", "a Held 1000m"]);
    let others = [crate::testing::plain(&web().uid).cpu("2"), reservation(&database()).cpu("1")];
    assert_eq!(entries(now(), &others, NO_PODS).len(), 2);
    assert!(
        entries(now(), &others, NO_PODS).contains(&"plain Held 2000m".to_owned()),
        "only of its own owner"
    );
}

#[test]
fn the_plain_form_does_not_give_way_with_a_seat_that_does() {
    let kept = [
        crate::testing::plain(&web().uid).cpu("2"),
        reservation(&web()).cpu("1").replaces(&replica("web-2").build()),
    ];
    let mut cluster = test_cluster(&kept).cluster();
    let snapshot = cluster.snapshot(now());
    let ledger = snapshot.nodes().next().unwrap();
    let reserved = |priority: i32| {
        let stranger = stranger("s").priority(priority).build();
        let room = ledger.room_for(&snapshot.context(&stranger));
        let kept: Vec<i64> = room.kept.iter().map(|(_, held)| held.cpu).collect();
        (room.reserved.cpu, kept)
    };
    assert_eq!(reserved(0), (2000, vec![1000, 1000]));
    assert_eq!(reserved(1000), (2000, vec![2000]), "the seat gives way, and the plain form keeps all");
}

#[test]
fn a_recreated_bare_pod_counts_for_the_plain_form_of_the_old_one() {
    let old = stranger("tool").uid("tool old").build();
    let seat = bare_reservation(&old).cpu("1").created(at(-60));
    let kept = [crate::testing::plain(&old.uid).cpu("2"), seat.clone()];
    assert_eq!(entries(now(), &kept, NO_PODS), ["plain Held 1000m", "a Held 1000m"]);
    let new = stranger("tool").uid("tool new").cpu("1").stamp(&seat.id()).scheduled_at(at(-1));
    assert_eq!(entries(now(), &kept, [new]), ["plain Held 1000m", "a Taken by tool"]);
}

#[test]
fn a_bare_pods_seat_is_passed_on_by_its_name() {
    let first = bare_reservation(&stranger("tool").uid("tool first").build()).cpu("1").created(at(-60));
    let between = stranger("tool").uid("tool between").stamp(&first.id()).scheduled_at(at(-50));
    let second = |name: &str| {
        let mut replaced = between.build();
        replaced.key.name = name.into();
        bare_reservation(&replaced).seat("b").cpu("1").created(at(-40)).record(|record| {
            let seat = crate::model::Seat::parse("a");
            let (name, uid) = (name.into(), between.build().uid);
            record.replaces = Some(crate::model::reservation::ReplacedPod { name, uid, seat });
        })
    };
    let states = |heir: &str| {
        let mut lines = entries(now(), &[first.clone(), second(heir)], NO_PODS);
        lines.sort();
        lines
    };
    assert_eq!(states("tool"), ["a Taken", "b Held 1000m"]);
    assert_eq!(states("other"), ["a Held 1000m", "b Held 1000m"], "that of another pod is not");
}

#[test]
fn the_heir_of_a_seat_has_the_same_owner_or_the_same_name_without_one() {
    use crate::cluster::ledger::is_heir;
    use crate::model::reservation::{Origin, Reservation, Seat};
    let seat_of =
        |reservation: &Reservation, seat: &str, had: Option<&str>, kind: &str, owner: &str, name: &str| {
            let mut one = reservation.clone();
            one.id.seat = Seat::parse(seat);
            one.id.owner = owner.into();
            if let Origin::Recorded(record) = &mut one.origin {
                (record.owner.kind, record.owner.name, record.owner.uid) =
                    (kind.into(), name.into(), owner.into());
                record.replaces = Some(crate::model::reservation::ReplacedPod {
                    name: name.into(),
                    uid: owner.into(),
                    seat: had.and_then(Seat::parse),
                });
            }
            one
        };
    let any = reservation(&web()).build();
    let first = seat_of(&any, "a", None, "Pod", "uid-1", "tool");
    assert!(
        is_heir(&seat_of(&any, "b", Some("a"), "Pod", "uid-2", "tool"), &first),
        "a bare pod has a new UID"
    );
    assert!(!is_heir(&seat_of(&any, "b", Some("a"), "Pod", "uid-2", "other"), &first));
    assert!(!is_heir(&seat_of(&any, "b", Some("c"), "Pod", "uid-2", "tool"), &first));
    assert!(!is_heir(&seat_of(&any, "b", None, "Pod", "uid-2", "tool"), &first));
    let first = seat_of(&any, "a", None, "Deployment", "uid-1", "web");
    assert!(is_heir(&seat_of(&any, "b", Some("a"), "Deployment", "uid-1", "web"), &first));
    assert!(!is_heir(&seat_of(&any, "b", Some("a"), "Deployment", "uid-2", "web"), &first), "another owner");
}

//! The states of a reservation: one test for each state and each way into it.

use super::{NO_PODS, database, entries, replica, stranger, test_cluster, web};
use crate::api::names;
use crate::cluster::ReservationState;
use crate::model::ResourceName;
use crate::testing::{at, cluster_builder, entry, node, now, plain, pod, reservation, uid};

#[test]
fn occupied_while_the_replaced_pod_is_there() {
    let old = replica("web-1");
    let kept = [reservation(&web()).cpu("1").replaces(&old.build())];
    assert_eq!(entries(now(), &kept, [&old]), ["a Occupied"]);
    assert_eq!(entries(now(), &kept, [old.terminating()]), ["a Occupied"], "a terminating pod has its room");
}

#[test]
fn held_once_the_replaced_pod_is_gone_or_ended() {
    let old = replica("web-1");
    let kept = [reservation(&web()).cpu("1").replaces(&old.build())];
    assert_eq!(entries(now(), &kept, NO_PODS), ["a Held 1000m"]);
    for phase in ["Failed", "Succeeded"] {
        assert_eq!(entries(now(), &kept, [old.clone().phase(phase)]), ["a Held 1000m"], "{phase}");
    }
    let elsewhere = old.clone().on("n2");
    assert_eq!(entries(now(), &kept, [elsewhere]), ["a Held 1000m"], "counted on another node");
    let namesake = old.uid("another");
    assert_eq!(entries(now(), &kept, [namesake]), ["a Held 1000m"], "the name alone is not the pod");
}

#[test]
fn held_until_it_is_taken_when_it_replaces_nobody() {
    let kept = [reservation(&web()).cpu("1")];
    assert_eq!(entries(now(), &kept, NO_PODS), ["a Held 1000m"]);
    assert_eq!(entries(now(), &kept, [stranger("x")]), ["a Held 1000m"]);
    let taker = replica("web-2").scheduled_at(at(-60));
    assert_eq!(entries(now(), &kept, [taker]), ["a Taken by web-2"]);
}

#[test]
fn expired_from_the_very_moment_on() {
    let kept = [reservation(&web()).cpu("1").expires(at(10))];
    assert_eq!(entries(at(9), &kept, NO_PODS), ["a Held 1000m"]);
    assert_eq!(entries(at(10), &kept, NO_PODS), ["a Expired"]);
    assert_eq!(entries(at(11), &kept, NO_PODS), ["a Expired"]);
    let taker = replica("web-2").stamp(&kept[0].id());
    assert_eq!(entries(at(10), &kept, [taker]), ["a Expired"], "nobody has what is no more");
    let old = replica("web-1");
    let occupied = [reservation(&web()).replaces(&old.build()).expires(at(10))];
    assert_eq!(entries(at(10), &occupied, [old]), ["a Expired"]);
}

#[test]
fn short_when_the_node_has_promised_more_than_it_has() {
    let kept = [reservation(&web()).cpu("3")];
    assert_eq!(entries(now(), &kept, [stranger("x")]), ["a Held 3000m"], "just enough");
    assert_eq!(entries(now(), &kept, [stranger("x"), stranger("y")]), ["a Short 3000m"]);
    let memory = [reservation(&web()).memory("17Gi"), reservation(&web()).seat("b").cpu("1")];
    assert_eq!(
        entries(now(), &memory, NO_PODS),
        ["a Short 0m", "b Held 1000m"],
        "only who keeps what is lacking"
    );
    let slots =
        cluster_builder().workload(&web()).node(node("n1").pods(1).reserves(reservation(&web()).cpu("1")));
    let mut cluster = slots.pod(pod("x").on("n1")).cluster();
    assert_eq!(entry(&cluster.snapshot(now())).state, ReservationState::Short, "a slot is kept too");
}

#[test]
fn several_can_be_short_together() {
    let kept = [reservation(&web()).cpu("2"), reservation(&web()).seat("b").cpu("3")];
    assert_eq!(entries(now(), &kept, NO_PODS), ["a Short 2000m", "b Short 3000m"]);
}

#[test]
fn the_plain_form_is_what_the_owners_pods_do_not_use_yet() {
    let kept = [plain(&web().uid).cpu("2500m")];
    let replicas: Vec<_> = (0..4).map(|index| replica(&format!("web-{index}"))).collect();
    assert_eq!(entries(now(), &kept, NO_PODS), ["plain Held 2500m"]);
    assert_eq!(entries(now(), &kept, [stranger("x")]), ["plain Held 2500m"]);
    assert_eq!(entries(now(), &kept, &replicas[..1]), ["plain Held 1500m"]);
    assert_eq!(entries(now(), &kept, &replicas[..2]), ["plain Held 500m"]);
    assert_eq!(entries(now(), &kept, &replicas[..3]), ["plain Occupied"]);
    assert_eq!(entries(now(), &kept, &replicas), ["plain Occupied"], "never less than nothing");
    assert_eq!(entries(at(1_000_000_000), &kept, NO_PODS), ["plain Held 2500m"], "it never ends");
    let ended = [replicas[0].clone().phase("Succeeded"), replicas[1].clone().on("n2")];
    assert_eq!(entries(now(), &kept, &ended), ["plain Held 2500m"]);
}

#[test]
fn the_plain_form_counts_each_resource_by_itself() {
    let kept = plain(&web().uid).cpu("2").memory("1Gi");
    let mut cluster = test_cluster(&[kept]).pod(replica("web-1").memory("3Gi")).cluster();
    let snapshot = cluster.snapshot(now());
    let held = &entry(&snapshot).held;
    assert_eq!((held.cpu, held.memory, held.pods), (1000, 0, 0));
}

#[test]
fn the_plain_form_of_a_stateful_set_is_shared_by_its_pods() {
    let kept = [plain(&database().uid).cpu("3")];
    let pods = ["db-0", "db-1"].map(|name| pod(name).cpu("1").on("n1").owned_by(&database()));
    assert_eq!(entries(now(), &kept, &pods), ["plain Held 1000m"]);
}

#[test]
fn of_a_newer_version_amounts_and_expiry_count() {
    let newer = |info: &str| {
        let id = format!("{}.z", web().uid);
        let node = node("n1").annotation(&format!("{}/{id}", names::CPU), "2");
        let node = node.annotation(&format!("{}/{id}", names::INFO), info);
        test_cluster(&[]).node(node)
    };
    let state = |info: &str, seconds: i64| entry(&newer(info).cluster().snapshot(at(seconds))).state;
    let info = r#"{"v":2,"expires":"2026-01-31T12:00:10Z"}"#;
    assert_eq!((state(info, 9), state(info, 10)), (ReservationState::Held, ReservationState::Expired));
    assert_eq!(state(r#"{"v":2}"#, 1_000_000_000), ReservationState::Held);
    let test_cluster = newer(info).pod(replica("web-2").scheduled_at(at(5)));
    assert_eq!(
        entry(&test_cluster.cluster().snapshot(at(6))).state,
        ReservationState::Held,
        "it does not say since when"
    );
    let test_cluster = newer(info).pod(replica("web-2").stamp(&format!("{}.z", web().uid)));
    assert_eq!(
        entry(&test_cluster.cluster().snapshot(at(6))).state,
        ReservationState::Taken,
        "a stamp says it all"
    );
}

#[test]
fn malformed_ones_are_in_no_books() {
    let key = |word: &str| format!("reserve.{word}/{}", uid("x"));
    let poison =
        node("n1").annotation(&key("cpu"), "-1").annotation(&key("gpu"), "1").annotation("reserve.", "");
    let mut cluster = cluster_builder().node(poison).cluster();
    let snapshot = cluster.snapshot(now());
    assert!(snapshot.nodes().next().unwrap().entries.is_empty());
    let stranger = pod("p").cpu("4").build();
    let room = snapshot.nodes().next().unwrap().room_for(&snapshot.context(&stranger));
    assert_eq!(room.free(&ResourceName::Cpu), 4000);
}

#[test]
fn the_sums_are_those_of_the_counted_pods() {
    let mut cluster = test_cluster(&[reservation(&web()).cpu("1")])
        .pod(stranger("a").memory("1Gi"))
        .pod(stranger("b").terminating())
        .pod(stranger("c").phase("Failed"))
        .pod(pod("d").cpu("1"))
        .pod(pod("e").on("n1"))
        .cluster();
    let snapshot = cluster.snapshot(now());
    let ledger = snapshot.nodes().next().unwrap();
    assert_eq!((ledger.used.cpu, ledger.used.memory, ledger.used.pods), (2000, 1 << 30, 3));
    let little = 200 << 20;
    assert_eq!((ledger.used_non_zero.cpu, ledger.used_non_zero.memory), (2100, (1 << 30) + 2 * little));
}

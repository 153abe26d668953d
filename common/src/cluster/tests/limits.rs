//! The limits of automatic reservations: how much a namespace may reserve, and how long room is held.

use crate::cluster::{
    Cluster, Event, NotReservedReason, ReservationState, WatchEvent, expiry_for, extension_threshold,
};
use crate::model::keep::{Keep, LIFE_MAX, LIFE_MIN};
use crate::model::owner::Workload;
use crate::model::{Pod, PodKey, Reservation};
use crate::testing::{
    PodBuilder, at, cluster_builder, deployment, node, now, pod, replica_set, reservation, resource_quota,
};
use jiff::SignedDuration;
use serde_json::json;
use std::time::Duration;

fn web() -> (Workload, Workload) {
    let mut web = deployment("web");
    (web.keep, web.desired_pods) = (Keep::read("10m"), Some(99));
    let set = replica_set("web-1").of(&web);
    (web, set)
}

fn leaving(name: &str, set: &Workload) -> PodBuilder {
    pod(name).owned_by(set).cpu("1").on("n1").terminating()
}

fn result_for(cluster: &Cluster, pod: &Pod) -> Result<Reservation, NotReservedReason> {
    cluster.automatic_reservation(pod, cluster.now())
}

/// Creates a pod that is being deleted and removes it at `seconds`. Returns whether its room is held.
fn is_reserved_after_deletion(cluster: &mut Cluster, name: &str, set: &Workload, seconds: i64) -> bool {
    cluster.advance(at(seconds));
    let held = |cluster: &mut Cluster| {
        let snapshot = cluster.snapshot(at(seconds));
        snapshot
            .nodes()
            .flat_map(|ledger| &ledger.entries)
            .filter(|entry| entry.state == ReservationState::Held)
            .count()
    };
    let before = held(cluster);
    let pod = leaving(name, set).build();
    cluster.apply(Event::Pods(WatchEvent::Applied(pod.clone())));
    cluster.apply(Event::Pods(WatchEvent::Deleted(pod)));
    held(cluster) > before
}

#[test]
fn together_they_never_exceed_what_the_pods_requested_at_once_in_the_last_hour() {
    let (web, set) = web();
    let mut cluster = cluster_builder().node(node("n1").cpu("64")).workload(&web).workload(&set).cluster();
    cluster.advance(now());
    assert!(is_reserved_after_deletion(&mut cluster, "a", &set, 0));
    // The deleted pod no longer counts for its ResourceQuota, so the tenant can create one after the other.
    assert!(
        !is_reserved_after_deletion(&mut cluster, "b", &set, 1),
        "its namespace never requested two cpus at once"
    );
    let both = [leaving("c", &set).build(), leaving("d", &set).build()];
    for pod in &both {
        cluster.apply(Event::Pods(WatchEvent::Applied(pod.clone())));
    }
    assert!(result_for(&cluster, &both[0]).is_ok(), "now it does");
    for pod in &both {
        cluster.apply(Event::Pods(WatchEvent::Deleted(pod.clone())));
    }
    let held = |cluster: &mut Cluster, seconds| {
        let snapshot = cluster.snapshot(at(seconds));
        snapshot
            .nodes()
            .flat_map(|ledger| &ledger.entries)
            .filter(|entry| entry.state == ReservationState::Held)
            .count()
    };
    assert_eq!(held(&mut cluster, 2), 2);
    // What was requested more than an hour ago counts no more.
    cluster.advance(at(3700));
    let (e, f) = (leaving("e", &set).build(), leaving("f", &set).build());
    cluster.apply(Event::Pods(WatchEvent::Applied(e.clone())));
    cluster.apply(Event::Pods(WatchEvent::Deleted(e)));
    cluster.apply(Event::Pods(WatchEvent::Applied(f.clone())));
    assert_eq!(result_for(&cluster, &f), Err(NotReservedReason::OverUsage("cpu".into())));
}

#[test]
fn what_was_held_when_everything_was_listed_was_requested_before() {
    let (web, set) = web();
    let builder = cluster_builder().workload(&web).workload(&set).pod(leaving("a", &set));
    let gone = pod("gone").owned_by(&set).cpu("1").on("n1").terminating().build();
    let first = builder.clone().node(node("n1").cpu("64")).pod(leaving("gone", &set)).cluster();
    let held = first.automatic_reservation(&gone, now()).unwrap();
    let mut n1 = node("n1").cpu("64");
    for (key, value) in crate::api::reservation::encode(&held).unwrap() {
        n1 = n1.annotation(&key, &value);
    }
    let cluster = builder.node(n1).cluster();
    let a = cluster.pod(&PodKey::new("default", "a")).unwrap();
    assert!(result_for(&cluster, a).is_ok(), "a restart forgets nobody's place");
}

#[test]
fn nor_a_resource_quota() {
    let (web, set) = web();
    let builder = cluster_builder().node(node("n1").cpu("64")).workload(&web).workload(&set);
    let builder = builder.pod(leaving("a", &set)).pod(leaving("b", &set));
    let result_for = |hard| {
        let mut cluster = builder.clone().with(resource_quota("q", hard)).cluster();
        cluster.advance(now());
        let a = leaving("a", &set).build();
        cluster.apply(Event::Pods(WatchEvent::Deleted(a)));
        let b = cluster.pod(&PodKey::new("default", "b")).unwrap().clone();
        cluster.automatic_reservation(&b, now()).map(|_| ())
    };
    assert_eq!(result_for(json!({ "requests.cpu": "2", "pods": "2", "limits.cpu": "1" })), Ok(()));
    assert_eq!(
        result_for(json!({ "requests.cpu": "1999m" })),
        Err(NotReservedReason::OverQuota("cpu".into()))
    );
    assert_eq!(result_for(json!({ "pods": "1" })), Err(NotReservedReason::OverQuota("pods".into())));
}

#[test]
fn nothing_is_kept_for_more_than_an_hour_whatever_the_grace_period() {
    let (web, set) = web();
    let in_ten_years = json!("2036-01-31T12:00:00Z");
    let old = pod("a").owned_by(&set).cpu("1").on("n1").with("/metadata/deletionTimestamp", in_ten_years);
    let mut cluster =
        cluster_builder().node(node("n1")).workload(&web).workload(&set).pod(old.clone()).cluster();
    cluster.advance(now());
    assert_eq!(result_for(&cluster, &old.build()).unwrap().expires(), Some(at(3600)));
    cluster.apply(Event::Pods(WatchEvent::Deleted(old.build())));
    assert_eq!(cluster.next_expiry(now()), Some(at(180)), "until it is written");
    let written: Vec<_> = cluster.ledger_of(&"n1".into()).unwrap().unwritten().cloned().collect();
    assert_eq!(written[0].expires(), Some(at(600)), "a pod that is gone has no grace period left");
}

#[test]
fn an_extension_is_worth_a_write_and_keeps_within_the_cap() {
    let graces = [None, Some(at(30)), Some(at(7200))];
    for life in [LIFE_MIN, Duration::from_secs(600), Duration::from_secs(1900), LIFE_MAX] {
        for grace in graces {
            let mut one = pod("a").on("n1");
            if let Some(ends) = grace {
                one = one.with("/metadata/deletionTimestamp", json!(ends.to_string()));
            }
            let expires = expiry_for(&one.build(), life, now());
            let left = SignedDuration::try_from(extension_threshold(life)).unwrap();
            let moved = expires.duration_since(now() + left);
            assert!(moved * 2 >= SignedDuration::try_from(life).unwrap(), "{life:?} {grace:?}: {moved:?}");
            assert!(expires <= at(3600), "{life:?} {grace:?}: {expires}");
            let is_leaving = grace.is_some();
            assert!(is_leaving || moved >= SignedDuration::from_secs(240), "{life:?}: a pod that stays");
        }
    }
}

#[test]
fn a_record_that_is_too_long_is_known_before_the_pod_is_deleted() {
    let (web, set) = web();
    let ports = |count: u16| {
        let ports: Vec<_> = (0..count)
            .map(|port| {
                json!({ "containerPort": 1000 + port, "hostPort": 1000 + port, "protocol": "TCP",
                "hostIP": "192.168.100.200" })
            })
            .collect();
        pod("a").owned_by(&set).on("n1").with("/spec/containers/0/ports", json!(ports))
    };
    let judged = |count| {
        let builder = cluster_builder().node(node("n1")).workload(&web).workload(&set);
        let cluster = builder.pod(ports(count)).cluster();
        let pod = cluster.pod(&PodKey::new("default", "a")).unwrap();
        (
            cluster.record_too_long(pod),
            cluster.automatic_reservation(&ports(count).terminating().build(), now()).map(|_| ()),
        )
    };
    assert_eq!(judged(15), (None, Ok(())), "too long for 1 KiB");
    assert_eq!(judged(40), (None, Ok(())));
    let (before, then) = judged(100);
    assert!(matches!(before, Some(NotReservedReason::Unwritable(_))), "{before:?}");
    assert!(matches!(then, Err(NotReservedReason::Unwritable(_))), "{then:?}");
}

/// While a reservation is to be written, an expired one with the same key is not released.
#[test]
fn a_record_that_is_too_long_is_not_written_over_a_shorter_one_either() {
    let (web, set) = web();
    let ports: Vec<_> = (0..100)
        .map(|port| json!({ "containerPort": 1000 + port, "hostPort": 1000 + port, "hostIP": "192.168.100.200" }))
        .collect();
    let leaving = leaving("a", &set).with("/spec/containers/0/ports", json!(ports));
    let replaced = leaving.build();
    let seat = crate::model::Seat::for_replaced(&replaced.uid).unwrap();
    let by_hand = reservation(&web).seat(seat.as_str()).cpu("1").replaces(&replaced).expires(at(-1));
    let builder = cluster_builder().node(node("n1").reserves(by_hand)).workload(&web).workload(&set);
    let kept = result_for(&builder.pod(leaving).cluster(), &replaced);
    assert!(matches!(kept, Err(NotReservedReason::Unwritable(_))), "{kept:?}");
}

/// A tenant can create a pod with `spec.nodeName` and any requests: the kubelet refuses it, which costs the tenant nothing.
#[test]
fn a_pod_that_its_kubelet_has_not_accepted_earns_nothing() {
    let (web, set) = web();
    let mut cluster = cluster_builder().node(node("n1").cpu("64")).workload(&web).workload(&set).cluster();
    cluster.advance(now());
    let forced = |name: &str| pod(name).owned_by(&set).cpu("8").created_on("n1").terminating();
    cluster.apply(Event::Pods(WatchEvent::Applied(forced("forced").build())));
    assert_eq!(result_for(&cluster, &forced("forced").build()), Err(NotReservedReason::NotAdmitted));
    assert!(is_reserved_after_deletion(&mut cluster, "a", &set, 0));
    assert!(!is_reserved_after_deletion(&mut cluster, "b", &set, 1), "nor does it count as requested");
    let accepted = forced("forced").with("/status/startTime", json!(now().to_string()));
    for pod in [accepted, forced("forced").phase("Running"), forced("forced").on("n1")] {
        let pod = pod.build();
        let mut cluster =
            cluster_builder().node(node("n1").cpu("64")).workload(&web).workload(&set).cluster();
        cluster.apply(Event::Pods(WatchEvent::Applied(pod.clone())));
        assert!(result_for(&cluster, &pod).is_ok(), "{:?} {:?}", pod.phase, pod.scheduled);
    }
}

/// The reservation of a pod that is still there is covered by the requests of that pod.
#[test]
fn a_restart_does_not_let_a_namespace_have_more() {
    let (web, set) = web();
    let runs = ["a1", "a2"].map(|name| {
        let runs = pod(name).owned_by(&set).cpu("1").on("n1");
        runs.with("/metadata/annotations/reserve~1keep", json!("10m")).build()
    });
    let test_cluster = |node| {
        let builder = cluster_builder().node(node).workload(&web).workload(&set);
        runs.iter().cloned().fold(builder, |builder, pod| builder.pod(pod)).cluster_at(now())
    };
    let first = test_cluster(node("n1").cpu("64"));
    let [one, other] = [0, 1].map(|index: usize| first.automatic_reservation(&runs[index], now()).unwrap());
    let mut cluster = test_cluster(node("n1").cpu("64").reserves(one).reserves(other));
    assert!(
        is_reserved_after_deletion(&mut cluster, "b", &set, 1),
        "three are requested, and reserved by now"
    );
    assert!(!is_reserved_after_deletion(&mut cluster, "c", &set, 2), "four never were");
}

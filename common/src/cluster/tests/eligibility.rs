//! Which pods may use a reservation, to which pods it yields, and which reservation a pod would take.

use super::{database, test_cluster, web, web_set};
use crate::model::owner::{OwnerKind, Workload};
use crate::model::pod::SYSTEM_CRITICAL_PRIORITY;
use crate::model::{Pod, ResourceName};
use crate::testing::{
    ClusterBuilder, PodBuilder, ReservationBuilder, at, bare_reservation, cluster_builder, daemon_set, node,
    now, plain, pod, replica_set, reservation, uid,
};
use serde_json::{Value, json};

fn may_use(builder: ClusterBuilder, pod: &Pod, kept: &ReservationBuilder) -> bool {
    let mut cluster = builder.cluster();
    cluster.snapshot(now()).context(pod).may_use(&kept.build())
}

fn claims(pod: PodBuilder, api_version: &str, kind: &str, owner: &Workload, controller: &Value) -> Pod {
    let reference = json!({
        "apiVersion": api_version, "kind": kind, "name": &*owner.name, "uid": owner.uid.to_string(),
        "controller": controller,
    });
    pod.with("/metadata/ownerReferences", json!([reference])).build()
}

#[test]
fn the_chain_leads_from_the_pod_over_its_replica_set_to_the_deployment() {
    let replica = pod("web-1").owned_by(&web_set()).build();
    assert!(may_use(test_cluster(&[]), &replica, &reservation(&web())));
    assert!(
        may_use(test_cluster(&[]), &replica, &reservation(&web_set())),
        "and through every owner in between"
    );
    assert!(!may_use(test_cluster(&[]), &replica, &reservation(&database())));
    let mut cluster = test_cluster(&[]).cluster();
    let snapshot = cluster.snapshot(now());
    assert_eq!(snapshot.context(&replica).top(), Some(&web()));
    let renewed = replica_set("web-8b2f").of(&web());
    let next = pod("web-2").owned_by(&renewed).build();
    assert!(may_use(test_cluster(&[]).workload(&renewed), &next, &reservation(&web())), "a rollout keeps it");
}

#[test]
fn a_claim_alone_proves_nothing() {
    let kept = reservation(&web());
    let direct = |builder: ClusterBuilder, owner: &Workload| {
        may_use(builder, &pod("p").owned_by(owner).build(), &kept)
    };
    assert!(direct(test_cluster(&[]), &web()));
    assert!(!direct(cluster_builder(), &web()), "never read");
    let renamed = Workload { name: "other".into(), ..web() };
    assert!(!direct(test_cluster(&[]), &renamed), "the uid of one under the name of another");
    let guessed = Workload { uid: uid("guess"), ..web() };
    assert!(!direct(test_cluster(&[]), &guessed), "the name without the uid");
    let recreated = Workload { uid: uid("new"), ..web() };
    assert!(!direct(cluster_builder().workload(&recreated), &web()), "recreated under the same name");
    let kind = Workload { kind: OwnerKind::StatefulSet, ..web() };
    assert!(!direct(test_cluster(&[]), &kind), "another kind");
}

#[test]
fn owners_live_in_the_pods_own_namespace() {
    let kept = reservation(&web());
    let elsewhere = pod("web-1").namespace("evil").owned_by(&web_set()).build();
    assert!(!may_use(test_cluster(&[]), &elsewhere, &kept));
    let copy = replica_set("web-7c9d").of(&web()).namespace("evil");
    assert!(!may_use(test_cluster(&[]).workload(&copy), &elsewhere, &kept), "the copy's owner is not there");
}

#[test]
fn only_a_controller_owns() {
    let kept = reservation(&web());
    for controller in [json!(false), Value::Null] {
        assert!(!may_use(
            test_cluster(&[]),
            &claims(pod("p"), "apps/v1", "Deployment", &web(), &controller),
            &kept
        ));
    }
    assert!(may_use(
        test_cluster(&[]),
        &claims(pod("p"), "apps/v1", "Deployment", &web(), &json!(true)),
        &kept
    ));
    assert!(
        !may_use(test_cluster(&[]), &claims(pod("p"), "v1", "Deployment", &web(), &json!(true)), &kept),
        "of no group"
    );
}

#[test]
fn an_unknown_kind_ends_the_chain_at_the_highest_owner_that_was_read() {
    let mut set = web_set();
    let rollout = uid("rollout");
    let controller = set.controller.as_mut().unwrap();
    (controller.kind, controller.uid) = (None, rollout.clone());
    let replica = pod("p").owned_by(&set).build();
    let builder = || cluster_builder().workload(&set).workload(&web());
    assert!(may_use(builder(), &replica, &reservation(&set)));
    assert!(!may_use(builder(), &replica, &reservation(&web())));
    assert!(!may_use(builder(), &replica, &plain(&rollout)), "never read, never compared");
}

#[test]
fn references_in_a_circle_come_to_an_end() {
    let (first, second) = (replica_set("a"), replica_set("b"));
    let builder = cluster_builder().workload(&first.clone().of(&second)).workload(&second.clone().of(&first));
    let replica = pod("p").owned_by(&first).build();
    assert!(may_use(builder.clone(), &replica, &reservation(&second)));
    assert!(!may_use(builder, &replica, &reservation(&web())));
}

#[test]
fn a_chain_is_followed_ten_owners_up() {
    let owners: Vec<Workload> = (0..12)
        .map(|index| replica_set(&format!("r{index}")).of(&replica_set(&format!("r{}", index + 1))))
        .collect();
    let builder = owners.iter().fold(cluster_builder(), |builder, owner| builder.workload(owner));
    let replica = pod("p").owned_by(&owners[0]).build();
    assert!(may_use(builder.clone(), &replica, &reservation(&owners[9])));
    assert!(!may_use(builder, &replica, &reservation(&owners[10])));
}

#[test]
fn a_bare_pod_owns_itself() {
    let bare = pod("tool").build();
    assert!(may_use(cluster_builder(), &bare, &plain(&bare.uid)));
    assert!(
        !may_use(cluster_builder(), &pod("tool").uid("other").build(), &plain(&bare.uid)),
        "the plain form knows no name"
    );
    assert!(may_use(cluster_builder(), &pod("tool").uid("other").build(), &bare_reservation(&bare)));
    let controlled = pod("tool").owned_by(&web_set()).build();
    assert!(!may_use(test_cluster(&[]), &controlled, &plain(&controlled.uid)));
}

#[test]
fn reservations_yield_by_rank() {
    let daemons = daemon_set("agent", &pod("template"), &[("app", "agent")]);
    let real = pod("p").owned_by(&daemons).labels([("app", "agent")]).tied_to("n1");
    let forged = Workload { name: "not-there".into(), ..daemons.clone() };
    let forged = pod("p").owned_by(&forged).labels([("app", "agent")]).tied_to("n1");
    let recorded = reservation(&web()).priority(10);
    let manual = plain(&web().uid).cpu("1");
    let critical = pod("p").priority(SYSTEM_CRITICAL_PRIORITY);
    let table = [
        ("lower", pod("p").priority(9), false, false),
        ("equal", pod("p").priority(10), false, false),
        ("higher", pod("p").priority(11), true, false),
        ("highest of users", pod("p").priority(1_000_000_000), true, false),
        ("system critical", critical, true, true),
        ("of a DaemonSet", real.priority(-1), true, true),
        ("of a DaemonSet that was never read", forged, false, false),
    ];
    for (name, pod, passes_recorded, passes_manual) in table {
        let mut cluster = cluster_builder().workload(&daemons).node(node("n1")).cluster();
        let pod = pod.build();
        let snapshot = cluster.snapshot(now());
        let (context, ledger) = (snapshot.context(&pod), snapshot.nodes().next().unwrap());
        assert_eq!(context.outranks(&recorded.build(), ledger), passes_recorded, "{name}, recorded");
        assert_eq!(context.outranks(&manual.build(), ledger), passes_manual, "{name}, plain");
    }
}

/// The cpu that is free for `pod` on `n1`, and the seat that it would take.
fn room(kept: &[ReservationBuilder], pod: &PodBuilder) -> (i64, Option<String>) {
    room_in(test_cluster(kept), pod)
}

fn room_in(test_cluster: ClusterBuilder, pod: &PodBuilder) -> (i64, Option<String>) {
    let mut cluster = test_cluster.cluster();
    let (snapshot, pod) = (cluster.snapshot(now()), pod.build());
    let room = snapshot.nodes().next().unwrap().room_for(&snapshot.context(&pod));
    let seat = room.own.map(|id| id.seat.as_ref().map_or("plain", |seat| seat.as_str()).to_owned());
    (room.free(&ResourceName::Cpu), seat)
}

#[test]
fn a_pod_finds_what_is_not_kept_for_others() {
    let kept = [reservation(&web()).cpu("1"), reservation(&database()).cpu("2")];
    let replica = pod("web-2").owned_by(&web_set());
    assert_eq!(room(&kept, &pod("x")), (1000, None));
    assert_eq!(room(&kept, &replica), (2000, Some("a".into())));
    assert_eq!(
        room(&kept, &replica.clone().priority(1)),
        (4000, Some("a".into())),
        "what yields is not kept"
    );
    let over = [reservation(&database()).cpu("9")];
    assert_eq!(room(&over, &replica), (-5000, None), "people can reserve more than there is");
}

#[test]
fn what_was_taken_is_not_free_when_its_time_is_over() {
    for (seconds, state) in [(1, "in time"), (0, "over")] {
        let kept = [reservation(&web()).cpu("1").expires(at(seconds))];
        let taker = pod("web-2").cpu("1").owned_by(&web_set()).stamp(&kept[0].id()).on("n1");
        assert_eq!(room_in(test_cluster(&kept).pod(taker), &pod("x")), (3000, None), "{state}");
    }
}

#[test]
fn a_pod_would_take_the_one_named_for_it_and_else_the_oldest() {
    let replica = pod("web-2").owned_by(&web_set());
    let young = reservation(&web()).seat("a").cpu("1").created(at(-10));
    let old = reservation(&web()).seat("b").cpu("1").created(at(-20));
    let named = young.clone().seat("c").created(at(-5)).replaces(&replica.clone().uid("before").build());
    let expired = old.clone().seat("d").created(at(-99)).expires(now());
    let manual = plain(&web().uid).cpu("1");
    let all = [young.clone(), old, named, expired, manual.clone()];
    assert_eq!(room(&all, &replica), (2000, Some("c".into())), "the one for a pod of its name");
    assert_eq!(room(&all, &pod("web-3").owned_by(&web_set())).1, Some("b".into()), "the oldest");
    assert_eq!(room(&[young, manual.clone()], &replica).1, Some("a".into()), "a seat before the plain form");
    assert_eq!(room(&[manual], &replica), (4000, Some("plain".into())));
}

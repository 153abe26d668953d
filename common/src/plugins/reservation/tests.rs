//! Reservation: tables of cases.

mod reserved_node;

use super::{ReservationPlugin, WEIGHT};
use crate::framework::{BlockingReservation, Numbers, Reason, SCORE_MAX};
use crate::model::ResourceName;
use crate::model::owner::Workload;
use crate::testing::{
    ClusterBuilder, NodeBuilder, PodBuilder, cluster_builder, deployment, node, now, plain, pod, reasons,
    rejections, replica_set, reservation, scores,
};
use serde_json::json;

fn web() -> Workload {
    deployment("web")
}

fn set() -> Workload {
    replica_set("web-7c9d").of(&web())
}

fn replica(name: &str) -> PodBuilder {
    pod(name).owned_by(&set())
}

/// A cluster with one node of four cpus, of which three are reserved for the Deployment.
fn test_cluster() -> ClusterBuilder {
    with(node("n1").reserves(reservation(&web()).cpu("3").memory("1Gi")))
}

fn with(node: NodeBuilder) -> ClusterBuilder {
    cluster_builder().workload(&web()).workload(&set()).node(node)
}

#[test]
fn strangers_find_only_what_is_not_kept() {
    let table = [
        (pod("x"), vec![]),
        (pod("x").cpu("1").memory("15Gi"), vec![]),
        (pod("x").cpu("1001m"), vec!["Insufficient cpu"]),
        (pod("x").cpu("4").memory("16Gi"), vec!["Insufficient cpu", "Insufficient memory"]),
        (pod("x").cpu("5"), vec![]),
    ];
    for (stranger, expected) in table {
        assert_eq!(
            reasons(&ReservationPlugin, test_cluster(), &stranger),
            expected,
            "{:?}",
            stranger.build().spec.requests.incoming
        );
    }
    let first = reasons(
        &super::super::node_resources::NodeResourcesFit::default(),
        test_cluster(),
        &pod("x").cpu("5"),
    );
    assert_eq!(first, ["Insufficient cpu"], "what is lacking anyway is for the other plugin to say");
}

#[test]
fn a_refusal_has_numbers_and_says_for_whom_the_room_is_kept() {
    let more = plain(&replica_set("other").uid).cpu("500m");
    let kept = reservation(&web()).cpu("2").memory("1Gi");
    let node = node("n1").reserves(kept.clone()).reserves(more.clone());
    let test_cluster = with(node).pod(pod("a").cpu("500m").on("n1"));
    let rejected = rejections(&ReservationPlugin, test_cluster, &pod("x").cpu("2"));
    let numbers = Numbers { asks: 2000, allocatable: 4000, used: 500, reserved: 2500 };
    assert_eq!((numbers.free(), numbers.short()), (1000, 1000));
    let mut blocking = vec![
        BlockingReservation { reservation: kept.id(), amount: 2000 },
        BlockingReservation { reservation: more.id(), amount: 500 },
    ];
    blocking.sort_by(|a, b| a.reservation.cmp(&b.reservation));
    let reason = Reason::Insufficient { resource: ResourceName::Cpu, numbers, blocked_by: blocking.into() };
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0].reason, reason);
    assert!(
        !rejected[0].reason.to_string().contains(&web().uid.to_string()),
        "an event never names an owner"
    );
}

#[test]
fn the_owner_comes_in() {
    assert_eq!(reasons(&ReservationPlugin, test_cluster(), &replica("web-2").cpu("4")), [""; 0]);
    let taken = test_cluster().pod(replica("web-1").cpu("3").on("n1").stamp(&reservation(&web()).id()));
    assert_eq!(
        reasons(&ReservationPlugin, taken, &pod("x").cpu("1").memory("16Gi")),
        [""; 0],
        "taken: nothing is kept"
    );
}

#[test]
fn one_seat_lets_one_pod_in() {
    let two = with(
        node("n1").reserves(reservation(&web()).cpu("2")).reserves(reservation(&web()).seat("b").cpu("2")),
    );
    assert_eq!(reasons(&ReservationPlugin, two.clone(), &replica("web-2").cpu("2")), [""; 0]);
    assert_eq!(
        reasons(&ReservationPlugin, two, &replica("web-2").cpu("3")),
        ["Insufficient cpu"],
        "the other is for another"
    );
}

#[test]
fn a_pod_slot_is_kept_too() {
    let slots = |count| with(node("n1").pods(count).reserves(reservation(&web()).cpu("1")));
    assert_eq!(reasons(&ReservationPlugin, slots(1), &pod("x")), ["Insufficient pods"]);
    assert_eq!(reasons(&ReservationPlugin, slots(2), &pod("x")), [""; 0]);
    assert_eq!(reasons(&ReservationPlugin, slots(1), &replica("web-2")), [""; 0]);
}

#[test]
fn scalars_are_kept_too() {
    let gpu =
        node("n1").has("nvidia.com/gpu", "2").reserves(reservation(&web()).keeps("nvidia.com/gpu", "1"));
    let asks =
        |count: &str| reasons(&ReservationPlugin, with(gpu.clone()), &pod("x").asks("nvidia.com/gpu", count));
    assert_eq!(asks("1"), [""; 0]);
    assert_eq!(asks("2"), ["Insufficient nvidia.com/gpu"]);
}

#[test]
fn what_yields_or_is_over_keeps_nobody_out() {
    let large = pod("x").cpu("4").memory("16Gi");
    assert_eq!(reasons(&ReservationPlugin, test_cluster(), &large.clone().priority(1)), [""; 0]);
    assert_eq!(reasons(&ReservationPlugin, test_cluster(), &large.clone().priority(-1)).len(), 2);
    let over = with(node("n1").reserves(reservation(&web()).cpu("3").expires(now())));
    assert_eq!(reasons(&ReservationPlugin, over, &large), [""; 0]);
    let manual = with(node("n1").reserves(plain(&web().uid).cpu("3")));
    assert_eq!(reasons(&ReservationPlugin, manual, &large.priority(1_000_000)), ["Insufficient cpu"]);
}

#[test]
fn who_asks_for_nothing_is_not_kept_out_by_amounts() {
    let over = with(node("n1").reserves(reservation(&web()).cpu("9").memory("99Gi")));
    assert_eq!(reasons(&ReservationPlugin, over, &pod("x")), [""; 0]);
}

fn wants_port(pod: PodBuilder, protocol: &str, ip: &str, port: u16) -> PodBuilder {
    let port = json!([{ "protocol": protocol, "hostIP": ip, "hostPort": port, "containerPort": 80 }]);
    pod.with("/spec/containers/0/ports", port)
}

#[test]
fn ports_are_kept_too() {
    let message = "node(s) didn't have free ports for the requested pod ports";
    let kept = || reservation(&web()).cpu("1").port("TCP", "", 80).port("UDP", "10.0.0.1", 53);
    let http = |pod: PodBuilder| wants_port(pod, "TCP", "", 80);
    let over = kept().expires(now());
    let owner = http(replica("web-1").cpu("1").on("n1")).stamp(&kept().id());
    let asks = [
        ("kept", kept(), http(pod("x")), vec![message]),
        ("kept on all addresses", kept(), wants_port(pod("x"), "TCP", "10.0.0.1", 80), vec![message]),
        ("another port", kept(), wants_port(pod("x"), "TCP", "", 81), vec![]),
        ("another protocol", kept(), wants_port(pod("x"), "UDP", "", 80), vec![]),
        ("another address", kept(), wants_port(pod("x"), "UDP", "10.0.0.2", 53), vec![]),
        ("all addresses", kept(), wants_port(pod("x"), "UDP", "", 53), vec![message]),
        ("no port", kept(), pod("x"), vec![]),
        ("the owner", kept(), http(replica("web-2")), vec![]),
        ("it yields to this one", kept(), http(pod("x").priority(1)), vec![]),
        ("its time is over", over, http(pod("x")), vec![]),
        ("room too", kept(), http(pod("x").cpu("4")), vec!["Insufficient cpu", message]),
        ("short", kept().cpu("9"), http(pod("x")), vec![message]),
    ];
    for (name, kept, pod, expected) in asks {
        assert_eq!(reasons(&ReservationPlugin, with(node("n1").reserves(kept)), &pod), expected, "{name}");
    }
    let taken = with(node("n1").reserves(kept())).pod(owner);
    assert_eq!(
        reasons(&ReservationPlugin, taken, &http(pod("x"))),
        [""; 0],
        "the pod has it: NodePorts says so"
    );
}

#[test]
fn who_keeps_a_port_is_known_and_not_said() {
    let kept = reservation(&web()).cpu("1").port("TCP", "", 80);
    let asks = wants_port(pod("x"), "TCP", "10.0.0.1", 80);
    let rejected = rejections(&ReservationPlugin, with(node("n1").reserves(kept.clone())), &asks);
    let ports = asks.build().spec.ports.clone();
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0].reason, Reason::Ports { ports, blocked_by: [kept.id()].into() });
    assert!(!rejected[0].reason.is_unresolvable());
    assert!(!rejected[0].reason.to_string().contains(&web().uid.to_string()));
}

#[test]
fn an_owners_own_node_scores_highest() {
    let two = || {
        cluster_builder()
            .workload(&web())
            .workload(&set())
            .node(node("n1"))
            .node(node("n2").reserves(reservation(&web()).cpu("1")))
    };
    assert_eq!(scores(&ReservationPlugin, two(), &replica("web-2")), [0, SCORE_MAX]);
    assert_eq!(scores(&ReservationPlugin, two(), &pod("x")), [0, 0]);
    let all_others = 100 * (3 + 1);
    assert!(i64::from(WEIGHT) * SCORE_MAX > all_others);
}

/// Both pods are of one class. Answers for the owner's pod must not be used for the other one.
#[test]
fn what_an_owners_pod_was_told_is_not_told_to_strangers() {
    let (mine, stranger) = (replica("a").cpu("2"), pod("b").cpu("2"));
    let mut cluster =
        test_cluster().node(node("n2").cpu("4")).pod(mine.build()).pod(stranger.build()).cluster();
    let registry = crate::plugins::default_registry();
    let mut decide = |builder: &PodBuilder| {
        let pod = cluster.pod(&builder.build().key).cloned().unwrap();
        let world = cluster.snapshot(now());
        let decision = crate::cycle::schedule(&pod, &world, &registry);
        assert_eq!(decision, crate::cycle::schedule_by_scan(&pod, &world, &registry));
        match decision {
            crate::cycle::Decision::Place { node, .. } => node.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([&mine, &stranger, &mine].map(&mut decide), ["n1", "n2", "n1"]);
}

//! Decisions of a cycle: the node, the rejections, the message.

mod histories;
mod measured;
mod nominated;
mod outcomes;
mod properties;
mod refusals;
mod reserved;
mod same;
mod seeds;
mod test_plugins;

use super::{Decision, Depth, PluginScores, diagnose, schedule, scores};
use crate::cluster::NodeId;
use crate::framework::{Diagnosis, Reason, Registry};
use crate::model::PodKey;
use crate::plugins::{default_registry, without_reservations};
use crate::testing::{
    ClusterBuilder, PodBuilder, cluster_builder, deployment, node, now, pod, replica_set, reservation,
};

fn decide(world: ClusterBuilder, pod: &PodBuilder) -> Decision {
    let mut cluster = world.cluster();
    schedule(&pod.build(), &cluster.snapshot(now()), &default_registry())
}

/// The node that the pod goes to.
fn place(world: ClusterBuilder, pod: &PodBuilder) -> String {
    match decide(world, pod) {
        Decision::Place { node, .. } => node.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The message for a pod that fits no node, without the part of PostFilter.
fn message(world: ClusterBuilder, pod: &PodBuilder) -> String {
    match decide(world, pod) {
        Decision::NoFit(no_fit) => super::message(&no_fit.diagnosis),
        other => panic!("{other:?}"),
    }
}

fn diagnosis(world: ClusterBuilder, pod: &PodBuilder, registry: &Registry, depth: Depth) -> Diagnosis {
    let (mut cluster, pod) = (world.cluster(), pod.build());
    let snapshot = cluster.snapshot(now());
    diagnose(&snapshot.context(&pod), &snapshot, registry, depth).unwrap()
}

fn nodes(count: usize) -> ClusterBuilder {
    (0..count).fold(cluster_builder(), |world, index| world.node(node(&format!("n{index:02}"))))
}

#[test]
fn the_emptiest_node_wins() {
    let test_cluster = nodes(3).pod(pod("a").cpu("1").on("n00")).pod(pod("b").cpu("500m").on("n02"));
    assert_eq!(place(test_cluster, &pod("p").cpu("1")), "n01");
}

#[test]
fn ties_go_to_the_first_node() {
    assert_eq!(place(nodes(5), &pod("p").cpu("1")), "n00");
    let test_cluster = cluster_builder().node(node("n3")).node(node("n1").cordoned()).node(node("n2"));
    assert_eq!(place(test_cluster, &pod("p")), "n2", "in node order, not in that of arrival");
}

#[test]
fn soft_taints_outweigh_room() {
    let tainted = node("n1").cpu("64").taint("a:PreferNoSchedule");
    assert_eq!(place(cluster_builder().node(tainted).node(node("n2")), &pod("p").cpu("1")), "n2");
}

#[test]
fn scores_are_told_by_plugin_raw_and_weighted() {
    let tainted = node("n1").taint("a:PreferNoSchedule").taint("b:PreferNoSchedule");
    let test_cluster = cluster_builder()
        .node(tainted)
        .node(node("n2").taint("a:PreferNoSchedule"))
        .node(node("n3").cordoned());
    let (mut cluster, pod) = (test_cluster.cluster(), pod("p").cpu("1").memory("4Gi").build());
    let snapshot = cluster.snapshot(now());
    let asked = |nodes: &[usize]| {
        let ids: Vec<NodeId> = snapshot.nodes().map(|ledger| ledger.id).collect();
        let feasible: Vec<NodeId> = nodes.iter().map(|node| ids[*node]).collect();
        let mut all = scores(&snapshot.context(&pod), &snapshot, &without_reservations(), &feasible).unwrap();
        all.retain(|one| ["TaintToleration", "NodeResourcesFit"].contains(&one.plugin));
        all
    };
    let expected = |plugin, raw: [i64; 2], weighted: [i64; 2]| PluginScores {
        plugin,
        raw: raw.to_vec(),
        weighted: weighted.to_vec(),
    };
    let taints = expected("TaintToleration", [2, 1], [0, 150]);
    assert_eq!(asked(&[0, 1]), [taints, expected("NodeResourcesFit", [75, 75], [75, 75])]);
    assert_eq!(asked(&[1]), [], "one node is no choice");
}

#[test]
fn a_replacement_goes_home_and_takes_its_seat() {
    let (owner, set) = (deployment("web"), replica_set("web-1").of(&deployment("web")));
    let kept = reservation(&owner).cpu("1");
    let reserved_node = node("n2").taint("a:PreferNoSchedule").reserves(kept.clone());
    let test_cluster =
        cluster_builder().workload(&owner).workload(&set).node(node("n1").cpu("64")).node(reserved_node);
    let replica = pod("web-2").cpu("1").owned_by(&set);
    let decision = decide(test_cluster.clone(), &replica);
    assert_eq!(decision, Decision::Place { node: "n2".into(), claims: Some(kept.id()).into() });
    assert_eq!(
        decide(test_cluster, &pod("x").cpu("1")),
        Decision::Place { node: "n1".into(), claims: None.into() }
    );
}

/// Both pods are of one class, so that answers for one are kept for the other.
#[test]
fn what_an_owner_hears_at_home_is_not_kept_for_strangers() {
    let owner = deployment("web");
    let reserved_node = node("n1").cpu("2").reserves(reservation(&owner).cpu("1"));
    let replica = pod("web-2").cpu("2").owned_by(&owner);
    let test_cluster = cluster_builder()
        .workload(&owner)
        .node(reserved_node)
        .node(node("n2").cpu("1"))
        .pod(replica)
        .pod(pod("x").cpu("2"));
    let mut cluster = test_cluster.cluster();
    let (snapshot, registry) = (cluster.snapshot(now()), default_registry());
    let decided = |name: &str| {
        let pod = snapshot.pod(&PodKey::new("default", name)).unwrap();
        schedule(pod, &snapshot, &registry)
    };
    assert!(matches!(decided("web-2"), Decision::Place { .. }), "it is its room");
    assert!(matches!(decided("x"), Decision::NoFit(_)), "it is kept for another");
}

#[test]
fn the_plain_form_is_used_without_a_stamp() {
    let owner = deployment("web");
    let test_cluster = cluster_builder()
        .workload(&owner)
        .node(node("n1").reserves(crate::testing::plain(&owner.uid).cpu("4")));
    let replica = pod("web-2").cpu("4").owned_by(&owner);
    assert_eq!(decide(test_cluster, &replica), Decision::Place { node: "n1".into(), claims: None.into() });
}

#[test]
fn reasons_are_counted_and_sorted_as_text() {
    let cordoned = (0..10).fold(nodes(0), |world, index| world.node(node(&format!("c{index}")).cordoned()));
    let test_cluster =
        cordoned.node(node("a").cpu("1")).node(node("b").cpu("1")).node(node("t").taint("k:NoSchedule"));
    assert_eq!(
        message(test_cluster, &pod("p").cpu("2")),
        "0/13 nodes are available: 1 node(s) had untolerated taint(s), 10 node(s) were unschedulable, \
         2 Insufficient cpu."
    );
}

#[test]
fn a_node_that_lacks_two_things_counts_twice() {
    assert_eq!(
        message(nodes(2), &pod("p").cpu("9").memory("99Gi")),
        "0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient memory."
    );
}

#[test]
fn room_kept_for_others_reads_like_room_that_is_not_there() {
    let kept = |name: &str| node(name).reserves(reservation(&deployment("web")).cpu("3"));
    let test_cluster = cluster_builder().node(kept("n1")).node(kept("n2")).node(node("n3").cpu("1"));
    assert_eq!(message(test_cluster, &pod("p").cpu("2")), "0/3 nodes are available: 3 Insufficient cpu.");
}

#[test]
fn no_nodes_have_their_own_sentence() {
    assert_eq!(message(cluster_builder(), &pod("p")), "no nodes available to schedule pods");
}

#[test]
fn a_scheduler_hears_the_first_plugin_and_people_hear_all() {
    let cordoned = || cluster_builder().node(node("n1").cpu("1").cordoned().taint("k:NoSchedule"));
    let reasons = |depth| {
        let diagnosis = diagnosis(cordoned(), &pod("p").cpu("2"), &default_registry(), depth);
        diagnosis.nodes[0].rejections.iter().map(|one| one.plugin).collect::<Vec<_>>()
    };
    assert_eq!(reasons(Depth::First), ["NodeUnschedulable"]);
    assert_eq!(reasons(Depth::All), ["NodeUnschedulable", "TaintToleration", "NodeResourcesFit"]);
}

#[test]
fn a_trace_knows_who_fits_and_which_plugins_refuse() {
    let kept = node("n2").reserves(reservation(&deployment("web")).cpu("3"));
    let test_cluster = cluster_builder().node(node("n1").cordoned()).node(kept).node(node("n3"));
    let diagnosis = diagnosis(test_cluster, &pod("p").cpu("2"), &default_registry(), Depth::First);
    assert_eq!(diagnosis.feasible().collect::<Vec<_>>(), [diagnosis.nodes[2].id]);
    assert_eq!(diagnosis.plugins().into_iter().collect::<Vec<_>>(), ["NodeUnschedulable", "Reservation"]);
    let Reason::Insufficient { blocked_by, .. } = &diagnosis.nodes[1].rejections[0].reason else {
        panic!("{diagnosis:?}")
    };
    assert_eq!(blocked_by.len(), 1);
}

#[test]
fn without_our_plugin_nobody_heeds_reservations() {
    let kept = || cluster_builder().node(node("n1").reserves(reservation(&deployment("web")).cpu("4")));
    let fits =
        |registry: &Registry| diagnosis(kept(), &pod("p").cpu("1"), registry, Depth::All).feasible().count();
    assert_eq!((fits(&default_registry()), fits(&without_reservations())), (0, 1));
}

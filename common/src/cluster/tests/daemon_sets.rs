//! To which pods of DaemonSets reservations yield: those that the controller would make for that node.

use crate::model::Workload;
use crate::testing::{
    ClusterBuilder, NodeBuilder, PodBuilder, cluster_builder, daemon_set, node, now, plain, pod, uid,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// A node whose whole cpu is reserved.
fn n1() -> NodeBuilder {
    node("n1").label("disk", "ssd").reserves(plain(&uid("somebody")).cpu("4"))
}

fn template() -> PodBuilder {
    pod("template").cpu("1")
}

fn agent(template: &PodBuilder) -> Workload {
    daemon_set("agent", template, &[("app", "agent")])
}

/// A pod of the DaemonSet as its controller makes it for `n1`.
fn made(name: &str) -> PodBuilder {
    pod(name).cpu("1").owned_by(&agent(&template())).labels([("app", "agent")]).tied_to("n1")
}

fn is_made(set: &Workload, node: NodeBuilder, pod: &PodBuilder) -> bool {
    is_made_in(cluster_builder().workload(set).node(node), pod)
}

/// Whether the reservation on the first node yields to `pod`.
fn is_made_in(builder: ClusterBuilder, pod: &PodBuilder) -> bool {
    let mut cluster = builder.cluster();
    let (snapshot, pod) = (cluster.snapshot(now()), pod.build());
    let (context, ledger) = (snapshot.context(&pod), snapshot.nodes().next().unwrap());
    let passes = context.outranks(&ledger.entries[0].reservation, ledger);
    assert_eq!(ledger.room_for(&context).reserved.cpu, if passes { 0 } else { 4000 });
    assert!(!context.as_stranger().is_made_for(ledger), "what is kept for a class is about no DaemonSet");
    passes
}

#[test]
fn the_pod_that_the_controller_makes_for_the_node_passes() {
    assert!(is_made(&agent(&template()), n1(), &made("p")));
    let less = made("p").cpu("500m");
    assert!(is_made(&agent(&template()), n1(), &less), "less than the template");
}

#[test]
fn a_pod_that_only_names_the_daemon_set_is_kept_out() {
    let set = agent(&template());
    let loose = pod("p").cpu("1").owned_by(&set).labels([("app", "agent")]);
    let required = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    let field = |values: Value| json!({ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": values }] });
    let terms = |terms: Value| loose.clone().with(required, json!({ "nodeSelectorTerms": terms }));
    let label = json!({ "matchExpressions": [{ "key": "disk", "operator": "Exists" }] });
    assert!(is_made(&set, n1(), &terms(json!([field(json!(["n1"])), field(json!(["n1"]))]))));
    for (pod, why) in [
        (loose.clone(), "tied to no node"),
        (loose.clone().with("/spec/nodeSelector", json!({ "disk": "ssd" })), "tied by a label"),
        (loose.clone().tied_to("n2"), "tied to another node"),
        (terms(json!([field(json!(["n1"])), label])), "tied by one of two terms"),
        (terms(json!([field(json!(["n1"])), field(json!(["n2"]))])), "tied to two nodes"),
        (terms(json!([])), "without terms"),
        (made("p").labels([("app", "web")]), "not selected"),
        (made("p").cpu("1001m"), "more than the template asks for"),
        (made("p").asks("nvidia.com/gpu", "1"), "something that the template does not ask for"),
        (made("p").namespace("other"), "in another namespace"),
        (made("p").owned_by(&Workload { uid: uid("guess"), ..set.clone() }), "of a guessed UID"),
    ] {
        assert!(!is_made(&set, n1(), &pod), "{why}");
    }
    assert!(!is_made(&Workload { is_deleting: true, ..set.clone() }, n1(), &made("p")), "being deleted");
    assert!(!is_made(&Workload { daemon: None, ..set }, n1(), &made("p")), "only its metadata was read");
}

#[test]
fn a_daemon_set_that_does_not_run_on_the_node_makes_no_pods_for_it() {
    let required =
        "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let on_disk =
        |disk: &str| json!([{ "matchExpressions": [{ "key": "disk", "operator": "In", "values": [disk] }] }]);
    let selects = |disk: &str| template().with("/spec/nodeSelector", json!({ "disk": disk }));
    for (template, runs, why) in [
        (selects("ssd"), true, "its selector matches"),
        (selects("none"), false, "its selector matches no node"),
        (template().with(required, on_disk("ssd")), true, "its affinity matches"),
        (template().with(required, on_disk("hdd")), false, "its affinity matches another node"),
        (template().on("n1"), true, "it names the node"),
        (template().on("n2"), false, "it names another node"),
    ] {
        assert_eq!(is_made(&agent(&template), n1(), &made("p")), runs, "{why}");
    }
}

#[test]
fn the_templates_own_tolerations_count_and_not_those_of_the_pod() {
    let tainted = |taint: &str| n1().taint(taint);
    let tolerant = made("p").tolerates("dedicated");
    let agent = |template: PodBuilder| agent(&template);
    assert!(!is_made(&agent(template()), tainted("dedicated:NoSchedule"), &tolerant));
    assert!(!is_made(&agent(template()), tainted("dedicated:NoExecute"), &tolerant));
    assert!(is_made(&agent(template().tolerates("dedicated")), tainted("dedicated:NoSchedule"), &tolerant));
    assert!(is_made(&agent(template()), tainted("dedicated:PreferNoSchedule"), &tolerant), "repels nobody");
    for (taint, runs) in [
        ("node.kubernetes.io/not-ready:NoExecute", true),
        ("node.kubernetes.io/not-ready:NoSchedule", false),
        ("node.kubernetes.io/unreachable:NoExecute", true),
        ("node.kubernetes.io/disk-pressure:NoSchedule", true),
        ("node.kubernetes.io/memory-pressure:NoSchedule", true),
        ("node.kubernetes.io/pid-pressure:NoSchedule", true),
        ("node.kubernetes.io/unschedulable:NoSchedule", true),
        ("node.kubernetes.io/network-unavailable:NoSchedule", false),
    ] {
        assert_eq!(is_made(&agent(template()), tainted(taint), &made("p")), runs, "{taint}");
    }
    let on_host = agent(template().with("/spec/hostNetwork", json!(true)));
    assert!(is_made(&on_host, tainted("node.kubernetes.io/network-unavailable:NoSchedule"), &made("p")));
}

#[test]
fn a_node_has_one_pod_of_a_daemon_set() {
    let set = agent(&template());
    let beside =
        |other: PodBuilder| is_made_in(cluster_builder().workload(&set).node(n1()).pod(other), &made("p"));
    assert!(!beside(made("first").on("n1")));
    assert!(!beside(made("first").on("n1").terminating()), "it leaves, and is still there");
    assert!(beside(made("first").on("n1").phase("Failed")), "it has ended");
    assert!(beside(made("first").on("n2")), "it is elsewhere");
    let other = daemon_set("other", &template(), &[("app", "agent")]);
    assert!(beside(made("first").owned_by(&other).on("n1")), "it is of another DaemonSet");
    assert!(beside(made("first").namespace("other").on("n1")), "it is in another namespace");
    assert!(beside(made("p").on("n1")), "it is the pod itself");
}

#[test]
fn a_daemon_set_that_surges_has_two_while_it_is_updated() {
    let mut set = agent(&template());
    let revision =
        |name: &str, hash: &str| made(name).labels([("app", "agent"), ("controller-revision-hash", hash)]);
    let beside = |set: &Workload, others: &[PodBuilder], own: &PodBuilder| {
        let start = cluster_builder().workload(set).node(n1());
        is_made_in(others.iter().cloned().fold(start, |builder, other| builder.pod(other.on("n1"))), own)
    };
    let old = revision("old", "a");
    assert!(!beside(&set, std::slice::from_ref(&old), &revision("p", "b")), "it does not surge");
    Arc::make_mut(set.daemon.as_mut().unwrap()).surges = true;
    assert!(beside(&set, std::slice::from_ref(&old), &revision("p", "b")));
    assert!(!beside(&set, std::slice::from_ref(&old), &revision("p", "a")), "of the same revision");
    assert!(!beside(&set, std::slice::from_ref(&old), &made("p")), "of no revision");
    assert!(!beside(&set, &[old, revision("new", "b")], &revision("p", "c")), "it would be the third");
}

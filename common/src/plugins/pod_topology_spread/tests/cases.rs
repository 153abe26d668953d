//! PodTopologySpread: tables of cases, mostly of those that are easy to get wrong.

use super::plugin;
use crate::config::{PodTopologySpreadArgs, SpreadConstraint};
use crate::framework::Reason;
use crate::model::owner::{OwnerKind, Workload};
use crate::model::selector::Selector;
use crate::testing::{
    ClusterBuilder, NodeBuilder, PodBuilder, all_rejections, cluster_builder, node, pod, raw_and_scores,
    replica_set, service, workload,
};
use serde_json::{Value, json};

const MISSING: &str = "node(s) didn't match pod topology spread constraints (missing required label)";
const SKEWED: &str = "node(s) didn't match pod topology spread constraints";

fn in_zone(name: &str, zone: &str) -> NodeBuilder {
    node(name).with("/metadata/labels", json!({ "zone": zone, "kubernetes.io/hostname": name }))
}

fn app(name: &str) -> PodBuilder {
    pod(name).with("/metadata/labels", json!({ "app": "web", "rev": "1" }))
}

/// A pod with `maxSkew` 1 over zones; `more` changes fields of the constraint.
fn spread(more: &Value) -> PodBuilder {
    let mut constraint = json!({
        "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": { "matchLabels": { "app": "web" } },
    });
    for (key, value) in more.as_object().unwrap() {
        constraint[key] = value.clone();
    }
    app("p").with("/spec/topologySpreadConstraints", json!([constraint]))
}

/// Two pods in zone a, one in zone b, none in zone c, and a node in no zone.
fn test_cluster() -> ClusterBuilder {
    let nodes = [in_zone("n1", "a"), in_zone("n2", "b"), in_zone("n3", "c"), node("n4")];
    let test_cluster = nodes.into_iter().fold(cluster_builder(), ClusterBuilder::node);
    [("x1", "n1"), ("x2", "n1"), ("x3", "n2")]
        .into_iter()
        .fold(test_cluster, |test_cluster, (name, on)| test_cluster.pod(app(name).on(on)))
}

/// One letter for each node: a dot where the pod fits, M for a missing label, S for too much skew.
fn said(world: ClusterBuilder, pod: &PodBuilder) -> String {
    said_by(&plugin(&PodTopologySpreadArgs::System), world, pod)
}

fn said_by(plugin: &super::PodTopologySpread, world: ClusterBuilder, pod: &PodBuilder) -> String {
    let letter = |reason: &Reason| match reason.to_string().as_str() {
        MISSING if reason.is_unresolvable() => 'M',
        SKEWED if !reason.is_unresolvable() => 'S',
        other => panic!("{other}"),
    };
    let nodes = all_rejections(plugin, world, pod);
    nodes.iter().map(|all| all.first().map_or('.', |one| letter(&one.reason))).collect()
}

#[test]
fn a_constraint_keeps_pods_off_full_domains() {
    let table = [
        (json!({}), "SS.M"),
        (json!({ "maxSkew": 2 }), "S..M"),
        (json!({ "maxSkew": 3 }), "...M"),
        (json!({ "whenUnsatisfiable": "ScheduleAnyway" }), "...."),
        (json!({ "minDomains": 3 }), "SS.M"),
        (json!({ "minDomains": 4, "maxSkew": 2 }), "S..M"),
        (json!({ "minDomains": 4 }), "SS.M"),
        // A missing selector matches no pod, not even the pod itself.
        (json!({ "labelSelector": null, "maxSkew": 1 }), "...M"),
        // An empty selector counts no pod, as in kube-scheduler, but it matches the pod itself.
        (json!({ "labelSelector": {}, "maxSkew": 1 }), "...M"),
        (json!({ "labelSelector": { "matchLabels": { "app": "other" } } }), "...M"),
        (json!({ "topologyKey": "none" }), "MMMM"),
    ];
    for (more, expected) in table {
        assert_eq!(said(test_cluster(), &spread(&more)), expected, "{more}");
    }
}

#[test]
fn with_few_domains_the_lowest_count_is_taken_to_be_none() {
    let test_cluster = || {
        let test_cluster = cluster_builder().node(in_zone("n1", "a")).node(in_zone("n2", "b"));
        [("x1", "n1"), ("x2", "n2")]
            .into_iter()
            .fold(test_cluster, |test_cluster, (name, on)| test_cluster.pod(app(name).on(on)))
    };
    assert_eq!(said(test_cluster(), &spread(&json!({}))), "..");
    assert_eq!(said(test_cluster(), &spread(&json!({ "minDomains": 2 }))), "..");
    assert_eq!(said(test_cluster(), &spread(&json!({ "minDomains": 3 }))), "SS");
}

#[test]
fn labels_can_be_shared_with_the_pod() {
    let old = pod("old").with("/metadata/labels", json!({ "app": "web", "rev": "0" }));
    let with_old =
        || test_cluster().pod(old.clone().on("n3")).pod(old.clone().uid("o2").namespace("other").on("n3"));
    assert_eq!(said(with_old(), &spread(&json!({}))), "S..M");
    assert_eq!(said(with_old(), &spread(&json!({ "matchLabelKeys": ["rev"] }))), "SS.M");
    assert_eq!(said(with_old(), &spread(&json!({ "matchLabelKeys": ["none"] }))), "S..M");
    let nil = json!({ "matchLabelKeys": ["rev"], "labelSelector": null });
    assert_eq!(said(with_old(), &spread(&nil)), "...M", "a missing selector stays missing");
    let empty = json!({ "matchLabelKeys": ["rev"], "labelSelector": {} });
    assert_eq!(said(with_old(), &spread(&empty)), "SS.M", "an empty one becomes one");
}

#[test]
fn only_pods_that_stay_in_the_same_namespace_count() {
    let one = |pod: PodBuilder| {
        cluster_builder().node(in_zone("n1", "a")).node(in_zone("n2", "b")).pod(pod.on("n1"))
    };
    assert_eq!(said(one(app("x")), &spread(&json!({}))), "S.");
    assert_eq!(said(one(app("x").terminating()), &spread(&json!({}))), "..");
    assert_eq!(said(one(app("x").namespace("other")), &spread(&json!({}))), "..");
    assert_eq!(said(one(app("x").phase("Succeeded")), &spread(&json!({}))), "..");
}

#[test]
fn nodes_that_do_not_count_make_no_domain() {
    let labelled = |name: &str, zone: &str, disk: &str| {
        node(name).with("/metadata/labels", json!({ "zone": zone, "disk": disk }))
    };
    let test_cluster = || {
        let nodes = [labelled("n1", "a", "ssd"), labelled("n2", "b", "hdd").taint("dirty:NoSchedule")];
        nodes.into_iter().fold(cluster_builder(), ClusterBuilder::node).pod(app("x").on("n1"))
    };
    let choosy = |more: Value| spread(&more).with("/spec/nodeSelector", json!({ "disk": "ssd" }));
    assert_eq!(said(test_cluster(), &spread(&json!({}))), "S.");
    assert_eq!(said(test_cluster(), &choosy(json!({}))), "..", "a is the only domain");
    assert_eq!(said(test_cluster(), &choosy(json!({ "nodeAffinityPolicy": "Ignore" }))), "S.");
    assert_eq!(said(test_cluster(), &spread(&json!({ "nodeTaintsPolicy": "Honor" }))), "..");
    assert_eq!(
        said(test_cluster(), &spread(&json!({ "nodeTaintsPolicy": "Honor" })).tolerates("dirty")),
        "S."
    );
    let term = json!([{ "matchExpressions": [{ "key": "disk", "operator": "In", "values": ["ssd"] }] }]);
    let required =
        "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    assert_eq!(said(test_cluster(), &spread(&json!({})).with(required, term)), "..");
}

#[test]
fn a_node_needs_the_labels_of_all_constraints_to_count() {
    let constraint = |key: &str| {
        json!({ "maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": { "matchLabels": { "app": "web" } } })
    };
    let both =
        app("p").with("/spec/topologySpreadConstraints", json!([constraint("zone"), constraint("rack")]));
    let racked =
        |name: &str, zone: &str| node(name).with("/metadata/labels", json!({ "zone": zone, "rack": "r" }));
    let test_cluster =
        cluster_builder().node(racked("n1", "a")).node(in_zone("n2", "b")).pod(app("x").on("n1"));
    assert_eq!(said(test_cluster, &both), ".M", "b is no domain, so that a is the least full one");
}

fn listed(more: impl Fn(&mut SpreadConstraint)) -> super::PodTopologySpread {
    let mut constraint = SpreadConstraint {
        max_skew: 1,
        topology_key: "zone".into(),
        do_not_schedule: true,
        min_domains: None,
        node_affinity_policy: None,
        node_taints_policy: None,
        match_label_keys: vec!["rev".into()],
    };
    more(&mut constraint);
    plugin(&PodTopologySpreadArgs::List(vec![constraint]))
}

#[test]
fn who_has_no_constraints_has_those_of_the_configuration() {
    let served = || test_cluster().with(service("web").selector([("app", "web")]));
    assert_eq!(said_by(&listed(|_| ()), served(), &app("p")), "SS.M");
    assert_eq!(
        said_by(&listed(|_| ()), test_cluster(), &app("p")),
        "....",
        "nothing says who belongs together"
    );
    assert_eq!(said_by(&listed(|one| one.max_skew = 2), served(), &app("p")), "S..M");
    assert_eq!(said_by(&listed(|one| one.do_not_schedule = false), served(), &app("p")), "....");
    let own = spread(&json!({ "whenUnsatisfiable": "ScheduleAnyway" }));
    assert_eq!(said_by(&listed(|_| ()), served(), &own), "....", "a constraint of its own, of whatever kind");
}

fn selecting(kind: OwnerKind, labels: &[(&'static str, &'static str)]) -> Workload {
    let mut set = workload(kind, "set");
    set.selector = Some(Selector::from_pairs(labels.iter().copied()));
    set
}

#[test]
fn the_pods_of_a_service_or_a_controller_belong_together() {
    let said = |set: &Workload, world: ClusterBuilder| {
        said_by(&listed(|_| ()), world.workload(set), &app("p").owned_by(set))
    };
    let db_service = || service("db").selector([("app", "db")]);
    let rev_service = || service("rev").selector([("rev", "1")]);
    for kind in [OwnerKind::ReplicaSet, OwnerKind::StatefulSet, OwnerKind::ReplicationController] {
        let web = selecting(kind, &[("app", "web")]);
        assert_eq!(said(&web, test_cluster()), "SS.M", "{kind}");
        assert_eq!(said(&web, test_cluster().with(db_service())), "SS.M", "not its service");
        let other = selecting(kind, &[("app", "web"), ("rev", "2")]);
        assert_eq!(said(&other, test_cluster()), "...M", "{kind}: none but itself, which is not even one");
        // The labels of a ReplicationController replace those of a service; the selector of a set is added to them.
        let rev2 = selecting(kind, &[("rev", "2")]);
        let newer = |name| app(name).with("/metadata/labels/rev", json!("2")).on("n3");
        let moved = test_cluster().with(rev_service()).pod(newer("y1")).pod(newer("y2"));
        let expected = if kind == OwnerKind::ReplicationController { "..SM" } else { "...M" };
        assert_eq!(said(&rev2, moved), expected, "{kind}");
        assert_eq!(said(&selecting(kind, &[]), test_cluster()), "....", "{kind} that selects all");
    }
    for kind in [OwnerKind::Deployment, OwnerKind::DaemonSet, OwnerKind::Job] {
        assert_eq!(said(&selecting(kind, &[("app", "web")]), test_cluster()), "....", "{kind}");
    }
    let recreated =
        Workload { uid: crate::testing::uid("new"), ..selecting(OwnerKind::ReplicaSet, &[("app", "web")]) };
    let claims = app("p").owned_by(&replica_set("set"));
    assert_eq!(said_by(&listed(|_| ()), test_cluster().workload(&recreated), &claims), "SS.M", "as upstream");
}

fn scored(world: ClusterBuilder, pod: &PodBuilder) -> Option<(Vec<i64>, Vec<i64>)> {
    raw_and_scores(&plugin(&PodTopologySpreadArgs::System), world, pod)
}

#[test]
fn fuller_domains_score_lower() {
    let soft = spread(&json!({ "whenUnsatisfiable": "ScheduleAnyway" }));
    // ln(3 + 2) = 1.609…, for zones a, b, c; the node without a zone is left out.
    assert_eq!(scored(test_cluster(), &soft), Some((vec![3, 2, 0, 0], vec![0, 33, 100, 0])));
    let wide = spread(&json!({ "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 3 }));
    assert_eq!(scored(test_cluster(), &wide), Some((vec![5, 4, 2, 0], vec![40, 60, 100, 0])));
    let nil = spread(&json!({ "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": null }));
    assert_eq!(scored(test_cluster(), &nil), Some((vec![0; 4], vec![100, 100, 100, 0])));
    assert_eq!(scored(test_cluster(), &spread(&json!({}))), None, "a hard one says nothing here");
    assert_eq!(scored(test_cluster(), &app("p")), None, "nothing says who belongs together");
}

#[test]
fn by_default_pods_are_spread_over_hosts_and_zones_as_far_as_nodes_have_them() {
    let zoned = |name: &str, zone: &str| {
        let labels = json!({ "topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": name });
        node(name).with("/metadata/labels", labels)
    };
    let hostless = node("n4").with("/metadata/labels", json!({ "topology.kubernetes.io/zone": "" }));
    let nodes = [zoned("n1", "a"), zoned("n2", "b"), node("n3"), hostless];
    let test_cluster = nodes
        .into_iter()
        .fold(cluster_builder(), ClusterBuilder::node)
        .with(service("web").selector([("app", "web")]));
    let places = [("x1", "n1"), ("x2", "n1"), ("x3", "n3"), ("x4", "n4")];
    let test_cluster =
        places.into_iter().fold(test_cluster, |test_cluster, (name, on)| test_cluster.pod(app(name).on(on)));
    // Hosts weigh ln(4 + 2), zones ln(3 + 2): no zone is the same as an empty one. n1: 2 × 1.79 + 2 and 2 × 1.61 + 4;
    // n2: 2 and 4; n3 has neither label; n4: 2 × 1.61 + 4, with the pod on n3.
    assert_eq!(scored(test_cluster, &app("p")), Some((vec![13, 6, 0, 7], vec![0, 53, 100, 46])));
}

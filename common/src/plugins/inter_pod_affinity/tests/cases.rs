//! InterPodAffinity: tables of cases, mostly of those that are easy to get wrong.

use super::{InterPodAffinity, plugin};
use crate::framework::{Reason, Score};
use crate::testing::{
    ClusterBuilder, NodeBuilder, PodBuilder, all_rejections, cluster_builder, namespace, node, now, pod,
    raw_and_scores,
};
use serde_json::{Value, json};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

fn in_zone(name: &str, zone: &str) -> NodeBuilder {
    node(name).with("/metadata/labels", json!({ "zone": zone, "host": name }))
}

fn app(name: &str, app: &str) -> PodBuilder {
    pod(name).with("/metadata/labels", json!({ "app": app }))
}

/// A term about pods of an app.
fn term(app: &str, key: &str) -> Value {
    json!({ "labelSelector": { "matchLabels": { "app": app } }, "topologyKey": key })
}

fn near(pod: PodBuilder, terms: &[Value]) -> PodBuilder {
    pod.with(&format!("/spec/affinity/podAffinity/{REQUIRED}"), json!(terms))
}

fn apart(pod: PodBuilder, terms: &[Value]) -> PodBuilder {
    pod.with(&format!("/spec/affinity/podAntiAffinity/{REQUIRED}"), json!(terms))
}

fn prefers(pod: PodBuilder, kind: &str, weight: i32, term: &Value) -> PodBuilder {
    let terms = json!([{ "weight": weight, "podAffinityTerm": term }]);
    pod.with(&format!("/spec/affinity/{kind}/{PREFERRED}"), terms)
}

/// Two nodes in zone a, one in zone b, one in none.
fn test_cluster() -> ClusterBuilder {
    let nodes = [in_zone("n1", "a"), in_zone("n2", "a"), in_zone("n3", "b"), node("n4")];
    nodes.into_iter().fold(cluster_builder(), ClusterBuilder::node)
}

/// One letter for each node: a dot where the pod fits, else the kind of rejection.
fn said(world: ClusterBuilder, pod: &PodBuilder) -> String {
    let letter = |reason: &Reason| match (reason.to_string().as_str(), reason.is_unresolvable()) {
        ("node(s) didn't match pod affinity rules", true) => 'N',
        ("node(s) didn't match pod anti-affinity rules", false) => 'A',
        ("node(s) didn't satisfy existing pods anti-affinity rules", false) => 'E',
        other => panic!("{other:?}"),
    };
    let nodes = all_rejections(&plugin(1, false), world, pod);
    let one = |reason: &Reason| letter(reason);
    nodes.iter().map(|all| all.first().map_or('.', |first| one(&first.reason))).collect()
}

#[test]
fn a_pod_goes_where_those_are_that_it_requires() {
    let with_db = || test_cluster().pod(app("x", "db").on("n1"));
    let table = [
        (near(app("p", "web"), &[term("db", "zone")]), "..NN"),
        (near(app("p", "web"), &[term("db", "host")]), ".NNN"),
        (near(app("p", "web"), &[term("db", "zone"), term("db", "host")]), ".NNN"),
        (near(app("p", "web"), &[term("db", "none")]), "NNNN"),
        (near(app("p", "web"), &[term("web", "zone")]), "...N"),
        (near(app("p", "web"), &[term("cache", "zone")]), "NNNN"),
        // One pod must match all terms at once.
        (near(app("p", "web"), &[term("db", "zone"), term("web", "zone")]), "NNNN"),
        (near(app("p", "db"), &[json!({ "labelSelector": null, "topologyKey": "zone" })]), "NNNN"),
        (near(app("p", "db"), &[json!({ "labelSelector": {}, "topologyKey": "zone" })]), "..NN"),
    ];
    for (pod, expected) in table {
        assert_eq!(said(with_db(), &pod), expected, "{:?}", pod.build().spec.affinity);
    }
}

#[test]
fn the_first_of_its_kind_goes_anywhere_where_the_labels_are() {
    let own = near(app("p", "web"), &[term("web", "zone")]);
    assert_eq!(said(test_cluster(), &own), "...N");
    assert_eq!(said(test_cluster().pod(app("x", "web").on("n3")), &own), "NN.N");
    assert_eq!(
        said(test_cluster().pod(app("x", "web").on("n3").terminating()), &own),
        "NN.N",
        "it is still there"
    );
    assert_eq!(said(test_cluster().pod(app("x", "web").on("n4")), &own), "...N", "no zone, so nowhere");
    assert_eq!(said(test_cluster().pod(app("x", "web").namespace("other").on("n3")), &own), "...N");
}

#[test]
fn a_pod_stays_away_from_those_that_it_requires_to() {
    let with_db = || test_cluster().pod(app("x", "db").on("n1")).pod(app("y", "db").on("n4"));
    assert_eq!(said(with_db(), &apart(app("p", "web"), &[term("db", "zone")])), "AA..");
    assert_eq!(said(with_db(), &apart(app("p", "web"), &[term("db", "host")])), "A...");
    assert_eq!(said(with_db(), &apart(app("p", "web"), &[term("db", "none")])), "....");
    let both = near(apart(app("p", "web"), &[term("db", "host")]), &[term("db", "zone")]);
    assert_eq!(said(with_db(), &both), "A.NN");
}

#[test]
fn pods_keep_others_away() {
    let shy = |name: &str, from: &str, key: &str| apart(app(name, "shy"), &[term(from, key)]);
    assert_eq!(said(test_cluster().pod(shy("x", "web", "zone").on("n1")), &app("p", "web")), "EE..");
    assert_eq!(said(test_cluster().pod(shy("x", "web", "host").on("n1")), &app("p", "web")), "E...");
    assert_eq!(said(test_cluster().pod(shy("x", "web", "zone").on("n4")), &app("p", "web")), "....");
    assert_eq!(said(test_cluster().pod(shy("x", "db", "zone").on("n1")), &app("p", "web")), "....");
    assert_eq!(
        said(test_cluster().pod(shy("x", "web", "zone").on("n1").terminating()), &app("p", "web")),
        "EE.."
    );
    let other = shy("x", "web", "zone").namespace("other").on("n1");
    assert_eq!(said(test_cluster().pod(other), &app("p", "web")), "....");
    let and_own = apart(app("p", "web"), &[term("shy", "host")]);
    assert_eq!(said(test_cluster().pod(shy("x", "web", "zone").on("n1")), &and_own), "AE..");
}

#[test]
fn terms_are_about_namespaces_by_name_or_label() {
    let with = |more: Value| {
        let mut term = term("db", "zone");
        for (key, value) in more.as_object().unwrap() {
            term[key] = value.clone();
        }
        term
    };
    let selector = |team: &str| json!({ "namespaceSelector": { "matchLabels": { "team": team } } });
    let table = [
        (json!({}), false, true),
        (json!({ "namespaces": ["other"] }), true, false),
        (json!({ "namespaces": ["default"] }), false, true),
        (json!({ "namespaceSelector": {} }), true, true),
        (selector("b"), true, false),
        (selector("a"), false, true),
        (selector("c"), false, false),
        (
            json!({ "namespaces": ["default"], "namespaceSelector": { "matchLabels": { "team": "b" } } }),
            true,
            true,
        ),
    ];
    let test_cluster = || {
        let spaces = [namespace("default").label("team", "a"), namespace("other").label("team", "b")];
        spaces.into_iter().fold(test_cluster(), ClusterBuilder::with)
    };
    for (more, means_other, means_default) in table {
        for (space, is_meant) in [("other", means_other), ("default", means_default)] {
            let there = test_cluster().pod(app("x", "db").namespace(space).on("n1"));
            let expected = if is_meant { "AA.." } else { "...." };
            assert_eq!(
                said(there, &apart(app("p", "web"), &[with(more.clone())])),
                expected,
                "{more} {space}"
            );
            // The same term of an existing pod, for an incoming pod.
            let there = test_cluster().pod(apart(app("x", "shy"), &[with(more.clone())]).on("n1"));
            let expected = if is_meant { "EE.." } else { "...." };
            assert_eq!(said(there, &app("p", "db").namespace(space)), expected, "{more} {space}");
        }
    }
}

#[test]
fn a_namespace_that_is_not_known_has_no_labels() {
    let absent = json!({ "matchExpressions": [{ "key": "team", "operator": "DoesNotExist" }] });
    let term = json!({ "labelSelector": {}, "topologyKey": "zone", "namespaceSelector": absent });
    let shy = apart(app("x", "shy"), std::slice::from_ref(&term)).on("n1");
    assert_eq!(said(test_cluster().pod(shy), &app("p", "web").namespace("ghost")), "EE..");
    let ghost = app("x", "web").namespace("ghost").on("n1");
    assert_eq!(said(test_cluster().pod(ghost), &apart(app("p", "web"), &[term])), "....", "it is not found");
}

fn scored(
    plugin: &InterPodAffinity,
    world: ClusterBuilder,
    pod: &PodBuilder,
) -> Option<(Vec<i64>, Vec<i64>)> {
    raw_and_scores(plugin, world, pod)
}

#[test]
fn what_is_liked_adds_up() {
    let with_dbs = || {
        test_cluster().pod(app("x", "db").on("n1")).pod(app("y", "db").on("n2")).pod(app("z", "db").on("n3"))
    };
    let likes = prefers(app("p", "web"), "podAffinity", 3, &term("db", "zone"));
    assert_eq!(
        scored(&plugin(1, false), with_dbs(), &likes),
        Some((vec![6, 6, 3, 0], vec![100, 100, 50, 0]))
    );
    let dislikes = prefers(app("p", "web"), "podAntiAffinity", 3, &term("db", "zone"));
    assert_eq!(
        scored(&plugin(1, false), with_dbs(), &dislikes),
        Some((vec![-6, -6, -3, 0], vec![0, 0, 50, 100]))
    );
    let both = prefers(likes, "podAntiAffinity", 7, &term("db", "host"));
    assert_eq!(
        scored(&plugin(1, false), with_dbs(), &both),
        Some((vec![-1, -1, -4, 0], vec![75, 75, 0, 100]))
    );
    let nobody = prefers(app("p", "web"), "podAffinity", 3, &term("none", "zone"));
    assert_eq!(scored(&plugin(1, false), with_dbs(), &nobody), None);
    let nowhere = prefers(app("p", "web"), "podAffinity", 3, &term("db", "none"));
    assert_eq!(scored(&plugin(1, false), with_dbs(), &nowhere), None);
}

#[test]
fn pods_on_nodes_have_a_say() {
    let web = app("p", "web");
    let likes =
        || test_cluster().pod(prefers(app("x", "db"), "podAffinity", 4, &term("web", "zone")).on("n1"));
    assert_eq!(scored(&plugin(1, false), likes(), &web), Some((vec![4, 4, 0, 0], vec![100, 100, 0, 0])));
    assert_eq!(scored(&plugin(1, true), likes(), &web), None);
    let fond = prefers(web.clone(), "podAffinity", 1, &term("db", "host"));
    assert_eq!(scored(&plugin(1, true), likes(), &fond).unwrap().0, [5, 4, 0, 0], "it minds itself");
    let needs = || test_cluster().pod(near(app("x", "db"), &[term("web", "zone")]).on("n3"));
    assert_eq!(scored(&plugin(1, false), needs(), &web).unwrap().0, [0, 0, 1, 0]);
    assert_eq!(scored(&plugin(9, false), needs(), &web).unwrap().0, [0, 0, 9, 0]);
    assert_eq!(scored(&plugin(0, false), needs(), &web), None);
    let shy = || test_cluster().pod(apart(app("x", "db"), &[term("web", "zone")]).on("n3"));
    assert_eq!(scored(&plugin(1, false), shy(), &web), None, "what is required is not scored");
}

#[test]
fn scores_that_are_all_the_same_come_to_nothing() {
    let test_cluster =
        || cluster_builder().node(in_zone("n1", "a")).node(in_zone("n2", "a")).pod(app("x", "db").on("n1"));
    let likes = prefers(app("p", "web"), "podAffinity", 3, &term("db", "zone"));
    assert_eq!(scored(&plugin(1, false), test_cluster(), &likes), Some((vec![3, 3], vec![0, 0])));
    // Terms whose weights cancel out still score.
    let both = prefers(likes, "podAntiAffinity", 3, &term("db", "zone"));
    assert_eq!(scored(&plugin(1, false), test_cluster(), &both), Some((vec![0, 0], vec![0, 0])));
}

#[test]
fn who_minds_nobody_among_others_who_do_not_is_scored_by_the_nodes_alone() {
    let scope = |world: ClusterBuilder, pod: PodBuilder| {
        let (mut cluster, pod) = (world.cluster(), pod.build());
        let snapshot = cluster.snapshot(now());
        plugin(1, false).scope(&snapshot.context(&pod), &snapshot) == crate::framework::Scope::Cluster
    };
    let likes = || prefers(app("x", "db"), "podAffinity", 4, &term("web", "zone")).on("n1");
    assert!(!scope(test_cluster().pod(app("x", "db").on("n1")), app("p", "web")));
    assert!(scope(test_cluster().pod(likes()), app("p", "web")));
    assert!(!scope(test_cluster().pod(likes()), app("p", "other")));
    assert!(scope(test_cluster(), prefers(app("p", "web"), "podAffinity", 1, &term("db", "zone"))));
}

//! Fixes that were wrong once, and how they are ranked: by whom they harm.

use crate::explain::testing::{Json, TestCluster, at, input, node, pod, rules, test_cluster, uid};
use crate::explain::{Conclusion, Fix, Harm, Limit, Options};
use common::cluster::Event;
use common::model::owner::OwnerKind;
use serde_json::json;

fn fixes(test_cluster: &TestCluster, own: &Json) -> Vec<Fix> {
    match test_cluster.explain(own, Options::default()).conclusion {
        Conclusion::NodeAnalysis(analysis) => analysis.fixes,
        other => panic!("{other:?}"),
    }
}

fn commands(fixes: &[Fix]) -> Vec<String> {
    fixes.iter().flat_map(|fix| &fix.commands).map(|words| words.join(" ")).collect()
}

/// kubectl cannot set and remove the same label in one command.
#[test]
fn a_label_that_two_rules_are_about_is_corrected_once() {
    let expressions = json!([{ "key": "disk", "operator": "NotIn", "values": ["hdd"] }]);
    let required = json!({ "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [{ "matchExpressions": expressions }] } });
    let own = pod("web").with("/spec/nodeSelector", json!({ "disk": "ssd" }));
    let own = own.with("/spec/affinity", json!({ "nodeAffinity": required }));
    let found = fixes(&test_cluster().node(node("n1").label("disk", "hdd")), &own);
    assert_eq!(commands(&found), ["kubectl label node n1 disk=ssd --overwrite"]);
}

/// Nodes of another zone cannot be corrected, however many there are and however much room they have.
#[test]
fn nodes_of_another_zone_do_not_hide_the_one_that_could_be_opened() {
    let zone = "topology.kubernetes.io/zone";
    let mut test_cluster = test_cluster();
    for at in 0..30 {
        test_cluster = test_cluster.node(node(&format!("far-{at:02}")).label(zone, "b"));
    }
    let near = node("near").label(zone, "a").taint("dedicated=db:NoSchedule").cordoned();
    let own = pod("web").with("/spec/nodeSelector", json!({ zone: "a" }));
    let found = fixes(&test_cluster.node(near), &own);
    let told = commands(&found);
    assert!(told.contains(&"kubectl uncordon near".to_owned()), "{told:?}");
    let grown = found.iter().find(|fix| fix.kind == "AddNode").map(|fix| fix.description.as_str());
    assert!(
        grown.is_some_and(|description| description.starts_with("add a node like near with"))
            || grown.is_none(),
        "{grown:?}"
    );
}

/// Which pods a ReplicaSet removes is decided by its controller; for a StatefulSet it is known.
#[test]
fn only_of_a_stateful_set_is_it_told_who_goes() {
    for (kind, ends) in
        [(OwnerKind::StatefulSet, "ends db-1"), (OwnerKind::ReplicaSet, "ends 1 of its 2 pods")]
    {
        let filler = |name: &str| pod(name).of(kind, "db").on("n1").cpu("2");
        let test_cluster = test_cluster().workload(kind, "default", "db").node(node("n1").cpu("4"));
        let test_cluster = test_cluster.pod(filler("db-0")).pod(filler("db-1"));
        let found = fixes(&test_cluster, &pod("web").cpu("2"));
        let scale = found.iter().find(|fix| fix.kind == "Scale").unwrap_or_else(|| panic!("{found:#?}"));
        assert_eq!(scale.disturbs, [ends]);
    }
}

fn kinds(fixes: &[Fix]) -> Vec<(&'static str, Harm)> {
    fixes.iter().map(|fix| (fix.kind, fix.harm())).collect()
}

/// What others relied on is not touched first, whatever is short.
#[test]
fn what_others_rely_on_is_never_the_first_fix() {
    let labelled = test_cluster().node(node("n1").label("pool", "db")).node(node("n2").label("pool", "web"));
    let labelled = labelled.pod(pod("load").on("n2").cpu("16").priority(1000));
    let own = pod("web").cpu("1").with("/spec/nodeSelector", json!({ "pool": "web" }));
    let expected = [("AddNode", Harm::Nobody), ("Label", Harm::Disruptive)];
    assert_eq!(kinds(&fixes(&labelled, &own)), expected);

    let filler = pod("db-0").of(OwnerKind::StatefulSet, "db").on("n1").cpu("4");
    let full = test_cluster().workload(OwnerKind::StatefulSet, "default", "db").node(node("n1").cpu("4"));
    let found = fixes(&full.pod(filler), &pod("web").cpu("2"));
    assert_eq!(kinds(&found), [("AddNode", Harm::Nobody), ("Scale", Harm::Disruptive)]);
    assert_eq!(found[0].id, "A");

    let tainted = test_cluster().node(node("n1").taint("dedicated=db:NoSchedule"));
    let expected = [("Tolerate", Harm::Nobody), ("Untaint", Harm::Disruptive)];
    assert_eq!(kinds(&fixes(&tainted, &pod("web"))), expected);
}

/// Lower requests change the template: whoever runs from it already is recreated.
#[test]
fn lower_requests_disturb_the_pods_of_the_workload_that_run() {
    let web = |cluster: TestCluster| {
        let own = pod("web-1").of(OwnerKind::Deployment, "web").cpu("4");
        let found = fixes(&cluster.workload(OwnerKind::Deployment, "default", "web"), &own);
        found.into_iter().find(|fix| fix.kind == "LowerRequest").unwrap()
    };
    let alone = web(test_cluster().node(node("n1").cpu("3")));
    assert_eq!((alone.harm(), &*alone.disturbs), (Harm::Nobody, &[][..]));
    assert_eq!(
        alone.description,
        "ask for less, if Deployment/web needs no more: cpu 3 is the most that fits now"
    );
    let sibling = pod("web-0").of(OwnerKind::Deployment, "web").on("n2").cpu("4");
    let beside = web(test_cluster().node(node("n1").cpu("3")).node(node("n2").cpu("4")).pod(sibling));
    assert_eq!(beside.harm(), Harm::MovesPods);
    assert_eq!(beside.disturbs, ["recreates 1 running pod of Deployment/web"]);
}

fn reserving(expires: i64) -> TestCluster {
    let owner = uid("Deployment/shop");
    let info = json!({ "v": 1, "owner": { "kind": "Deployment", "namespace": "default", "name": "shop", "uid": owner },
        "priority": 0, "created": at(-60), "expires": at(expires), "request": "r", "by": "x", "reason": "",
        "placement": "prefer" });
    let kept = node("n1").cpu("2").annotation(&format!("reserve.cpu/{owner}.7f3a0c"), "2");
    let kept = kept.annotation(&format!("reserve.info/{owner}.7f3a0c"), &info.to_string());
    test_cluster().workload(OwnerKind::Deployment, "default", "shop").node(kept)
}

/// A reservation that ends soon is waited for; to release it takes the place from its owner.
#[test]
fn a_reservation_that_ends_soon_is_waited_for() {
    let found = fixes(&reserving(552), &pod("web").cpu("2"));
    let expected = [("Wait", Harm::Nobody), ("AddNode", Harm::Nobody), ("Release", Harm::Disruptive)];
    assert_eq!(kinds(&found), expected);
    assert_eq!(
        found[0].description,
        "wait: reservation 7f3a0c ends in 9m12s, unless a pod of Deployment/shop takes the room before"
    );
    assert!(found[0].commands.is_empty() && found[0].what_if().is_none());
    let late = fixes(&reserving(3000), &pod("web").cpu("2"));
    assert_eq!(kinds(&late), [("AddNode", Harm::Nobody), ("Release", Harm::Disruptive)]);
}

/// An owner that was not found may be of a kind that may not be read.
#[test]
fn only_a_reservation_for_nobody_is_released_without_harm() {
    let kept = node("n1").cpu("2").annotation(&format!("reserve.cpu/{}", uid("Job/gone")), "2");
    let (test_cluster, own) = (test_cluster().node(kept), pod("web").cpu("2"));
    assert_eq!(kinds(&fixes(&test_cluster, &own))[0], ("Release", Harm::Nobody));

    let (rules, built, options) = (rules(), own.build(), Options { fixes: Limit::All, ..Options::default() });
    let mut cluster = test_cluster.cluster();
    cluster.apply(Event::WorkloadsUnreadable(OwnerKind::Job));
    let report = crate::explain::analyse(&mut cluster, &input(&built, &own.0, &rules, options));
    let Conclusion::NodeAnalysis(analysis) = report.conclusion else { panic!() };
    assert_eq!(kinds(&analysis.fixes), [("AddNode", Harm::Nobody), ("Release", Harm::Disruptive)]);
    assert_eq!(analysis.fixes[1].disturbs, ["its owner may lose its place"]);
}

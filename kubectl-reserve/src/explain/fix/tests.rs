//! Regressions: fixes that were wrong once.

use crate::explain::testing::{Json, TestCluster, node, pod, test_cluster};
use crate::explain::{Conclusion, Fix, Options};
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

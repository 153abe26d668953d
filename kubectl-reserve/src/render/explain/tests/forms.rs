//! The other forms of output: one node (`--node`), JSON, and `--what-if`.

use super::{NOBODY, analysis, sample, web};
use crate::explain::testing::{input, node, now, pod, rules, test_cluster};
use crate::explain::{Limit, Options, checklist, parse_what_if, what_if};
use crate::print::schema_check::assert_valid;
use crate::render::explain::{Layout, PodExplanation, checklist as shown, document};
use common::model::owner::OwnerKind;
use serde_json::json;

#[test]
fn one_node_with_every_filter() {
    let spread = json!([{ "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": { "matchLabels": { "app": "web" } } }]);
    let own = web("4", "8Gi").label("app", "web").with("/spec/topologySpreadConstraints", spread);
    let kept =
        node("node-4").annotation(&format!("reserve.cpu/{NOBODY}"), "500m").taint("dedicated=db:NoSchedule");
    let test_cluster = test_cluster()
        .workload(OwnerKind::Deployment, "default", "web")
        .node(kept)
        .node(node("node-5"))
        .pod(pod("crunch-0").namespace("batch").on("node-4").cpu("9"))
        .pod(pod("pg-1").namespace("data").on("node-4").cpu("2"))
        .pod(pod("api-3").on("node-4").cpu("1500m").label("app", "web"))
        .pod(pod("tiny").on("node-4").cpu("100m"));
    let (rules, built) = (rules(), own.build());
    let mut cluster = test_cluster.cluster();
    let input = input(&built, &own.0, &rules, Options::default());
    let list = checklist(&mut cluster, &input, "node-4").unwrap();
    let other = checklist(&mut cluster, &input, "node-5").unwrap();
    assert!(!list.fits() && other.fits());
    let layout = Layout::default();
    insta::assert_snapshot!(format!("{}\n{}", shown(&list, true, &layout), shown(&other, true, &layout)));
    assert!(checklist(&mut cluster, &input, "node-6").unwrap_err().contains("not found"));
    let report = test_cluster.explain(&own, Options::default());
    let explanation = PodExplanation { report: &report, checklists: &[list, other], outcome: None };
    assert_valid(&document(&[explanation], now()));
}

#[test]
fn the_document_is_as_its_schema_says() {
    let pod = web("4", "8Gi")
        .with("/spec/nodeSelector", json!({ "disktype": "ssd" }))
        .scheduler_message("0/8 nodes are available: x.");
    let options = Options { fixes: Limit::All, nodes: Limit::Most(2), ..Options::default() };
    let report = sample().explain(&pod, options);
    let document = document(&[PodExplanation::from(&report)], now());
    assert_valid(&document);
    assert_eq!(analysis(&report).groups.iter().map(|group| group.nodes.len()).sum::<usize>(), 8);
    insta::assert_snapshot!(serde_json::to_string_pretty(&document).unwrap());
}

#[test]
fn rights_that_are_missing_are_told() {
    let pod = web("4", "8Gi").with("/spec/nodeSelector", json!({ "disktype": "ssd" }));
    let mut report = sample().explain(&pod, Options::default());
    let needs = report.needs();
    assert!(needs.iter().any(|right| (right.verb, &*right.resource) == ("patch", "nodes")), "{needs:?}");
    report.note_rights(|right| Some(right.resource != "nodes"));
    let text = super::text(&report);
    assert!(text.contains("not for you: ask somebody who may patch nodes"), "{text}");
    let document = document(&[PodExplanation::from(&report)], now());
    assert_valid(&document);
    assert_eq!(document["items"][0]["fixes"][0]["allowed"], false);
}

#[test]
fn a_supposed_change_leaves_no_trace() {
    let own = web("4", "8Gi").with("/spec/nodeSelector", json!({ "disktype": "ssd" }));
    let (rules, built) = (rules(), own.build());
    let mut cluster = sample().pod(own.clone()).cluster();
    let input = input(&built, &own.0, &rules, Options::default());
    let before = crate::explain::analyse(&mut cluster, &input);
    let mut after = |changes: &[&str]| {
        let changes: Vec<_> = changes.iter().map(|text| parse_what_if(text).unwrap()).collect();
        what_if(&mut cluster, &input, &changes).map(|outcome| outcome.after)
    };
    let table: [(&[&str], &[&str]); 10] = [
        (&["uncordon=node-1"], &["node-1"]),
        (&["label=node-9:disktype=ssd"], &["node-9"]),
        (&["requests.cpu=1600m"], &["node-2"]),
        (&["requests.cpu=3300m", "toleration=dedicated=db:NoSchedule"], &["node-3"]),
        (&["requests.cpu=3300m", "untaint=node-3:dedicated"], &["node-3"]),
        (&["evict=node-4-load"], &["node-4"]),
        (&["requests.cpu=100m", "requests.memory=1Gi"], &["node-2", "node-4", "node-5", "node-6", "node-7"]),
        (&["add-node=like:node-2"], &["new-node"]),
        (&["add-node=cpu=8,memory=32Gi"], &[]),
        (&["priority=2000"], &[]),
    ];
    for (changes, expected) in table {
        assert_eq!(after(changes).unwrap(), expected, "{changes:?}");
    }
    for (change, words) in [
        ("uncordon=node-77", "no node node-77"),
        ("untaint=node-1:dedicated", "no taint dedicated"),
        ("release=7f3a0c", "no reservation 7f3a0c"),
        ("evict=nobody", "no pod default/nobody"),
        ("scale=deploy/none=1", "no Deployment none"),
    ] {
        let error = after(&[change]).unwrap_err();
        assert!(error.contains(words), "{change}: {error}");
    }
    assert_eq!(before, crate::explain::analyse(&mut cluster, &input));
}

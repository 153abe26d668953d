//! The other forms of output: one node (`--node`), JSON, and `--what-if`.

use super::{NOBODY, analysis, sample, web};
use crate::explain::testing::{input, node, now, pod, rules, test_cluster};
use crate::explain::{Input, Limit, Options, Preemption, analyse, checklist, parse_what_if, what_if};
use crate::print::schema_check::assert_valid;
use crate::render::explain::{Layout, PodExplanation, checklist as shown, document};
use common::model::owner::OwnerKind;
use serde_json::json;
use std::path::{Path, PathBuf};

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

/// The overview looks for no fixes, and names the same cause.
#[test]
fn the_cause_does_not_depend_on_the_fixes() {
    for own in [
        web("4", "8Gi").with("/spec/nodeSelector", json!({ "disktype": "ssd" })),
        web("4", "8Gi"),
        web("64", "1Gi"),
    ] {
        let report = sample().explain(&own, Options::default());
        let found = analysis(&report);
        let few = Options { fixes: Limit::Most(0), preemption: false, ..Options::default() };
        let report = sample().explain(&own, few);
        let few = analysis(&report);
        assert_eq!((&few.cause, &few.verdict), (&found.cause, &found.verdict));
        let is_told = found.verdict.contains(&found.cause.detail) || !found.fits.is_empty();
        assert!(is_told && !found.cause.label.is_empty(), "{:#?}", found.cause);
    }
}

#[test]
fn the_next_command_repeats_where_was_looked() {
    let own = web("4", "8Gi").with("/spec/nodeSelector", json!({ "disktype": "ssd" }));
    let (rules, built) = (rules(), own.build());
    let mut cluster = sample().pod(own.clone()).cluster();
    let mut last = |snapshot: Option<&str>, manifests: &[&str]| {
        let manifests: Vec<PathBuf> = manifests.iter().map(PathBuf::from).collect();
        let plain = input(&built, &own.0, &rules, Options::default());
        let context = Some("east");
        let input = Input { context, snapshot: snapshot.map(Path::new), manifests: &manifests, ..plain };
        let text = super::text(&analyse(&mut cluster, &input));
        text.lines().last().unwrap_or_default().trim().to_owned()
    };
    let pod = "kubectl reserve explain web-7d9f-k2x8q -n default";
    assert_eq!(last(None, &[]), format!("{pod} --context east --what-if uncordon=node-1"));
    assert_eq!(
        last(Some("a b.gz"), &[]),
        format!("{pod} --snapshot 'a b.gz' --context east --what-if uncordon=node-1")
    );
    assert_eq!(
        last(None, &["web.yaml"]),
        "kubectl reserve explain -f web.yaml -n default --context east --what-if uncordon=node-1"
    );
    assert!(!last(None, &["-"]).contains("--what-if"), "stdin cannot be read again");
}

/// A pod that does not exist yet cannot be patched.
#[test]
fn what_helps_a_manifest_is_a_change_of_the_manifest() {
    let own = pod("web").cpu("1");
    let (rules, built) = (rules(), own.build());
    let mut cluster = test_cluster().node(node("n1").taint("dedicated=db:NoSchedule")).cluster();
    let manifests = [PathBuf::from("web.yaml")];
    let plain = input(&built, &own.0, &rules, Options::default());
    let text = super::text(&analyse(&mut cluster, &Input { manifests: &manifests, ..plain }));
    assert!(text.contains("add a toleration of dedicated=db:NoSchedule to the manifest"), "{text}");
    assert!(!text.contains("kubectl patch"), "{text}");
}

/// The priority that the text beside it names is enough, because preemption is part of the answer.
#[test]
fn a_supposed_priority_includes_preemption() {
    let own = web("4", "8Gi").with("/spec/nodeSelector", json!({ "disktype": "ssd" }));
    let (rules, built) = (rules(), own.build());
    let mut cluster = sample().pod(own.clone()).cluster();
    let input = input(&built, &own.0, &rules, Options::default());
    let report = analyse(&mut cluster, &input);
    let Some(Preemption::Impossible { with: Some(with), .. }) = &analysis(&report).preemption else {
        panic!("{report:#?}")
    };
    let mut after = |priority: i32| {
        let change = parse_what_if(&format!("priority={priority}")).unwrap();
        what_if(&mut cluster, &input, &[change]).unwrap()
    };
    let outcome = after(with.priority);
    let Some(Preemption::Possible { node, victims, .. }) = &outcome.preemption else {
        panic!("{outcome:#?}")
    };
    assert_eq!((node, victims), (&with.node, &with.victims));
    assert!(outcome.after.is_empty() && !outcome.is_no_fit());
    let outcome = after(with.priority - 1);
    assert!(outcome.is_no_fit() && matches!(outcome.preemption, Some(Preemption::Impossible { .. })));
}

#[test]
fn a_supposed_change_leaves_no_trace() {
    let own = web("4", "8Gi").with("/spec/nodeSelector", json!({ "disktype": "ssd" }));
    let (rules, built) = (rules(), own.build());
    let mut cluster = sample().pod(own.clone()).cluster();
    let input = input(&built, &own.0, &rules, Options::default());
    let before = analyse(&mut cluster, &input);
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
    assert_eq!(before, analyse(&mut cluster, &input));
}

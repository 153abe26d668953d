//! LabelGate: a table of cases for each extension point.

use super::LabelGate;
use crate::config::{LabelGateArgs, LabelPattern};
use crate::framework::{Admission, Reason};
use crate::testing::{admission, all_rejections, cluster_builder, node, pod};

fn gate(pod_label: Option<&str>, node_label: Option<&str>) -> LabelGate {
    let pattern = |text: Option<&str>| text.map(LabelPattern::parse);
    LabelGate { args: LabelGateArgs { pod_label: pattern(pod_label), node_label: pattern(node_label) } }
}

/// A pattern; whether it rejects an object labelled `gate=shut`; whether it rejects one without labels.
const TABLE: [(Option<&str>, bool, bool); 8] = [
    (None, false, false),
    (Some("gate"), true, false),
    (Some("!gate"), false, true),
    (Some("gate=shut"), true, false),
    (Some("gate=open"), false, false),
    (Some("gate!=shut"), false, true),
    (Some("gate!=open"), true, true),
    (Some("other"), false, false),
];

#[test]
fn pods_are_kept_out() {
    for (label, labelled, bare) in TABLE {
        for (pod, is_out) in [(pod("p").labels([("gate", "shut")]), labelled), (pod("p"), bare)] {
            let found = admission(&gate(label, None), cluster_builder().node(node("n1")), &pod);
            let reasons = match found {
                Admission::All => Vec::new(),
                Admission::Rejects(reasons) => reasons.into_iter().map(|one| one.reason).collect(),
                other => panic!("{other:?}"),
            };
            let words = format!("pods with {} are kept out", label.unwrap_or_default());
            let expected = is_out.then(|| super::POD_KEPT_OUT.with(words));
            assert_eq!(reasons, expected.into_iter().collect::<Vec<_>>(), "{label:?}");
        }
    }
}

#[test]
fn nodes_are_kept_out() {
    for (label, labelled, bare) in TABLE {
        let test_cluster = cluster_builder().node(node("n1").label("gate", "shut")).node(node("n2"));
        let found = all_rejections(&gate(Some("other"), label), test_cluster, &pod("p"));
        let words = format!("node(s) with {} are kept out", label.unwrap_or_default());
        let reason = |is_out: bool| is_out.then(|| super::NODE_KEPT_OUT.with(words.clone()));
        let reasons: Vec<Option<Reason>> =
            found.into_iter().map(|node| node.into_iter().map(|one| one.reason).next()).collect();
        assert_eq!(reasons, [reason(labelled), reason(bare)], "{label:?}");
    }
}

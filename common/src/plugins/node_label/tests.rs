//! NodeLabel: a table of cases.

use super::NodeLabel;
use crate::config::NodeLabelArgs;
use crate::framework::Filter as _;
use crate::testing::{NodeBuilder, cluster_builder, node, now, pod, rejections};

fn requiring(labels: &[(&str, &str)]) -> NodeLabel {
    let required_labels = labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    NodeLabel { args: NodeLabelArgs { required_labels } }
}

#[test]
fn nodes_without_the_labels_are_kept_out() {
    type Required = &'static [(&'static str, &'static str)];
    let plain = || node("n1");
    let table: [(Required, NodeBuilder, &str); 9] = [
        (&[], plain(), ""),
        (&[("cpu", "true")], plain(), "cpu=true"),
        (&[("cpu", "true")], plain().label("cpu", "false"), "cpu=true"),
        (&[("cpu", "true")], plain().label("cpu", ""), "cpu=true"),
        (&[("cpu", "true")], plain().label("cpu", "true"), ""),
        (&[("cpu", "")], plain(), "cpu"),
        (&[("cpu", "")], plain().label("cpu", "anything"), ""),
        (&[("cpu", "")], plain().label("cpu", ""), ""),
        (&[("b", ""), ("a", "1"), ("c", "2")], plain().label("c", "2"), "a=1, b"),
    ];
    for (required, node, missing) in table {
        let found = rejections(&requiring(required), cluster_builder().node(node), &pod("p"));
        let words: Vec<String> = found.iter().map(|one| one.reason.to_string()).collect();
        let expected = format!("node(s) didn't have the required label(s) {missing}");
        assert_eq!(words, if missing.is_empty() { vec![] } else { vec![expected] }, "{required:?}");
        assert!(found.iter().all(|one| one.reason.is_unresolvable()));
    }
}

#[test]
fn without_arguments_it_has_nothing_to_say() {
    let (mut cluster, pod) = (cluster_builder().node(node("n1")).cluster(), pod("p").build());
    let snapshot = cluster.snapshot(now());
    assert!(requiring(&[]).prepare(&snapshot.context(&pod), &snapshot).is_none());
}

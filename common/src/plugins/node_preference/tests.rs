//! NodePreference: a table of cases.

use super::NodePreference;
use crate::config::{LabelPattern, NodePreferenceArgs};
use crate::testing::{cluster_builder, node, pod, raw_and_scores};

fn preferring(nodes: &[(&str, i64)], labels: &[(&str, i64)]) -> NodePreference {
    let nodes = nodes.iter().map(|(name, score)| ((*name).into(), *score)).collect();
    let labels = labels.iter().map(|(text, score)| (LabelPattern::parse(text), *score)).collect();
    NodePreference { args: NodePreferenceArgs { nodes, labels } }
}

#[test]
fn nodes_score_by_name_and_else_by_label() {
    type Scores = &'static [(&'static str, i64)];
    let table: [(Scores, Scores, Option<[i64; 3]>); 8] = [
        (&[], &[], None),
        (&[("n1", 70)], &[], Some([70, 0, 0])),
        (&[("gone", 70)], &[], Some([0, 0, 0])),
        (&[], &[("disk=ssd", 60)], Some([60, 0, 0])),
        (&[], &[("disk", 60)], Some([60, 60, 0])),
        (&[], &[("disk", 20), ("disk=ssd", 60)], Some([60, 20, 0])),
        (&[], &[("!disk", 100), ("disk!=ssd", 40)], Some([0, 40, 100])),
        (&[("n1", 0), ("n3", 100)], &[("disk", 60)], Some([0, 60, 100])),
    ];
    for (nodes, labels, expected) in table {
        let test_cluster = cluster_builder()
            .node(node("n1").label("disk", "ssd"))
            .node(node("n2").label("disk", "hdd"))
            .node(node("n3"));
        let found = raw_and_scores(&preferring(nodes, labels), test_cluster, &pod("p"));
        let expected = expected.map(|scores| (scores.to_vec(), scores.to_vec()));
        assert_eq!(found, expected, "{nodes:?} {labels:?}");
    }
}

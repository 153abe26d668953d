//! NodeName: a table of cases.

use super::NodeNamePlugin;
use crate::testing::{cluster_builder, node, pod, reasons, rejections};

#[test]
fn a_pod_goes_to_the_node_that_it_names_or_anywhere() {
    let message = "node(s) didn't match the requested node name";
    let table = [
        (pod("p"), vec![]),
        (pod("p").on(""), vec![]),
        (pod("p").on("n1"), vec![]),
        (pod("p").on("n2"), vec![message]),
        (pod("p").on("N1"), vec![message]),
    ];
    for (pod, expected) in table {
        assert_eq!(
            reasons(&NodeNamePlugin, cluster_builder().node(node("n1")), &pod),
            expected,
            "{:?}",
            pod.build().node
        );
    }
}

#[test]
fn the_rejection_names_the_plugin() {
    let rejected = rejections(&NodeNamePlugin, cluster_builder().node(node("n1")), &pod("p").on("n2"));
    assert_eq!(rejected[0].plugin, "NodeName");
}

//! NodeUnschedulable: a table of cases.

use super::{CORDON, NodeUnschedulable};
use crate::testing::{cluster_builder, node, pod, reasons};

#[test]
fn a_cordoned_node_takes_only_who_tolerates_the_cordon() {
    let cordoned = || node("n1").cordoned();
    let message = "node(s) were unschedulable";
    let table = [
        ("not cordoned", node("n1"), pod("p"), vec![]),
        ("cordoned", cordoned(), pod("p"), vec![message]),
        ("tolerated", cordoned(), pod("p").tolerates(CORDON), vec![]),
        ("tolerated by effect", cordoned(), pod("p").tolerates(&format!("{CORDON}:NoSchedule")), vec![]),
        ("tolerated by value", cordoned(), pod("p").tolerates(&format!("{CORDON}=:NoSchedule")), vec![]),
        ("everything tolerated", cordoned(), pod("p").tolerates(""), vec![]),
        ("another value", cordoned(), pod("p").tolerates(&format!("{CORDON}=x")), vec![message]),
        ("another effect", cordoned(), pod("p").tolerates(&format!("{CORDON}:NoExecute")), vec![message]),
        ("another key", cordoned(), pod("p").tolerates("key"), vec![message]),
        (
            "the taint alone is for another plugin",
            node("n1").taint(&format!("{CORDON}:NoSchedule")),
            pod("p"),
            vec![],
        ),
    ];
    for (name, node, pod, expected) in table {
        assert_eq!(reasons(&NodeUnschedulable, cluster_builder().node(node), &pod), expected, "{name}");
    }
}

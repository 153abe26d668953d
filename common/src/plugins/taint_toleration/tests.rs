//! TaintToleration: a table of cases for each extension point.

use super::TaintToleration;
use crate::framework::Reason;
use crate::testing::{PodBuilder, cluster_builder, node, pod, reasons, rejections, scores};
use serde_json::json;

fn tolerating(toleration: &serde_json::Value) -> PodBuilder {
    pod("p").with("/spec/tolerations", json!([toleration]))
}

#[test]
fn taints_keep_out_who_does_not_tolerate_them() {
    let message = "node(s) had untolerated taint(s)";
    let table = [
        ("k=v:NoSchedule", pod("p"), true),
        ("k=v:NoExecute", pod("p"), true),
        ("k=v:PreferNoSchedule", pod("p"), false),
        ("k=v:NoAdmit", pod("p"), false),
        ("k=v:NoSchedule", pod("p").tolerates("k=v:NoSchedule"), false),
        ("k=v:NoSchedule", pod("p").tolerates("k=v"), false),
        ("k=v:NoSchedule", pod("p").tolerates("k"), false),
        ("k=v:NoSchedule", pod("p").tolerates(""), false),
        ("k=v:NoSchedule", pod("p").tolerates("k=w"), true),
        ("k=v:NoSchedule", pod("p").tolerates("K=v"), true),
        ("k=v:NoSchedule", pod("p").tolerates("k=v:NoExecute"), true),
        ("k=v:NoSchedule", pod("p").tolerates("=v"), false),
        ("k=v:NoSchedule", pod("p").tolerates("=w"), true),
        ("k:NoSchedule", pod("p").tolerates("k="), false),
        ("k=5:NoSchedule", tolerating(&json!({ "key": "k", "operator": "Gt", "value": "1" })), true),
        (
            "k=v:NoSchedule",
            tolerating(&json!({ "key": "k", "operator": "Exists", "value": "ignored" })),
            false,
        ),
    ];
    for (taint, pod, kept_out) in table {
        let expected = if kept_out { vec![message] } else { Vec::new() };
        let found = reasons(&TaintToleration, cluster_builder().node(node("n1").taint(taint)), &pod);
        assert_eq!(found, expected, "{taint}: {:?}", pod.build().spec.tolerations);
    }
}

#[test]
fn every_taint_must_be_tolerated_and_the_first_that_is_not_is_named() {
    let tainted = || {
        cluster_builder()
            .node(node("n1").taint("a:PreferNoSchedule").taint("b:NoSchedule").taint("c:NoExecute"))
    };
    let named = |pod: PodBuilder| match rejections(&TaintToleration, tainted(), &pod).as_slice() {
        [one] => match &one.reason {
            Reason::Taint(taint) => taint.key.to_string(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(named(pod("p")), "b");
    assert_eq!(named(pod("p").tolerates("b")), "c");
    assert_eq!(named(pod("p").tolerates("c")), "b");
    assert_eq!(rejections(&TaintToleration, tainted(), &pod("p").tolerates("b").tolerates("c")), []);
}

#[test]
fn fewer_taints_that_would_rather_not_are_better() {
    let soft = |count: usize| {
        (0..count).fold(node(&format!("n{count}")), |n, i| n.taint(&format!("t{i}:PreferNoSchedule")))
    };
    let test_cluster = || cluster_builder().node(soft(0)).node(soft(1)).node(soft(3));
    assert_eq!(scores(&TaintToleration, test_cluster(), &pod("p")), [100, 67, 0]);
    assert_eq!(scores(&TaintToleration, test_cluster(), &pod("p").tolerates("t0")), [100, 100, 0]);
    assert_eq!(scores(&TaintToleration, test_cluster(), &pod("p").tolerates("")), [100, 100, 100]);
    let hard = pod("p").tolerates("t0:NoSchedule");
    assert_eq!(
        scores(&TaintToleration, test_cluster(), &hard),
        [100, 67, 0],
        "a toleration of another effect"
    );
    let hard_taints =
        cluster_builder().node(node("n1").taint("a:NoSchedule")).node(node("n2").taint("a:NoAdmit"));
    assert_eq!(scores(&TaintToleration, hard_taints, &pod("p")), [100, 100], "only soft taints count");
}

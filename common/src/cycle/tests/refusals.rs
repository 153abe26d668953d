//! Pods that are not to be placed, whatever the nodes.

use super::{decide, nodes};
use crate::cycle::{Decision, Refusal};
use crate::testing::{PodBuilder, pod};
use serde_json::json;

fn refusal(pod: &PodBuilder) -> Refusal {
    match decide(nodes(3), pod) {
        Decision::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn features_that_no_plugin_serves_are_named() {
    let table = [
        ("/spec/resourceClaims", json!([{}]), "spec.resourceClaims"),
        ("/spec/schedulingGroup", json!({ "podGroupName": "g" }), "spec.schedulingGroup"),
    ];
    for (pointer, value, field) in table {
        assert_eq!(
            refusal(&pod("p").with(pointer, value)).to_string(),
            format!("0/3 nodes are available: the pod uses what this scheduler does not serve yet: {field}.")
        );
    }
}

#[test]
fn several_features_are_named_together() {
    let pod = pod("p")
        .with("/spec/resourceClaims", json!([{}]))
        .with("/spec/schedulingGroup", json!({ "podGroupName": "g" }));
    assert_eq!(
        refusal(&pod).to_string(),
        "0/3 nodes are available: the pod uses what this scheduler does not serve yet: spec.resourceClaims, \
         spec.schedulingGroup."
    );
}

#[test]
fn gates_and_unreadable_amounts_go_first() {
    let gated = pod("p")
        .with("/spec/schedulingGates", json!([{ "name": "g" }]))
        .with("/spec/resourceClaims", json!([{}]));
    assert_eq!(refusal(&gated), Refusal::Gated);
    assert_eq!(refusal(&gated).to_string(), "Scheduling is blocked due to non-empty scheduling gates");
    let unreadable = gated.cpu("x");
    assert_eq!(
        refusal(&unreadable).to_string(),
        "the pod's requests cannot be read: spec.containers[0].resources.requests[\"cpu\"]: \
         `x` is not a quantity: unexpected `x`"
    );
}

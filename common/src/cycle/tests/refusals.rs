//! Pods that may not be scheduled, whatever the nodes.

use super::{decide, nodes};
use crate::cycle::{Decision, Refusal, schedule};
use crate::framework::{Plugin, PreEnqueue, Reason, Registry, Rejection};
use crate::model::Pod;
use crate::plugins::default_registry;
use crate::testing::{PodBuilder, now, pod};
use serde_json::json;
use std::sync::Arc;

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
    assert!(matches!(refusal(&gated), Refusal::Gated(_)));
    assert_eq!(refusal(&gated).to_string(), "Scheduling is blocked due to non-empty scheduling gates");
    let unreadable = gated.cpu("x");
    assert_eq!(
        refusal(&unreadable).to_string(),
        "the pod's requests cannot be read: spec.containers[0].resources.requests[\"cpu\"]: \
         `x` is not a quantity: unexpected `x`"
    );
}

/// A PreEnqueue plugin that rejects every pod.
struct Closed;

impl Plugin for Closed {
    fn name(&self) -> &'static str {
        "Closed"
    }
}

impl PreEnqueue for Closed {
    fn check(&self, _pod: &Pod) -> Option<Rejection> {
        Some(Rejection::new("Closed", Reason::message("closed today")))
    }
}

#[test]
fn it_is_the_registry_that_says_who_waits_outside() {
    let gated = pod("p").with("/spec/schedulingGates", json!([{ "name": "g" }]));
    let said = |registry: &Registry, pod: &PodBuilder| {
        let mut cluster = nodes(1).cluster();
        match schedule(&pod.build(), &cluster.snapshot(now()), registry) {
            Decision::Refused(Refusal::Gated(rejections)) => {
                let plugins: Vec<&str> = rejections.iter().map(|one| one.plugin).collect();
                format!("{} {plugins:?}", Refusal::Gated(rejections.clone()))
            }
            other => format!("{other:?}"),
        }
    };
    let mut registry = default_registry();
    registry.pre_enqueues.push(Arc::new(Closed));
    assert_eq!(said(&registry, &pod("p")), "closed today [\"Closed\"]");
    let both = "Scheduling is blocked due to non-empty scheduling gates [\"SchedulingGates\", \"Closed\"]";
    assert_eq!(said(&registry, &gated), both);
    let placed = said(&Registry::default(), &gated);
    assert!(placed.starts_with("Place"), "nobody asks about gates: {placed}");
}

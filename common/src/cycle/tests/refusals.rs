//! Pods that are not to be placed, whatever the nodes.

use super::{decide, nodes};
use crate::cycle::{Decision, Refusal};
use crate::framework::{Filter, NodeFilter, Registry, Verdict};
use crate::model::pod::Feature;
use crate::plugins::default_registry;
use crate::testing::{PodBuilder, now, pod};
use serde_json::json;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

fn refusal(pod: &PodBuilder) -> Refusal {
    match decide(nodes(3), pod) {
        Decision::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

fn repelling(name: &str) -> PodBuilder {
    let term = json!([{ "topologyKey": "kubernetes.io/hostname" }]);
    pod(name).with(&format!("/spec/affinity/podAntiAffinity/{REQUIRED}"), term)
}

#[test]
fn features_that_no_plugin_serves_are_named() {
    let table = [
        ("/spec/nodeSelector", json!({ "a": "b" }), "spec.nodeSelector or spec.affinity.nodeAffinity"),
        ("/spec/containers/0/ports", json!([{ "hostPort": 80 }]), "hostPort"),
        ("/spec/volumes", json!([{ "persistentVolumeClaim": {} }]), "spec.volumes with claims or disks"),
        ("/spec/topologySpreadConstraints", json!([{}]), "spec.topologySpreadConstraints"),
        (
            "/spec/affinity/podAffinity",
            json!({ REQUIRED: [{}] }),
            "spec.affinity.podAffinity or podAntiAffinity",
        ),
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
    let pod = repelling("p").with("/spec/resourceClaims", json!([{}]));
    assert_eq!(
        refusal(&pod).to_string(),
        "0/3 nodes are available: the pod uses what this scheduler does not serve yet: \
         spec.affinity.podAffinity or podAntiAffinity, spec.resourceClaims, a required podAntiAffinity."
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

#[test]
fn a_placed_pod_that_repels_others_stops_everybody() {
    let there = nodes(3).pod(repelling("r").on("n01"));
    let Decision::Refused(refusal) = decide(there, &pod("p")) else { panic!("placed") };
    assert_eq!(refusal, Refusal::Repelled { by: repelling("r").build().key, nodes: 3 });
    assert_eq!(
        refusal.to_string(),
        "0/3 nodes are available: pods with required anti-affinity are running, which this scheduler does not \
         serve yet."
    );
    let waiting = nodes(3).pod(repelling("r"));
    assert!(matches!(decide(waiting, &pod("p")), Decision::Place { .. }), "it is nowhere yet");
}

#[test]
fn a_plugin_that_serves_a_feature_lifts_the_refusal() {
    struct Serves;
    impl Filter for Serves {
        fn name(&self) -> &'static str {
            "Serves"
        }

        fn serves(&self) -> &'static [Feature] {
            &[Feature::InterPodAffinity, Feature::RequiredAntiAffinity]
        }

        fn prepare<'c>(
            &'c self,
            _asker: &'c crate::cluster::Asker<'c>,
            _world: &'c crate::cluster::Snapshot<'c>,
        ) -> NodeFilter<'c> {
            Box::new(|_| Verdict::Fits)
        }
    }
    let place = |registry: Registry| {
        let cluster = nodes(3).pod(repelling("r").on("n01")).cluster();
        let decision = super::schedule(&repelling("p").build(), &cluster.snapshot(now()), &registry);
        matches!(decision, Decision::Place { .. })
    };
    assert!(!place(default_registry()));
    assert!(place(default_registry().filter(Serves)));
}

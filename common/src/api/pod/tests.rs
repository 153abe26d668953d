//! Decoding pods: a typical pod, unusual pods, and which fields are kept.

mod edge_cases;
mod features;
mod spec;
mod volumes;

use super::pod;
use crate::model::owner::OwnerKind;
use crate::model::pod::{Features, Phase};
use crate::model::taint::{TaintEffect, TolerationOperator};
use crate::testing;
use serde_json::json;

const TYPICAL: &str = include_str!("../fixtures/pod.json");

#[test]
fn of_a_typical_pod_everything_that_decisions_read_is_kept() {
    let pod = pod(TYPICAL).unwrap();
    assert_eq!(pod.key.to_string(), "shop/web-7c9d8f6b54-x2lqp");
    assert_eq!(pod.uid.to_string(), "9b1f0c52-3a64-4f2e-b6f1-0a7d52c1e3f4");
    assert_eq!((pod.resource_version, pod.generation), (8_123_456, 1));
    assert_eq!(pod.labels.iter().count(), 6);
    let controller = pod.controller.as_ref().unwrap();
    assert_eq!((controller.kind, &*controller.name), (Some(OwnerKind::ReplicaSet), "web-7c9d8f6b54"));
    assert_eq!(pod.stamp, None);
    assert_eq!(pod.created.unwrap().to_string(), "2026-01-30T08:14:52Z");
    assert_eq!(pod.node.as_ref().unwrap().as_str(), "ip-10-0-18-7.eu-central-1.compute.internal");
    assert_eq!((&*pod.spec.scheduler_name, pod.spec.priority), ("reserve-scheduler", 1000));
    assert_eq!((pod.phase, pod.deleting), (Phase::Running, false));
    assert_eq!(pod.scheduled_at().unwrap().to_string(), "2026-01-30T08:14:53Z");
    assert_eq!((pod.spec.features, pod.problem.clone()), (Features::default(), None));
    assert!(pod.is_counted() && !pod.is_waiting());
}

#[test]
fn of_a_typical_pod_the_requests_are_summed() {
    let requests = pod(TYPICAL).unwrap().spec.requests.clone();
    for sum in [&requests.incoming, requests.counted()] {
        assert_eq!((sum.cpu, sum.memory, sum.pods), (300, 320 << 20, 1));
    }
    assert_eq!((requests.non_zero_incoming.cpu, requests.non_zero_counted.memory), (300, 320 << 20));
}

#[test]
fn tolerations_are_read_with_their_defaults() {
    let typical = pod(TYPICAL).unwrap().spec.tolerations.clone();
    assert_eq!(typical.len(), 2);
    assert_eq!(
        (&*typical[0].key, typical[0].operator),
        ("node.kubernetes.io/not-ready", TolerationOperator::Exists)
    );
    assert_eq!(typical[0].effect, Some(TaintEffect::NoExecute));
    let read = |toleration| {
        let pod = testing::pod("p").with("/spec/tolerations", json!([toleration])).build();
        let one = pod.spec.tolerations[0].clone();
        (one.key.to_string(), one.operator, one.value.to_string(), one.effect)
    };
    let none = String::new;
    assert_eq!(read(json!({})), (none(), TolerationOperator::Equal, none(), None));
    assert_eq!(read(json!({ "operator": "Exists" })), (none(), TolerationOperator::Exists, none(), None));
    assert_eq!(
        read(json!({ "key": "a", "value": "b", "effect": "PreferNoSchedule" })),
        ("a".into(), TolerationOperator::Equal, "b".into(), Some(TaintEffect::PreferNoSchedule))
    );
    assert_eq!(read(json!({ "key": "a", "operator": "Gt", "value": "3" })).1, TolerationOperator::Other);
    assert_eq!(read(json!({ "effect": "NoAdmit" })).3, Some(TaintEffect::Other));
    assert_eq!(
        read(json!({ "key": null, "operator": null, "value": null, "effect": null })).1,
        TolerationOperator::Equal
    );
}

#[test]
fn a_pod_waits_until_it_is_bound_ends_or_is_deleted() {
    let waiting = testing::pod("p");
    assert!(waiting.build().is_waiting());
    assert!(!waiting.clone().on("n1").build().is_waiting());
    assert!(!waiting.clone().terminating().build().is_waiting());
    assert!(!waiting.clone().phase("Failed").build().is_waiting());
    assert!(waiting.on("").build().is_waiting(), "an empty node name is none");
}

#[test]
fn a_bound_pod_counts_until_it_ends_or_is_gone() {
    let bound = testing::pod("p").on("n1");
    for phase in ["", "Pending", "Running", "Unknown", "Brewing"] {
        assert!(bound.clone().phase(phase).build().is_counted(), "{phase}");
    }
    assert!(bound.clone().terminating().build().is_counted());
    for phase in ["Succeeded", "Failed"] {
        assert!(!bound.clone().phase(phase).build().is_counted(), "{phase}");
    }
}

#[test]
fn the_scheduler_name_is_kube_schedulers_unless_said() {
    assert_eq!(&*testing::pod("p").build().spec.scheduler_name, "default-scheduler");
    assert_eq!(&*testing::pod("p").scheduler("").build().spec.scheduler_name, "default-scheduler");
    assert_eq!(&*testing::pod("p").scheduler("mine").build().spec.scheduler_name, "mine");
}

#[test]
fn only_a_condition_that_is_true_says_when_it_was_scheduled() {
    let with = |status: &str| {
        let condition = json!({
            "type": "PodScheduled", "status": status, "lastTransitionTime": "2026-01-31T12:00:00Z",
            "reason": "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient cpu.",
        });
        testing::pod("p")
            .with("/status/conditions", json!([{ "type": "Ready", "status": "True" }, condition]))
            .build()
    };
    assert_eq!(with("True").scheduled_at(), Some(testing::now()));
    let waiting = with("False");
    assert_eq!(waiting.scheduled_at(), None);
    let scheduled = waiting.unscheduled().unwrap();
    assert_eq!(&*scheduled.reason, "Unschedulable");
    assert_eq!(&*scheduled.message, "0/3 nodes are available: 3 Insufficient cpu.");
}

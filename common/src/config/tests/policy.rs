//! Old Policy files: the error has a file that replaces them.

use super::super::{InterPodAffinityArgs, NodeResourcesFitArgs, ScoringStrategy};
use super::{arguments, at, load, refusal};
use crate::model::ExtensionPoint;

/// The replacement file in an error.
fn pasted(error: &str) -> &str {
    let (_, text) = error.split_once("kubescheduler.config.k8s.io/v1:\n\n").expect(error);
    text.split("\nWithout a counterpart").next().unwrap_or(text)
}

#[test]
fn an_extender_is_shown_as_it_is_written_today() {
    let policy = r#"{
        "kind": "Policy", "apiVersion": "v1",
        "extenders": [{
            "urlPrefix": "http://localhost:8888/", "filterVerb": "filter", "prioritizeVerb": "prioritize",
            "weight": 1, "enableHttps": false, "httpTimeout": 1500000000
        }]
    }"#;
    assert_eq!(
        refusal(policy),
        r#"scheduler.yaml: kind: "Policy" files are no longer read, by kube-scheduler since 1.23; write a profile instead

The same as kubescheduler.config.k8s.io/v1:

apiVersion: kubescheduler.config.k8s.io/v1
extenders:
- enableHTTPS: false
  filterVerb: filter
  httpTimeout: 1.5s
  prioritizeVerb: prioritize
  urlPrefix: http://localhost:8888/
  weight: 1
kind: KubeSchedulerConfiguration
"#
    );
    let loaded = load("pasted", pasted(&refusal(policy)), &[]).expect("what we show loads");
    assert_eq!(loaded.configuration.extenders[0].filter_verb, "filter");
}

#[test]
fn predicates_and_priorities_are_plugins_today() {
    let policy = "
kind: Policy
apiVersion: v1
hardPodAffinitySymmetricWeight: 7
predicates:
- {name: GeneralPredicates}
- {name: PodFitsResources}
- {name: NoDiskConflict}
- {name: CheckServiceAffinity}
priorities:
- {name: MostRequestedPriority, weight: 3}
- {name: ImageLocalityPriority, weight: 2}
- {name: EqualPriority, weight: 1}
";
    let error = refusal(policy);
    assert!(error.ends_with("\nWithout a counterpart: CheckServiceAffinity, EqualPriority.\n"), "{error}");
    let loaded = load("pasted", pasted(&error), &[]).expect("what we show loads");
    let configuration = &loaded.configuration;
    let filters =
        ["NodeUnschedulable", "TaintToleration", "NodeName", "NodeAffinity", "NodePorts", "NodeResourcesFit"];
    let filters = filters.into_iter().chain(["VolumeRestrictions", "Reservation"]).collect::<Vec<_>>();
    assert_eq!(at(configuration, ExtensionPoint::Filter), filters);
    assert_eq!(at(configuration, ExtensionPoint::PreFilter), filters);
    assert_eq!(
        at(configuration, ExtensionPoint::Score),
        ["NodeResourcesFit=3", "ImageLocality=2", "Reservation=100"]
    );
    assert_eq!(at(configuration, ExtensionPoint::PreScore), ["NodeResourcesFit"]);
    let affinity: InterPodAffinityArgs = arguments(configuration, "InterPodAffinity");
    assert_eq!(affinity.hard_pod_affinity_weight, 7);
    let fit: NodeResourcesFitArgs = arguments(configuration, "NodeResourcesFit");
    assert_eq!(fit.strategy, ScoringStrategy::MostAllocated);
    assert_eq!(loaded.warnings, []);
}

#[test]
fn secrets_are_not_repeated() {
    let policy = "{kind: Policy, extenders: [{urlPrefix: a, tlsConfig: {keyData: c2VjcmV0}}]}";
    let error = refusal(policy);
    assert!(error.contains("keyData: REDACTED") && !error.contains("c2VjcmV0"), "{error}");
}

#[test]
fn an_empty_policy_is_the_default_profile() {
    let error = refusal("kind: Policy");
    let loaded = load("pasted", pasted(&error), &[]).expect("what we show loads");
    assert_eq!(at(&loaded.configuration, ExtensionPoint::Bind), ["DefaultBinder"]);
}

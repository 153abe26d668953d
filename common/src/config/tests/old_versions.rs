//! Files of versions that kube-scheduler no longer reads.

use super::super::{LoadedConfiguration, NodeLabelArgs, NodeResourcesFitArgs, ScoringStrategy, ShapePoint};
use super::{arguments, at, load, warnings};
use crate::model::ExtensionPoint;

fn beta(version: u8, body: &str) -> LoadedConfiguration {
    let head = format!(
        "apiVersion: kubescheduler.config.k8s.io/v1beta{version}\nkind: KubeSchedulerConfiguration\n"
    );
    load("old.yaml", &format!("{head}{body}"), &[]).expect(body)
}

fn scoring(score: &str, config: &str) -> LoadedConfiguration {
    beta(1, &format!("profiles: [{{plugins: {{score: {score}}}, pluginConfig: {config}}}]"))
}

#[test]
fn every_old_version_says_so() {
    for version in 1..=3 {
        let loaded = beta(version, "");
        let words = warnings(&loaded);
        let expected = format!(
            "apiVersion: \"kubescheduler.config.k8s.io/v1beta{version}\" is an old version; read as kubescheduler.config.k8s.io/v1"
        );
        assert_eq!(words[0], expected);
        assert_eq!(words.len(), if version == 3 { 1 } else { 2 }, "weights changed after v1beta2: {words:?}");
    }
}

#[test]
fn scorers_are_strategies_now() {
    let swap = "{disabled: [{name: NodeResourcesLeastAllocated}], enabled: [{name: NodeResourcesMostAllocated, weight: 5}]}";
    let args = "[{name: NodeResourcesMostAllocated, args: {resources: [{name: cpu, weight: 3}]}}]";
    let loaded = scoring(swap, args);
    let fit: NodeResourcesFitArgs = arguments(&loaded.configuration, "NodeResourcesFit");
    assert_eq!(fit.strategy, ScoringStrategy::MostAllocated);
    assert_eq!(fit.resources[0].weight, 3);
    assert_eq!(at(&loaded.configuration, ExtensionPoint::Score)[0], "NodeResourcesFit=5");
    let words = warnings(&loaded);
    let said = "profiles[0].plugins.score.enabled[0].name: \"NodeResourcesMostAllocated\" is now NodeResourcesFit with the strategy MostAllocated";
    assert!(words.iter().any(|word| word == said), "{words:#?}");

    let loaded = scoring(
        "{enabled: [{name: RequestedToCapacityRatio}]}",
        "[{name: RequestedToCapacityRatio, args: {shape: [{utilization: 0, score: 0}]}}]",
    );
    let expected = ScoringStrategy::RequestedToCapacityRatio(vec![ShapePoint { utilization: 0, score: 0 }]);
    let fit: NodeResourcesFitArgs = arguments(&loaded.configuration, "NodeResourcesFit");
    assert_eq!(fit.strategy, expected);
}

#[test]
fn a_default_scorer_that_was_off_stays_off() {
    let loaded = scoring("{disabled: [{name: NodeResourcesLeastAllocated}]}", "[]");
    let scores = at(&loaded.configuration, ExtensionPoint::Score);
    assert!(!scores.iter().any(|score| score.starts_with("NodeResourcesFit")), "{scores:?}");
    assert!(at(&loaded.configuration, ExtensionPoint::Filter).contains(&"NodeResourcesFit".to_owned()));
}

#[test]
fn a_second_strategy_is_left_out() {
    let both = "{enabled: [{name: NodeResourcesLeastAllocated}, {name: NodeResourcesMostAllocated}]}";
    let loaded = scoring(both, "[]");
    let fit: NodeResourcesFitArgs = arguments(&loaded.configuration, "NodeResourcesFit");
    assert_eq!(fit.strategy, ScoringStrategy::LeastAllocated);
    let words = warnings(&loaded).join("\n");
    assert!(
        words.contains("\"NodeResourcesMostAllocated\" was retired and is left out; write NodeResourcesFit"),
        "{words}"
    );
}

#[test]
fn what_has_gone_is_left_out() {
    let gone = ["NodePreferAvoidPods", "SelectorSpread", "ServiceAffinity", "CinderLimits"];
    for name in gone {
        let body = format!(
            "profiles: [{{plugins: {{score: {{enabled: [{{name: {name}}}]}}}}, pluginConfig: [{{name: {name}}}]}}]"
        );
        let words = warnings(&beta(1, &body)).join("\n");
        let said =
            format!("profiles[0].plugins.score.enabled[0].name: \"{name}\" was retired and is left out; ");
        assert!(words.contains(&said), "{words}");
        assert!(words.contains("profiles[0].pluginConfig[0].name: "), "{words}");
    }
}

#[test]
fn the_old_node_label_is_not_ours() {
    let body = |args: &str| {
        format!(
            "profiles: [{{plugins: {{filter: {{enabled: [{{name: NodeLabel}}]}}}}, pluginConfig: [{{name: NodeLabel, args: {args}}}]}}]"
        )
    };
    let loaded = beta(1, &body("{presentLabels: [a]}"));
    assert!(!at(&loaded.configuration, ExtensionPoint::Filter).contains(&"NodeLabel".to_owned()));
    let words = warnings(&loaded).join("\n");
    assert!(words.contains("\"NodeLabel\" is kube-scheduler's old plugin and is left out"), "{words}");
    let loaded = beta(1, &body("{requiredLabels: {a: b}}"));
    assert!(at(&loaded.configuration, ExtensionPoint::Filter).contains(&"NodeLabel".to_owned()));
    let arguments: NodeLabelArgs = arguments(&loaded.configuration, "NodeLabel");
    assert_eq!(arguments.required_labels, [("a".to_owned(), "b".to_owned())].into());
}

#[test]
fn settings_that_changed() {
    let loaded = beta(
        2,
        "leaderElection: {resourceLock: endpointsleases}\nhealthzBindAddress: 0.0.0.0:1\nmetricsBindAddress: ''\n",
    );
    assert_eq!(loaded.configuration.leader_election.resource_lock, "leases");
    let words = warnings(&loaded);
    assert!(
        words.contains(
            &"leaderElection.resourceLock: \"endpointsleases\" is no longer a lock; read as \"leases\""
                .to_owned()
        ),
        "{words:?}"
    );
    assert!(
        words.contains(&"healthzBindAddress: is no longer read; where to serve is a flag".to_owned()),
        "{words:?}"
    );
    assert!(!words.iter().any(|word| word.starts_with("metrics")), "{words:?}");
}

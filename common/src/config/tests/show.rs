//! The effective configuration in the log.

use super::super::Configuration;
use super::super::base64::encode;
use super::{HEAD, load, v1};
use crate::api::names::SCHEDULER_NAME;
use crate::plugins::PluginList;

#[test]
fn what_is_shown_says_the_same_when_loaded() {
    let bodies = [
        "",
        "parallelism: 3\ndelayCacheUntilActive: true\nclientConnection: {qps: 12.5}\npercentageOfNodesToScore: 9\n",
        "profiles: [{schedulerName: a, percentageOfNodesToScore: 3, plugins: {multiPoint: {enabled: [{name: RandomScore, weight: 4}]}, filter: {enabled: [{name: VolumeZone}]}}}, {schedulerName: 'yes'}]",
        "profiles: [{plugins: {score: {disabled: [{name: '*'}]}, permit: {enabled: [{name: Trace}]}}, pluginConfig: [{name: PodLimit, args: {maxPods: 3, namespaces: {a: 0, b: 5}}}, {name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2, matchLabelKeys: [a]}]}}]}]",
        "profiles: [{pluginConfig: [{name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}, preferredDuringSchedulingIgnoredDuringExecution: [{weight: 3, preference: {matchFields: [{key: metadata.name, operator: In, values: [c]}]}}]}}}, {name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 1, score: 2}]}}}}]}]",
        "extenders: [{urlPrefix: 'https://a:1/b', filterVerb: f, weight: 3, prioritizeVerb: p, httpTimeout: 90s, managedResources: [{name: a.b/c, ignoredByScheduler: true}], tlsConfig: {certFile: d}}]",
        "leaderElection: {leaderElect: false, leaseDuration: 1h1m1s}",
        "profiles: [{pluginConfig: [{name: NodeLabel, args: {requiredLabels: {cpu: 'true', gpu: ''}}}, {name: NodePreference, args: {nodes: {n1: 100}, labels: {disk=ssd: 50, '!old': 3}}}, {name: LabelGate, args: {podLabel: 'a!=b', nodeLabel: '!c'}}, {name: RandomScore, args: {seed: -7}}, {name: BuildImageLocality, args: {env: ''}}]}]",
        "profiles: [{plugins: {multiPoint: {enabled: [{name: NodeLabel}, {name: PodLimit}, {name: NodePreference}, {name: LabelGate}, {name: RandomScore}, {name: BuildImageLocality}, {name: Trace}]}}}]",
    ];
    for body in bodies {
        let configuration = v1(body).expect(body).configuration;
        let shown = configuration.to_yaml();
        let again = load("shown", &shown, &[]).unwrap_or_else(|error| panic!("{error}\n{shown}"));
        assert_eq!(again.configuration, configuration, "{shown}");
        assert_eq!(again.warnings, [], "{shown}");
    }
}

#[test]
fn the_default_is_readable() {
    let shown = Configuration::default_for(SCHEDULER_NAME, &PluginList::built_in().declarations()).to_yaml();
    assert!(shown.starts_with("apiVersion: kubescheduler.config.k8s.io/v1\nclientConnection:\n"), "{shown}");
    assert!(shown.contains("\n  schedulerName: reserve-scheduler\n"), "{shown}");
    assert!(shown.contains("\n      - name: Reservation\n        weight: 100\n"), "{shown}");
    assert!(shown.contains("\n  qps: 50\n"), "{shown}");
}

#[test]
fn secrets_are_not_shown() {
    let secret = encode(b"-----BEGIN PRIVATE KEY-----");
    let body = format!(
        "{HEAD}extenders: [{{urlPrefix: 'https://me:hunter2@a/b@c', enableHTTPS: true, tlsConfig: {{certData: {secret}, keyData: {secret}}}}}]"
    );
    let configuration = load("secret", &body, &[]).expect("a file that loads").configuration;
    let tls = configuration.extenders[0].tls.as_ref().expect("TLS");
    assert_eq!(tls.key_data.bytes(), b"-----BEGIN PRIVATE KEY-----");
    let shown = format!("{}{configuration:?}", configuration.to_yaml());
    let debugged = format!("{tls:?}");
    for hidden in [secret.as_str(), "PRIVATE", "45, 45, 45"] {
        assert!(!shown.contains(hidden) && !debugged.contains(hidden), "{shown}");
    }
    assert!(!configuration.to_yaml().contains("hunter2"));
    assert!(
        configuration.to_yaml().contains("urlPrefix: https://REDACTED@a/b@c"),
        "{}",
        configuration.to_yaml()
    );
}

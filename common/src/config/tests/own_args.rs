//! The arguments of our own plugins: the error messages, and what the log shows.

use super::super::RandomScoreArgs;
use super::{HEAD, arguments, load, refusal, v1, warnings};
use serde_json::json;

/// The body of a file, and its error.
const CASES: &[(&str, &str)] = &[
    (
        "profiles: [{pluginConfig: [{name: NodeLabel, args: {requiredLabel: {a: b}}}]}]",
        r#"profiles[0].pluginConfig[0].args.requiredLabel: no such field; did you mean "requiredLabels"?"#,
    ),
    (
        "profiles: [{pluginConfig: [{name: NodeLabel, args: {requiredLabels: {cpu: true}}}]}]",
        "profiles[0].pluginConfig[0].args.requiredLabels.cpu: expected a text, found true",
    ),
    (
        "profiles: [{pluginConfig: [{name: NodeLabel, args: {requiredLabels: {-a: b}}}]}]",
        r#"profiles[0].pluginConfig[0].args.requiredLabels.-a: "-a" is not the name of a label"#,
    ),
    (
        "profiles: [{pluginConfig: [{name: NodeLabel, args: {requiredLabels: {a: b/c}}}]}]",
        r#"profiles[0].pluginConfig[0].args.requiredLabels.a: "b/c" is not the value of a label"#,
    ),
    (
        "profiles: [{pluginConfig: [{name: NodeLabel, args: {requiredLabels: [a]}}]}]",
        "profiles[0].pluginConfig[0].args.requiredLabels: expected a map, found a list",
    ),
    (
        "profiles: [{pluginConfig: [{name: PodLimit, args: {limit: 3}}]}]",
        "profiles[0].pluginConfig[0].args.limit: no such field",
    ),
    (
        "profiles: [{pluginConfig: [{name: PodLimit, args: {maxPod: 3}}]}]",
        r#"profiles[0].pluginConfig[0].args.maxPod: no such field; did you mean "maxPods"?"#,
    ),
    (
        "profiles: [{pluginConfig: [{name: PodLimit, args: {maxPods: -1}}]}]",
        "profiles[0].pluginConfig[0].args.maxPods: -1 is negative",
    ),
    (
        "profiles: [{pluginConfig: [{name: PodLimit, args: {namespaces: {a: many}}}]}]",
        r#"profiles[0].pluginConfig[0].args.namespaces.a: expected a whole number, found the text "many""#,
    ),
    (
        "profiles: [{pluginConfig: [{name: NodePreference, args: {nodes: {n1: 101}}}]}]",
        "profiles[0].pluginConfig[0].args.nodes.n1: 101 is not between 0 and 100",
    ),
    (
        "profiles: [{pluginConfig: [{name: NodePreference, args: {labels: {'a=b=c': 5}}}]}]",
        r#"profiles[0].pluginConfig[0].args.labels.a=b=c: "b=c" is not the value of a label"#,
    ),
    (
        "profiles: [{pluginConfig: [{name: NodePreference, args: {labels: {a: -5}}}]}]",
        "profiles[0].pluginConfig[0].args.labels.a: -5 is not between 0 and 100",
    ),
    (
        "profiles: [{pluginConfig: [{name: LabelGate, args: {podlabel: a}}]}]",
        r#"profiles[0].pluginConfig[0].args.podlabel: no such field; did you mean "podLabel"?"#,
    ),
    (
        "profiles: [{pluginConfig: [{name: LabelGate, args: {nodeLabel: 'a b'}}]}]",
        r#"profiles[0].pluginConfig[0].args.nodeLabel: "a b" is not the name of a label"#,
    ),
    (
        "profiles: [{pluginConfig: [{name: RandomScore, args: {seed: x}}]}]",
        r#"profiles[0].pluginConfig[0].args.seed: expected a whole number, found the text "x""#,
    ),
    (
        "profiles: [{pluginConfig: [{name: BuildImageLocality, args: {env: BASE}}]}]",
        r#"profiles[0].pluginConfig[0].args.env: "BASE" has no IMAGE in it; other variables of pods are not kept"#,
    ),
    (
        "profiles: [{pluginConfig: [{name: RandomScore, args: {kind: PodLimitArgs}}]}]",
        r#"profiles[0].pluginConfig[0].args.kind: "PodLimitArgs" is not RandomScoreArgs"#,
    ),
];

#[test]
fn what_is_wrong_is_said_with_its_path() {
    for (body, expected) in CASES {
        let text = refusal(&format!("{HEAD}{body}"));
        assert_eq!(text, format!("scheduler.yaml: {expected}"), "{body}");
    }
}

#[test]
fn trace_takes_no_arguments() {
    let loaded =
        v1("profiles: [{pluginConfig: [{name: Trace, args: {level: 3}}, {name: Reservation, args: {}}]}]");
    let ignored = |index: usize, name: &str| {
        format!("profiles[0].pluginConfig[{index}].args: {name} takes no arguments; these are ignored")
    };
    assert_eq!(warnings(&loaded.unwrap()), [ignored(0, "Trace"), ignored(1, "Reservation")]);
}

#[test]
fn the_log_shows_what_they_were_told() {
    let body = "profiles: [{plugins: {multiPoint: {enabled: [{name: PodLimit}, {name: BuildImageLocality}]}}, pluginConfig: [{name: PodLimit, args: {maxPods: 6}}, {name: LabelGate, args: {nodeLabel: a!=b}}]}]";
    let shown = v1(body).unwrap().configuration.to_value();
    let config = shown["profiles"][0]["pluginConfig"].as_array().unwrap();
    let ours: Vec<&serde_json::Value> = config.iter().skip(8).collect();
    let expected = [
        json!({"name": "PodLimit", "args": {"maxPods": 6, "namespaces": {}}}),
        json!({"name": "LabelGate", "args": {"nodeLabel": "a!=b"}}),
        json!({"name": "BuildImageLocality", "args": {"env": "BUILD_IMAGE"}}),
    ];
    assert_eq!(ours, expected.iter().collect::<Vec<_>>());
}

/// The file in `docs/plugins.md` loads without warnings.
#[test]
fn the_documented_file_is_read_without_a_word() {
    let document = include_str!("../../../../docs/plugins.md");
    let (_, rest) = document.split_once("```yaml\n").unwrap();
    let (file, _) = rest.split_once("```").unwrap();
    let loaded = load("docs/plugins.md", file, &[]).unwrap();
    assert_eq!(warnings(&loaded), [""; 0]);
    let profile = &loaded.configuration.profiles[0];
    let ours = "BuildImageLocality LabelGate NodeLabel NodePreference PodLimit RandomScore Reservation Trace";
    for name in ours.split(' ') {
        assert!(profile.runs(name), "{name}");
    }
    let random: RandomScoreArgs = arguments(&loaded.configuration, "RandomScore");
    assert_eq!(random.seed, 7);
}

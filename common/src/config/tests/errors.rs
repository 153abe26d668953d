//! The exact error messages about wrong files.

use super::{HEAD, refusal, v1, warnings};

fn wrong(body: &str) -> String {
    let text = refusal(&format!("{HEAD}{body}"));
    text.strip_prefix("scheduler.yaml: ").unwrap_or(&text).to_owned()
}

/// The body of a file, and its error.
const CASES: &[(&str, &str)] = &[
    ("parallelsm: 3", r#"parallelsm: no such field; did you mean "parallelism"?"#),
    ("colour: red", "colour: no such field"),
    ("parallelism: many", r#"parallelism: expected a whole number, found the text "many""#),
    ("parallelism: 3000000000", "parallelism: 3000000000 does not fit; the largest is 2147483647"),
    ("parallelism: 0", "parallelism: 0 is not more than 0"),
    ("profiles: 3", "profiles: expected a list, found the number 3"),
    ("profiles: [3]", "profiles[0]: expected a map, found the number 3"),
    (
        "leaderElection: {leaseDuration: soon}",
        r#"leaderElection.leaseDuration: expected a duration such as "15s" or "1m30s", found the text "soon""#,
    ),
    (
        "leaderElection: {leaseDuration: 5s}",
        "leaderElection.leaseDuration: 5s is not longer than renewDeadline, which is 10s",
    ),
    (
        "profiles: [{plugins: {score: {enabled: [{name: NodeName}]}}}]",
        r#"profiles[0].plugins.score.enabled[0].name: "NodeName" has no score"#,
    ),
    (
        "profiles: [{plugins: {score: {enabled: [{name: ImageLocality}, {name: NodeResourceFit}]}}}]",
        r#"profiles[0].plugins.score.enabled[1].name: "NodeResourceFit" is not a plugin; did you mean "NodeResourcesFit"?"#,
    ),
    (
        "profiles: [{plugins: {score: {disabled: [{name: imagelocality}]}}}]",
        r#"profiles[0].plugins.score.disabled[0].name: "imagelocality" is not a plugin; did you mean "ImageLocality"?"#,
    ),
    (
        "profiles: [{plugins: {filters: {}}}]",
        r#"profiles[0].plugins.filters: no such field; did you mean "filter"?"#,
    ),
    (
        "profiles: [{plugins: {filter: {enabled: [{weight: 1}]}}}]",
        "profiles[0].plugins.filter.enabled[0].name: is missing",
    ),
    (
        "profiles: [{plugins: {filter: {enabled: [null]}}}]",
        "profiles[0].plugins.filter.enabled[0].name: is missing",
    ),
    (
        "profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]",
        r#"profiles[0].plugins.filter.enabled[0].name: "EBSLimits" was retired; NodeVolumeLimits counts all volumes"#,
    ),
    (
        "profiles: [{plugins: {score: {enabled: [{name: NodeResourcesMostAllocated}]}}}]",
        r#"profiles[0].plugins.score.enabled[0].name: "NodeResourcesMostAllocated" was retired; write NodeResourcesFit at score, and scoringStrategy.type MostAllocated in its arguments"#,
    ),
    (
        "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAlocated}}}]}]",
        r#"profiles[0].pluginConfig[0].args.scoringStrategy.type: "MostAlocated" is not one of LeastAllocated, MostAllocated, RequestedToCapacityRatio; did you mean "MostAllocated"?"#,
    ),
    (
        "extenders: [{urlPrefix: a, tlsConfig: {keyData: secret!}}]",
        "extenders[0].tlsConfig.keyData: expected base64",
    ),
    (
        "profiles: [{plugins: {bind: {disabled: [{name: '*'}]}}}]",
        "profiles[0].plugins.bind: no plugin; without one no pod is bound",
    ),
];

#[test]
fn each_error_names_its_place_and_the_nearest_word() {
    for (body, expected) in CASES {
        assert_eq!(wrong(body), *expected, "{body}");
    }
}

#[test]
fn the_head_of_a_file() {
    let table = [
        ("", "scheduler.yaml: is empty; expected a KubeSchedulerConfiguration"),
        (
            "- 1",
            "scheduler.yaml: is not a map; a KubeSchedulerConfiguration starts with \"apiVersion: kubescheduler.config.k8s.io/v1\"",
        ),
        (
            "{}",
            "scheduler.yaml: 2 errors
  kind: is missing; expected KubeSchedulerConfiguration
  apiVersion: is missing; expected kubescheduler.config.k8s.io/v1",
        ),
        (
            "apiVersion: kubescheduler.config.k8s.io/v2\nkind: KubeSchedulerConfig",
            "scheduler.yaml: 2 errors
  kind: \"KubeSchedulerConfig\" is no KubeSchedulerConfiguration
  apiVersion: \"kubescheduler.config.k8s.io/v2\" is not read; expected kubescheduler.config.k8s.io/v1",
        ),
        (
            "apiVersion: kubescheduler.config.k8s.io/v1alpha1\nkind: KubeSchedulerConfiguration\nalgorithmSource: {}",
            "scheduler.yaml: apiVersion: \"kubescheduler.config.k8s.io/v1alpha1\" is not read; expected kubescheduler.config.k8s.io/v1; instead of algorithmSource, write profiles (read the policy file in its place to see them)",
        ),
        (&format!("{HEAD}---\n{HEAD}"), "scheduler.yaml: has several documents; a configuration is one"),
    ];
    for (text, expected) in table {
        assert_eq!(refusal(text), expected, "{text}");
    }
}

#[test]
fn the_syntax_has_a_line_and_a_column() {
    let table = [
        ("parallelism: [1", "line 3, column 14: "),
        ("a: b: c", "line 3, column 5: "),
        ("parallelism: 1\nparallelism: 2", "line 4, column 1: duplicate mapping key: parallelism"),
    ];
    for (body, expected) in table {
        let text = wrong(body);
        assert!(text.starts_with(expected), "{text}");
        assert!(!text.contains('\n') && !text.contains("Policy"), "{text}");
    }
}

#[test]
fn all_errors_are_reported_up_to_a_limit() {
    let two = wrong("parallelism: x\npodMaxBackoffSeconds: z\n");
    assert_eq!(
        two,
        "2 errors
  parallelism: expected a whole number, found the text \"x\"
  podMaxBackoffSeconds: expected a whole number, found the text \"z\""
    );
    let names: String = (0..30).map(|index| format!("      - name: P{index}x{index}\n")).collect();
    let many = wrong(&format!("profiles:\n- plugins:\n    filter:\n      enabled:\n{names}"));
    assert!(many.starts_with("30 errors\n"), "{many}");
    assert!(many.ends_with("\n  and 10 more"), "{many}");
    assert_eq!(many.lines().count(), 22);
}

#[test]
fn what_does_less_than_it_seems_is_said() {
    let table = [
        (
            "profiles: [{plugins: {filter: {disabled: [{name: Reservation}]}}}]",
            "profiles[0].plugins: Reservation is off at filter: this profile does not keep what is reserved free",
        ),
        (
            "profiles: [{pluginConfig: [{name: NodeName, args: {a: b}}]}]",
            "profiles[0].pluginConfig[0].args: NodeName takes no arguments; these are ignored",
        ),
        (
            "profiles: [{plugins: {filter: {disabled: [{name: EBSLimits}]}}}]",
            "profiles[0].plugins.filter.disabled[0].name: \"EBSLimits\" was retired and is off anyway",
        ),
    ];
    for (body, expected) in table {
        assert_eq!(warnings(&v1(body).expect(body)), [expected], "{body}");
    }
    assert_eq!(warnings(&v1("").expect("defaults")), [""; 0]);
}

//! Real configurations that users have published.

use super::{at, load, refusal, warnings};
use crate::model::ExtensionPoint;
use crate::plugins::{Descriptor, Implementations};

/// The configuration of a scheduler with one filter plugin, from its README.
const SAMPLE: &str = r#"
apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
profiles:
- schedulerName: sample-scheduler
  plugins:
    filter:
      enabled:
      - name: sample2
    preScore:
      enabled:
        - name: sample2
      disabled:
        - name: "*"
"#;

/// The configuration that a scheduler logged, with all defaults of its version.
const LOGGED: &str = include_str!("logged.yaml");

/// The filters in the order of the file, then the other default ones, then those that only the file has.
const FILTERS: [&str; 17] = [
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "NodeDeclaredFeatures",
    "Reservation",
    "defalut",
    "filteringNode",
];

fn extra(name: &str, points: &[ExtensionPoint]) -> Descriptor {
    Descriptor::new(name, points, |_| Ok(Implementations::default()))
}

#[test]
fn the_sample_loads_with_its_plugin() {
    let plugins = [extra("sample2", &[ExtensionPoint::Filter, ExtensionPoint::PreScore])];
    let loaded = load("scheduler-config.yaml", SAMPLE, &plugins).expect("a file that loads");
    let profile = &loaded.configuration.profiles[0];
    assert_eq!(profile.scheduler_name, "sample-scheduler");
    assert!(!loaded.configuration.leader_election.leader_elect);
    assert_eq!(at(&loaded.configuration, ExtensionPoint::PreScore), ["sample2"]);
    let filters = at(&loaded.configuration, ExtensionPoint::Filter);
    assert_eq!(filters.first().map(String::as_str), Some("NodeName"));
    assert_eq!(filters[filters.len() - 2..], ["Reservation", "sample2"]);
    assert_eq!(
        warnings(&loaded),
        [
            r#"apiVersion: "kubescheduler.config.k8s.io/v1beta1" is an old version; read as kubescheduler.config.k8s.io/v1"#,
            "profiles[0].plugins.score: the default weights are those of v1, where they were 1: TaintToleration 3, NodeAffinity 2, InterPodAffinity 2",
        ]
    );
}

#[test]
fn the_sample_with_our_plugin_instead() {
    let text = SAMPLE.replace("sample2", "NodeLabel");
    let loaded = load("scheduler-config.yaml", &text, &[]).expect("a file that loads");
    assert_eq!(at(&loaded.configuration, ExtensionPoint::PreScore), ["NodeLabel"]);
}

#[test]
fn a_plugin_that_nobody_has_is_named() {
    assert_eq!(
        refusal(SAMPLE),
        "scheduler.yaml: 2 errors
  profiles[0].plugins.filter.enabled[0].name: \"sample2\" is not a plugin
  profiles[0].plugins.preScore.enabled[0].name: \"sample2\" is not a plugin"
    );
    let text = refusal(LOGGED);
    let expected = "profiles[0].plugins.score.enabled[7].name: \"randScore\" is not a plugin; did you mean \"RandomScore\"?";
    assert!(text.contains(expected), "{text}");
    assert!(
        text.contains("profiles[0].plugins.filter.enabled[16].name: \"filteringNode\" is not a plugin\n"),
        "{text}"
    );
}

#[test]
fn the_logged_configuration_loads_with_its_plugins() {
    use ExtensionPoint::{
        Bind, Filter, Permit, PostBind, PostFilter, PreBind, PreFilter, PreScore, Reserve, Score,
    };
    let plugins = [
        extra(
            "defalut",
            &[Bind, Filter, Permit, PostBind, PostFilter, PreBind, PreFilter, PreScore, Reserve],
        ),
        extra("filteringNode", &[Filter]),
        extra("filteringPod", &[PreFilter]),
        extra("randScore", &[Score]),
    ];
    let loaded = load("logged.yaml", LOGGED, &plugins).expect("a file that loads");
    let configuration = &loaded.configuration;
    assert_eq!(configuration.profiles[0].scheduler_name, "wyq");
    assert_eq!(at(configuration, Filter), FILTERS);
    let scores = at(configuration, Score);
    assert_eq!(scores.last().map(String::as_str), Some("randScore=300"));
    assert!(scores.contains(&"TaintToleration=1".to_owned()), "{scores:?}");
    let words = warnings(&loaded);
    let retired = [("EBSLimits", 7), ("GCEPDLimits", 8), ("AzureDiskLimits", 10)];
    for (name, index) in retired {
        let warning = format!(
            "profiles[0].plugins.filter.enabled[{index}].name: \"{name}\" was retired and is left out; NodeVolumeLimits counts all volumes"
        );
        assert!(words.contains(&warning), "{words:#?}");
    }
    assert_eq!(words.len(), 4, "{words:#?}");
}

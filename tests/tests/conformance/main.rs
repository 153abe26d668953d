//! Our core decides as kube-scheduler's own code does, and where it means not to, only there ([`intended`]).

mod intended;

use std::process::{Command, Stdio};

use anyhow::Result;
use reserve_tests::conformance::compare::differences;
use reserve_tests::conformance::core::{Core, served, served_filters, served_scores};
use reserve_tests::conformance::format::CaseOutcome;
use reserve_tests::conformance::generator::Generator;
use reserve_tests::conformance::oracle::{self, Oracle};
use reserve_tests::conformance::run::{ask, batches, run};
use serde_json::{Value, json};

const SEED: u64 = 20_260_131;
/// What each plugin has to do in at least so many of a thousand cases, to count as compared.
const ENOUGH: u64 = 50;
/// Upstream's default plugins, all but the one for claims of devices.
const UPSTREAM: [&str; 19] = [
    "DefaultBinder",
    "DefaultPreemption",
    "ImageLocality",
    "InterPodAffinity",
    "NodeAffinity",
    "NodeDeclaredFeatures",
    "NodeName",
    "NodePorts",
    "NodeResourcesBalancedAllocation",
    "NodeResourcesFit",
    "NodeUnschedulable",
    "NodeVolumeLimits",
    "PodTopologySpread",
    "PrioritySort",
    "SchedulingGates",
    "TaintToleration",
    "VolumeBinding",
    "VolumeRestrictions",
    "VolumeZone",
];

fn node(name: &str, cpu: &str) -> Value {
    json!({
        "metadata": { "name": name, "uid": name },
        "status": { "allocatable": { "cpu": cpu, "memory": "16Gi", "pods": "110" } },
    })
}

fn pod(name: &str, cpu: &str) -> Value {
    json!({
        "metadata": { "name": name, "namespace": "default", "uid": name },
        "spec": {
            "schedulerName": "default-scheduler",
            "containers": [{ "name": "c", "resources": { "requests": { "cpu": cpu, "memory": "100Mi" } } }],
        },
    })
}

/// What the core and the oracle say about the pods.
fn decide(cluster: &Value, pods: &[Value]) -> Result<Vec<(CaseOutcome, CaseOutcome)>> {
    let (mut oracle, mut core) = (Oracle::start()?, Core::default());
    ask(&mut oracle, &mut core, &cluster.to_string())?;
    let answers = pods.iter().map(|pod| ask(&mut oracle, &mut core, &pod.to_string()));
    answers.filter_map(Result::transpose).collect()
}

#[test]
fn two_thousand_cases_are_decided_alike() {
    assert_eq!(served(), UPSTREAM, "what is compared");
    let report = run(Generator::new(SEED, 2000)).unwrap();
    let tally = report.tally;
    assert_eq!((tally.cases, report.differing), (2000, 0), "{:#?}", report.first.first());
    let is_enough = |count: u64| tally.per_mille(count) >= ENOUGH;
    for name in served_filters() {
        let said = tally.plugins[&name];
        assert!(is_enough(said.rejected) && is_enough(said.passed), "{name}:\n{tally}");
    }
    assert_eq!(tally.one_sided(), [""; 0], "plugins whose hints are always the same:\n{tally}");
    for name in served_filters() {
        let said = tally.plugins[&name];
        assert_eq!(said.queued + said.skipped, 2000, "{name} has no hints:\n{tally}");
    }
    for name in served_scores() {
        assert!(is_enough(tally.plugins[&name].scored), "{name}:\n{tally}");
    }
    let found = tally.preemption;
    let others = [
        (tally.placed, 400),
        (tally.gated, 10),
        (tally.nominated, 20),
        (found.found, 80),
        (found.ranked, 20),
        (found.victims, 20),
        (found.violating, 5),
    ];
    for (count, least) in others {
        assert!(tally.per_mille(count) >= least, "{count} are less than {least} per mille:\n{tally}");
    }
}

/// Else no core could agree with it. What it does leave to chance is left out of the comparison, or of the cases.
#[test]
fn the_oracle_says_the_same_twice() {
    let (mut one, mut other) = (Oracle::start().unwrap(), Oracle::start().unwrap());
    for batch in Generator::new(SEED, 600) {
        let mut batch = batch.unwrap();
        batch.cluster["plugins"] = json!(served());
        for oracle in [&mut one, &mut other] {
            oracle.send(&batch.cluster.to_string()).unwrap();
        }
        for pod in &mut batch.pods {
            pod["all"] = json!(true);
            let [first, second] = [&mut one, &mut other].map(|oracle| {
                oracle.send(&pod.to_string()).unwrap();
                oracle.outcome().unwrap()
            });
            assert_eq!(differences(&first, &second), [], "{}", first.id);
        }
    }
}

#[test]
fn a_core_that_is_wrong_is_found_out() {
    let cluster = json!({ "plugins": served(), "cluster": { "nodes": [node("a", "2"), node("b", "4")] } });
    let other = json!({ "cluster": { "nodes": [node("a", "2"), node("b", "1")] } });
    let case = json!({ "pod": pod("p", "2"), "all": true }).to_string();
    let (mut oracle, mut core) = (Oracle::start().unwrap(), Core::default());
    ask(&mut oracle, &mut core, &cluster.to_string()).unwrap();
    core.read(&other.to_string()).unwrap();
    let (ours, theirs) = ask(&mut oracle, &mut core, &case).unwrap().unwrap();
    let found: Vec<String> = differences(&ours, &theirs).into_iter().map(|one| one.what).collect();
    assert!(found.contains(&"rejection of b".to_owned()) && found.contains(&"best".to_owned()), "{found:?}");
}

#[test]
fn a_pod_that_is_assumed_counts_for_those_after_it() {
    let cluster = json!({ "plugins": served(), "cluster": { "nodes": [node("a", "2"), node("b", "2")] } });
    let case = |name: &str, assume: bool| json!({ "pod": pod(name, "2"), "assume": assume });
    let pods = [case("p", false), case("q", true), case("r", true), case("s", true)];
    for side in [0, 1] {
        let answers = decide(&cluster, &pods).unwrap();
        let best: Vec<Vec<String>> = answers
            .into_iter()
            .map(|(ours, theirs)| if side == 0 { ours.best } else { theirs.best })
            .collect();
        let expected: [&[&str]; 4] = [&["a", "b"], &["a", "b"], &["b"], &[]];
        assert_eq!(best, expected);
    }
}

#[test]
fn a_bad_case_is_an_error_that_says_where() {
    let cluster = json!({ "cluster": { "nodes": [node("a", "4")] } });
    let twice = json!({ "cluster": { "nodes": [node("a", "4"), node("a", "4")] } });
    let bad = [
        (format!("{cluster}\n{{\"pod\":"), "line 2: "),
        (format!("{cluster}\n\n{{\"pod\":{{}}}}"), "line 3: pod"),
        (format!("{{\"pod\":{}}}", pod("p", "1")), "line 1: a pod before any cluster"),
        (format!("{cluster}\n{{\"pods\":[]}}"), "line 2: json: unknown field"),
        ("{\"cluster\":{},\"plugins\":[\"NodeNam\"]}".to_owned(), "line 1: plugins: \"NodeNam\""),
        (twice.to_string(), "line 1: node \"a\""),
    ];
    for (text, expected) in bad {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let output = Command::new(oracle::program().unwrap())
            .stdin(Stdio::from(std::fs::File::open(file.path()).unwrap()))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn a_case_file_is_read_by_line() {
    let error = |text: &str| format!("{:#}", batches(text).unwrap_err());
    assert!(error("\n{").starts_with("line 2: "));
    assert_eq!(error("{\"pod\":{}}"), "line 1: a pod before any cluster");
    let read = batches("{\"cluster\":{}}\n{\"pod\":{}}\n\n{\"pod\":{}}\n{\"cluster\":{}}\n").unwrap();
    assert_eq!(read.iter().map(|batch| batch.pods.len()).collect::<Vec<_>>(), [2, 0]);
}

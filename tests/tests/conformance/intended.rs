//! Where we mean to decide differently from kube-scheduler: what it says, what we say, and that nothing else differs. The
//! reasons are in `docs/conformance.md`.

use super::{decide, node, pod};
use anyhow::Result;
use reserve_tests::conformance::compare::differences;
use reserve_tests::conformance::core::served;
use reserve_tests::conformance::format::CaseOutcome;
use serde_json::{Value, json};

/// What the core and the oracle say about one pod in a cluster of these nodes and pods.
fn decide_one(nodes: &[Value], pods: &[Value], asked: &Value) -> Result<(CaseOutcome, CaseOutcome)> {
    let cluster = json!({ "plugins": served(), "cluster": { "nodes": nodes, "pods": pods } });
    Ok(decide(&cluster, &[json!({ "pod": asked })])?.remove(0))
}

/// The pod, running on `node` with this priority.
fn running(mut pod: Value, node: &str, priority: i32) -> Value {
    pod["spec"]["nodeName"] = json!(node);
    pod["spec"]["priority"] = json!(priority);
    pod["status"] = json!({ "phase": "Running", "startTime": "2026-01-31T12:00:00Z" });
    pod
}

/// The pod with a priority above those of others.
fn important(mut pod: Value) -> Value {
    pod["spec"]["priority"] = json!(10);
    pod
}

fn nominated(outcome: &CaseOutcome) -> Option<&str> {
    outcome.preemption.as_ref()?.nominated.as_deref()
}

fn what_differs(ours: &CaseOutcome, theirs: &CaseOutcome) -> Vec<String> {
    differences(ours, theirs).into_iter().map(|difference| difference.what).collect()
}

/// Upstream takes the node that its heap happens to leave on top, we take the first.
#[test]
fn among_equals_we_take_the_first() {
    let mut nodes: Vec<Value> =
        ["a", "b", "c", "d", "e", "f", "g"].iter().map(|name| node(name, "4")).collect();
    for soft in [0, 1, 3] {
        nodes[soft]["spec"] = json!({ "taints": [{ "key": "k", "effect": "PreferNoSchedule" }] });
    }
    let cluster = json!({ "plugins": served(), "cluster": { "nodes": nodes } });
    let answers = decide(&cluster, &[json!({ "pod": pod("p", "1") })]).unwrap();
    let (ours, theirs) = &answers[0];
    assert_eq!(theirs.best, ["c", "e", "f", "g"]);
    assert_eq!((ours.host.as_deref(), theirs.host.as_deref()), (Some("c"), Some("e")));
    assert_eq!(differences(ours, theirs), [], "not counted as a difference");
}

/// Upstream looks at some nodes of a large cluster only, we look at all.
#[test]
fn we_look_at_all_nodes() {
    let mut nodes: Vec<Value> = (0..200).map(|number| node(&format!("n{number:03}"), "4")).collect();
    nodes[199] = node("n199", "64");
    let case = [json!({ "pod": pod("p", "1") })];
    let with = |sample: bool| {
        let cluster = json!({ "plugins": served(), "sample": sample, "cluster": { "nodes": nodes } });
        let (ours, theirs) = decide(&cluster, &case).unwrap().remove(0);
        assert_eq!(ours.host.as_deref(), Some("n199"));
        theirs.host
    };
    assert_eq!(with(true).as_deref(), Some("n000"), "upstream as it comes");
    assert_eq!(with(false).as_deref(), Some("n199"), "upstream with percentageOfNodesToScore: 100");
}

/// Of equal candidates upstream nominates any, we nominate the first.
#[test]
fn among_equal_candidates_we_nominate_the_first() {
    let names = ["a", "b", "c", "d", "e"];
    let nodes = names.map(|name| node(name, "4"));
    let pods = names.map(|name| running(pod(&format!("on-{name}"), "4"), name, 0));
    let (ours, theirs) = decide_one(&nodes, &pods, &important(pod("p", "4"))).unwrap();
    assert_eq!(nominated(&ours), Some("a"));
    assert!(nominated(&theirs).is_some());
    assert_eq!(what_differs(&ours, &theirs), [""; 0], "not counted as a difference");
}

/// Upstream tries preemption on a part of the nodes, from a random one on; we try all, so that the best is found.
#[test]
fn we_try_preemption_on_all_nodes() {
    let name = |number: usize| format!("n{number:03}");
    let nodes: Vec<Value> = (0..400).map(|number| node(&name(number), "4")).collect();
    let on = |number: usize| {
        let priority = if number == 200 { 0 } else { 5 };
        running(pod(&format!("on-{number}"), "4"), &name(number), priority)
    };
    let pods: Vec<Value> = (0..400).map(on).collect();
    let cluster = json!({ "plugins": served(), "cluster": { "nodes": nodes, "pods": pods } });
    // It tries 100 of the 400: that all of these find the best by chance does not happen.
    let asked: Vec<Value> =
        (0..12).map(|number| json!({ "pod": important(pod(&format!("p{number}"), "4")) })).collect();
    let answers = decide(&cluster, &asked).unwrap();
    assert!(answers.iter().all(|(ours, _)| nominated(ours) == Some("n200")));
    assert!(answers.iter().all(|(_, theirs)| nominated(theirs).is_some()));
    assert!(answers.iter().any(|(_, theirs)| nominated(theirs) != Some("n200")));
    let found = answers.iter().flat_map(|(ours, theirs)| what_differs(ours, theirs));
    assert!(found.into_iter().all(|what| what == "nominated"), "the candidates are the same");
}

/// Upstream notes the ports of a node in a set, so that a port which two pods have is free when one of them leaves.
#[test]
fn a_port_that_two_pods_have_is_free_when_both_have_left() {
    let with_port = |name: &str| {
        let mut pod = pod(name, "1");
        pod["spec"]["containers"][0]["ports"] = json!([{ "containerPort": 80, "hostPort": 80 }]);
        pod
    };
    let pods = [running(with_port("low"), "a", 0), running(with_port("high"), "a", 100)];
    let (ours, theirs) = decide_one(&[node("a", "4")], &pods, &important(with_port("p"))).unwrap();
    assert_eq!((nominated(&ours), nominated(&theirs)), (None, Some("a")));
    assert_eq!(what_differs(&ours, &theirs), ["message", "candidate a", "nominated"]);
}

/// Upstream's sums wrap around, so that a node with far too much on it looks empty.
#[test]
fn a_sum_that_is_too_large_does_not_become_a_small_one() {
    let vast = |name: &str| {
        let mut pod = pod(name, "1");
        pod["spec"]["containers"][0]["resources"]["requests"]["memory"] = json!("6E");
        running(pod, "a", 0)
    };
    let (ours, theirs) = decide_one(&[node("a", "4")], &[vast("x"), vast("y")], &pod("p", "1")).unwrap();
    assert_eq!((ours.host.as_deref(), theirs.host.as_deref()), (None, Some("a")));
    let said = "0/1 nodes are available: 1 Insufficient memory.";
    assert!(ours.message.is_some_and(|message| message.starts_with(said)));
}

/// Upstream takes the size of an image from whichever node it heard of first; we take it from the first in node order.
#[test]
fn the_first_node_in_node_order_says_how_large_an_image_is() {
    let having = |name: &str, megabytes: i64| {
        let mut node = node(name, "4");
        node["status"]["images"] = json!([{ "names": ["i:1"], "sizeBytes": megabytes << 20 }]);
        node
    };
    let mut asked = pod("p", "1");
    asked["spec"]["containers"][0]["image"] = json!("i:1");
    let raw = |outcome: &CaseOutcome| outcome.nodes[0].scores["ImageLocality"].raw;
    let scores = |first: Value, second: Value| {
        let (ours, theirs) = decide_one(&[first, second], &[], &asked).unwrap();
        (raw(&ours), raw(&theirs))
    };
    assert_eq!(scores(having("a", 300), having("b", 800)), (28, 28));
    assert_eq!(scores(having("b", 800), having("a", 300)), (28, 79), "heard of in another order");
}

/// Upstream's DynamicResources, when it was not asked about the pod before, complains in two more words.
#[test]
fn a_pod_without_devices_is_told_nothing_about_them() {
    let mut asked = pod("p", "1");
    asked["spec"]["volumes"] = json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "gone" } }]);
    let message = |plugins: &[String]| {
        let cluster = json!({ "plugins": plugins, "cluster": { "nodes": [node("a", "4")] } });
        let (ours, theirs) = decide(&cluster, &[json!({ "pod": asked })]).unwrap().remove(0);
        (ours.message.unwrap(), theirs.message.unwrap())
    };
    let (ours, theirs) = message(&served());
    assert_eq!(ours, theirs);
    let (ours, theirs) = message(&[served(), vec!["DynamicResources".to_owned()]].concat());
    assert!(!ours.ends_with(". not found") && theirs.ends_with(". not found"), "{ours}\n{theirs}");
}

//! Tests of the extender without HTTP: questions in, answers compared.

mod binding;
mod property;
mod recheck;

use super::{Question, Reply};
use crate::queue::Backoff;
use crate::state::{Effect, Input, Now, State};
use common::api::extender::Victims;
use common::api::node::node;
use common::api::pod::pod;
use common::api::workload::workload;
use common::cluster::{Event, WatchEvent};
use common::model::owner::OwnerKind;
use common::model::{CatalogKind, Node, NodeName, Pod};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const OWNER: &str = "11111111-0000-4000-8000-000000000001";
const CPU: &str = "Insufficient cpu";

fn now(millis: u64) -> Now {
    let start: jiff::Timestamp = "2026-11-16T08:00:00Z".parse().unwrap();
    let elapsed = Duration::from_millis(millis);
    Now { wall: start + elapsed, elapsed }
}

fn learn(state: &mut State, event: Event) -> Vec<Effect> {
    state.handle(Input::Cluster(Box::new(event)), now(0))
}

/// A node of 4 CPUs.
fn made_node(name: &str, annotations: &Value) -> Node {
    let json = json!({
        "metadata": { "name": name, "uid": format!("uid-{name}"), "resourceVersion": "1", "annotations": annotations },
        "status": { "allocatable": { "cpu": "4", "memory": "8Gi", "pods": "110" } },
    });
    node(&json.to_string()).unwrap()
}

/// The annotations of a reservation for a replacement of the pod `replaced`.
fn reserved(cpu: &str, replaced: &str, priority: i32) -> Value {
    let info = json!({
        "v": 1, "owner": { "kind": "ReplicaSet", "namespace": "default", "name": "web", "uid": OWNER },
        "replaces": { "name": replaced, "uid": format!("uid-{replaced}") }, "priority": priority,
        "created": "2026-11-16T07:00:00Z", "expires": "2026-11-16T09:00:00Z", "request": "r", "placement": "prefer",
    });
    json!({ format!("reserve.cpu/{OWNER}.a1"): cpu, format!("reserve.info/{OWNER}.a1"): info.to_string() })
}

fn json_pod(name: &str, cpu: &str) -> Value {
    json!({
        "metadata": { "name": name, "namespace": "default", "uid": format!("uid-{name}"), "resourceVersion": "5" },
        "spec": { "schedulerName": "default-scheduler",
                  "containers": [{ "name": "c", "resources": { "requests": { "cpu": cpu } } }] },
        "status": { "phase": "Pending" },
    })
}

fn stranger(name: &str, cpu: &str) -> Pod {
    pod(&json_pod(name, cpu).to_string()).unwrap()
}

fn owned(name: &str, cpu: &str) -> Pod {
    let mut json = json_pod(name, cpu);
    json["metadata"]["ownerReferences"] = json!([
        { "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": OWNER, "controller": true }]);
    pod(&json.to_string()).unwrap()
}

fn with(pod_: &Pod, node: Option<&str>, version: u64, condition: Option<&str>) -> Pod {
    let mut json = json_pod(&pod_.key.name, "1");
    json["metadata"]["resourceVersion"] = json!(version.to_string());
    if let Some(node) = node {
        json["spec"]["nodeName"] = json!(node);
    }
    if let Some(message) = condition {
        json["status"]["conditions"] = json!([
            { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message }]);
    }
    pod(&json.to_string()).unwrap()
}

fn running(name: &str, cpu: &str, on: &str, priority: i32) -> Pod {
    let mut json = json_pod(name, cpu);
    json["spec"]["nodeName"] = json!(on);
    json["spec"]["priority"] = json!(priority);
    pod(&json.to_string()).unwrap()
}

/// Lists of everything: these nodes, the owner, these pods.
fn everything(nodes: Vec<Node>, pods: Vec<Pod>) -> Vec<Event> {
    let owner = json!({ "metadata": { "name": "web", "namespace": "default", "uid": OWNER } });
    let owners = |kind| match kind {
        OwnerKind::ReplicaSet => vec![workload(kind, &owner.to_string()).unwrap()],
        _ => vec![],
    };
    let mut events = vec![Event::Nodes(WatchEvent::Relisted(nodes))];
    events.extend(OwnerKind::ALL.map(|kind| Event::Workloads(kind, WatchEvent::Relisted(owners(kind)))));
    events.extend(CatalogKind::ALL.map(|kind| Event::CatalogObjects(kind, WatchEvent::Relisted(vec![]))));
    events.push(Event::Pods(WatchEvent::Relisted(pods)));
    events
}

/// A state that leads and has listed everything: these nodes, these pods, and the owner.
fn listed(nodes: Vec<Node>, pods: Vec<Pod>) -> State {
    let mut state = State::new(BTreeMap::new(), Backoff::default());
    for event in everything(nodes, pods) {
        learn(&mut state, event);
    }
    state
}

/// The answer, after the recheck if there is one.
fn ask(state: &mut State, question: Question) -> Reply {
    let mut effects = state.handle(Input::Question { id: 7, question: Box::new(question) }, now(10));
    if effects.is_empty() {
        effects = state.handle(Input::Tick, now(260));
    }
    match &effects[..] {
        [Effect::Reply { id: 7, reply }] => reply.clone(),
        other => panic!("one answer: {other:?}"),
    }
}

fn names(names: &[&str]) -> Vec<NodeName> {
    names.iter().map(|name| NodeName::from(*name)).collect()
}

/// The nodes that refuse the pod, each with the reason.
fn refused(state: &mut State, pod: &Pod, nodes: &[&str]) -> Vec<(String, String)> {
    match ask(state, Question::Filter { pod: Arc::new(pod.clone()), nodes: names(nodes) }) {
        Reply::Filtered(refused) => refused.into_iter().map(|(node, why)| (node.to_string(), why)).collect(),
        other => panic!("{other:?}"),
    }
}

fn no(node: &str) -> Vec<(String, String)> {
    vec![(node.to_owned(), CPU.to_owned())]
}

#[test]
fn a_stranger_gets_what_is_left_and_the_owner_what_is_kept() {
    let nodes = || vec![made_node("n1", &reserved("3", "old", 0)), made_node("n2", &json!({}))];
    for (what, pod, expected) in [
        ("a stranger that fits beside", stranger("a", "1"), vec![]),
        ("a stranger that does not", stranger("a", "2"), no("n1")),
        ("a pod of the owner", owned("a", "3"), vec![]),
        ("one that asks for more than is kept, and there is more", owned("a", "4"), vec![]),
    ] {
        let mut state = listed(nodes(), vec![]);
        assert_eq!(refused(&mut state, &pod, &["n1", "n2"]), expected, "{what}");
    }
}

#[test]
fn nodes_that_are_not_known_pass_and_before_the_first_list_nothing_is_said() {
    let mut state = listed(vec![], vec![]);
    assert_eq!(refused(&mut state, &stranger("a", "100"), &["new", "newer"]), []);
    let mut fresh = State::new(BTreeMap::new(), Backoff::default());
    let question = Question::Filter { pod: Arc::new(stranger("a", "1")), nodes: names(&["n1"]) };
    assert!(matches!(ask(&mut fresh, question), Reply::Unavailable(_)));
}

#[test]
fn a_pod_that_left_for_them_and_not_yet_for_us_leaves_no_gap() {
    // kube-scheduler has seen that the replaced pod is gone; in the belief it is still there, and the reservation is not held yet.
    let old = running("old", "3", "n1", 0);
    let mut state = listed(vec![made_node("n1", &reserved("3", "old", 0))], vec![old]);
    assert_eq!(refused(&mut state, &stranger("a", "3"), &["n1"]), no("n1"));
    assert_eq!(refused(&mut state, &owned("b", "3"), &["n1"]), [], "its own place is for it to wait for");
}

#[test]
fn two_strangers_at_once_do_not_get_the_same_room() {
    let mut state = listed(vec![made_node("n1", &reserved("3", "old", 0))], vec![]);
    assert_eq!(refused(&mut state, &stranger("a", "1"), &["n1"]), []);
    assert_eq!(refused(&mut state, &stranger("b", "1"), &["n1"]), no("n1"), "the first may be on its way");
    assert_eq!(
        refused(&mut state, &stranger("a", "1"), &["n1"]),
        [],
        "whoever asks again is not in its own way"
    );
}

#[test]
fn a_pod_that_was_let_through_counts_until_more_is_known() {
    let first = stranger("a", "1");
    let cases: [(&str, Vec<Event>, bool); 6] = [
        ("nothing", vec![], false),
        (
            "it was seen, as it was",
            vec![Event::Pods(WatchEvent::Applied(with(&first, None, 5, None)))],
            false,
        ),
        ("bound elsewhere", vec![Event::Pods(WatchEvent::Applied(with(&first, Some("n2"), 6, None)))], true),
        (
            "told that it has no place",
            vec![Event::Pods(WatchEvent::Applied(with(&first, None, 6, Some("no"))))],
            true,
        ),
        (
            "deleted",
            vec![
                Event::Pods(WatchEvent::Applied(with(&first, None, 5, None))),
                Event::Pods(WatchEvent::Deleted(with(&first, None, 6, None))),
            ],
            true,
        ),
        ("bound there", vec![Event::Pods(WatchEvent::Applied(with(&first, Some("n1"), 6, None)))], false),
    ];
    for (what, events, is_free) in cases {
        let mut state =
            listed(vec![made_node("n1", &reserved("3", "old", 0)), made_node("n2", &json!({}))], vec![]);
        assert_eq!(refused(&mut state, &first, &["n1", "n2"]), []);
        events.into_iter().for_each(|event| drop(learn(&mut state, event)));
        let second = refused(&mut state, &stranger("b", "1"), &["n1"]);
        assert_eq!(second.is_empty(), is_free, "{what}");
    }
}

#[test]
fn a_pod_of_the_owner_that_passed_takes_the_reservation() {
    let mut state = listed(vec![made_node("n1", &reserved("3", "old", 0))], vec![]);
    assert_eq!(refused(&mut state, &owned("new", "3"), &["n1"]), []);
    assert_eq!(refused(&mut state, &stranger("b", "1"), &["n1"]), [], "4 - 3 is 1, counted once");
    assert_eq!(refused(&mut state, &stranger("c", "1"), &["n1"]), no("n1"));
}

#[test]
fn the_reserved_node_scores_highest_and_all_others_nothing() {
    let mut state =
        listed(vec![made_node("n1", &json!({})), made_node("n2", &reserved("3", "old", 0))], vec![]);
    for (pod, expected) in [(owned("a", "1"), [0, 10, 0]), (stranger("a", "1"), [0, 0, 0])] {
        let question = Question::Prioritize { pod: Arc::new(pod), nodes: names(&["n1", "n2", "nowhere"]) };
        let Reply::Prioritized(scores) = ask(&mut state, question) else { panic!("scores") };
        assert_eq!(scores.iter().map(|(_, score)| *score).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_pod_with_a_required_node_may_go_nowhere_else() {
    let placed = |placement: &str| {
        let annotations = reserved("3", "old", 0).to_string().replace("prefer", placement);
        listed(
            vec![made_node("n1", &json!({})), made_node("n2", &serde_json::from_str(&annotations).unwrap())],
            vec![],
        )
    };
    let nodes = ["n1", "n2"];
    let elsewhere = [("n1".to_owned(), super::fit::NOT_RESERVED_NODE.to_owned())];
    assert_eq!(refused(&mut placed("require"), &owned("new", "3"), &nodes), elsewhere);
    assert_eq!(refused(&mut placed("require"), &stranger("a", "3"), &nodes), no("n2"), "others may");
    for placement in ["wait", "prefer"] {
        assert_eq!(refused(&mut placed(placement), &owned("new", "3"), &nodes), [], "{placement}");
    }
}

#[test]
fn victims_are_spared_where_their_going_would_not_help() {
    let victims = |name: &str| Victims { pods: vec![format!("uid-{name}").into()], violations: 1 };
    let pods = vec![running("low1", "1", "n1", 0), running("low2", "1", "n2", 0)];
    // The same amount is reserved on both nodes: for a pod of the same priority, and for one of lower priority.
    let nodes = vec![made_node("n1", &reserved("3", "old", 100)), made_node("n2", &reserved("3", "old", 1))];
    let mut state = listed(nodes, pods);
    let mut important = json_pod("important", "2");
    important["spec"]["priority"] = json!(100);
    let important = Arc::new(pod(&important.to_string()).unwrap());
    let candidates = BTreeMap::from(
        [("n1", victims("low1")), ("n2", victims("low2")), ("unknown", victims("x"))]
            .map(|(node, victims)| (NodeName::from(node), victims)),
    );
    let Reply::Preempted(left) = ask(&mut state, Question::Preempt { pod: important, candidates }) else {
        panic!("candidates")
    };
    assert_eq!(left.keys().map(NodeName::as_str).collect::<Vec<_>>(), ["n2", "unknown"]);
    assert_eq!(left[&NodeName::from("n2")], victims("low2"), "as they came");
}

#[test]
fn an_owner_that_was_not_read_yet_is_waited_for() {
    let mut state = listed(vec![made_node("n1", &reserved("3", "old", 0))], vec![]);
    let mut json = json_pod("new", "3");
    json["metadata"]["ownerReferences"] = json!([
        { "apiVersion": "apps/v1", "kind": "Deployment", "name": "later", "uid": "x", "controller": true }]);
    let pod = Arc::new(pod(&json.to_string()).unwrap());
    let question = Question::Filter { pod, nodes: names(&["n1"]) };
    let effects = state.handle(Input::Question { id: 7, question: Box::new(question) }, now(10));
    assert_eq!(effects, []);
    assert_eq!(state.next_tick(now(10)), Some(now(510).elapsed));
    assert_eq!(state.handle(Input::Tick, now(400)), []);
    assert_eq!(state.handle(Input::Tick, now(510)).len(), 1, "then it is a stranger");
}

#[test]
fn whoever_asked_lately_is_named() {
    let mut state = listed(vec![made_node("n1", &json!({}))], vec![]);
    state.take_news();
    refused(&mut state, &stranger("a", "1"), &["n1"]);
    assert!(state.take_news(), "others want to know at once");
    refused(&mut state, &stranger("b", "1"), &["n1"]);
    assert!(!state.take_news());
    assert_eq!(*state.replica_status().extends, ["default-scheduler".into()]);
    state.handle(Input::Tick, now(5 * 60 * 1000 + 10));
    assert!(state.replica_status().extends.is_empty());
}

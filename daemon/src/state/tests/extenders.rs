//! Extenders of the configuration: when they are asked, and what their answers do.

use super::{apply, decoded, learn, listed, now, told, waiting};
use crate::scheduler::ExtenderAnswer;
use crate::state::{Effect, Input, State};
use common::cluster::{Event, WatchEvent};
use common::config::{Extender, ManagedResource};
use common::model::{Node, NodeName, PodKey};
use jiff::SignedDuration;
use serde_json::json;
use std::collections::BTreeMap;

pub(super) fn extender(managed: &[&str]) -> Extender {
    let managed =
        managed.iter().map(|name| ManagedResource { name: (*name).into(), ignored_by_scheduler: false });
    Extender {
        url_prefix: "http://127.0.0.1:1".into(),
        filter_verb: "filter".into(),
        preempt_verb: String::new(),
        prioritize_verb: "prioritize".into(),
        weight: 1,
        bind_verb: String::new(),
        enable_https: false,
        tls: None,
        http_timeout: SignedDuration::from_secs(5),
        node_cache_capable: true,
        managed_resources: managed.collect(),
        ignorable: false,
    }
}

fn second_node() -> Node {
    let json = json!({
        "metadata": { "name": "n2", "uid": "node-2", "resourceVersion": "1" },
        "status": { "allocatable": { "cpu": "6", "memory": "8Gi", "pods": "110" } },
    });
    common::api::node::node(&json.to_string()).unwrap()
}

/// A state with two nodes and these extenders.
pub(super) fn with_extenders(extenders: &[Extender]) -> State {
    let mut state = listed(&json!({}));
    state.set_extenders(extenders);
    state.handle(learn(Event::Nodes(WatchEvent::Applied(second_node()))), now(0));
    state
}

fn names(names: &[&str]) -> Vec<NodeName> {
    names.iter().map(|name| NodeName::from(*name)).collect()
}

fn ask(name: &str) -> Effect {
    let (pod, uid) = (PodKey::new("default", name), format!("uid-{name}").into());
    Effect::AskExtenders { pod, uid, nodes: names(&["n1", "n2"]) }
}

fn answer(state: &mut State, name: &str, answer: Result<ExtenderAnswer, String>) -> Vec<Effect> {
    let (pod, uid) = (PodKey::new("default", name), format!("uid-{name}").into());
    state.handle(Input::ExtenderAnswer { pod, uid, answer }, now(1))
}

fn passed(nodes: &[&str]) -> ExtenderAnswer {
    ExtenderAnswer { passed: names(nodes), ..ExtenderAnswer::default() }
}

fn node_of(effects: &[Effect]) -> Option<&str> {
    effects.iter().find_map(|effect| match effect {
        Effect::Bind { node, .. } => Some(node.as_str()),
        _ => None,
    })
}

#[test]
fn nobody_else_is_decided_on_while_an_extender_is_asked() {
    let mut state = with_extenders(&[extender(&[])]);
    assert_eq!(apply(&mut state, decoded(&waiting("a", "1")), 0), [ask("a")]);
    assert_eq!(apply(&mut state, decoded(&waiting("b", "1")), 0), []);
    let effects = answer(&mut state, "a", Ok(passed(&["n2"])));
    assert_eq!(node_of(&effects), Some("n2"), "the only one that is left");
    assert!(effects.contains(&ask("b")), "then it is the next one's turn: {effects:?}");
}

#[test]
fn scores_are_added_to_ours() {
    let mut state = with_extenders(&[extender(&[])]);
    apply(&mut state, decoded(&waiting("a", "1")), 0);
    let scores = BTreeMap::from([(NodeName::from("n2"), 1000)]);
    let effects = answer(&mut state, "a", Ok(ExtenderAnswer { scores, ..passed(&["n1", "n2"]) }));
    assert_eq!(node_of(&effects), Some("n2"));
    apply(&mut state, decoded(&waiting("b", "1")), 1);
    let effects = answer(&mut state, "b", Ok(passed(&["n1", "n2"])));
    assert_eq!(node_of(&effects), Some("n1"), "it is emptier now");
}

#[test]
fn what_extenders_say_against_nodes_is_told_in_their_words() {
    let mut state = with_extenders(&[extender(&[])]);
    apply(&mut state, decoded(&waiting("a", "1")), 0);
    let extender_answer = ExtenderAnswer {
        failed: BTreeMap::from([("n1".into(), "too hot".to_owned())]),
        unresolvable: BTreeMap::from([("n2".into(), "too cold".to_owned())]),
        ..ExtenderAnswer::default()
    };
    let effects = answer(&mut state, "a", Ok(extender_answer));
    let message = told(&effects)[0];
    assert!(message.starts_with("0/2 nodes are available: 1 too cold, 1 too hot."), "{message}");
}

#[test]
fn a_failure_that_counts_is_told_and_tried_again() {
    let mut state = with_extenders(&[extender(&[])]);
    apply(&mut state, decoded(&waiting("a", "1")), 0);
    let why = "failed filter with extender at URL http://127.0.0.1:1/filter, code 500";
    let (pod, uid) = (PodKey::new("default", "a"), "uid-a".into());
    let effects = state.handle(Input::ExtenderAnswer { pod, uid, answer: Err(why.to_owned()) }, now(0));
    assert!(
        matches!(&effects[0], Effect::Condition { reason: "SchedulerError", message, .. } if message == why),
        "{effects:?}"
    );
    assert_eq!(state.handle(Input::Tick, now(30)), [ask("a")]);
}

#[test]
fn a_node_that_filled_up_meanwhile_is_not_taken() {
    let mut state = with_extenders(&[extender(&[])]);
    apply(&mut state, decoded(&waiting("a", "4")), 0);
    let mut rival = waiting("rival", "4");
    rival["spec"]["nodeName"] = json!("n2");
    apply(&mut state, decoded(&rival), 0);
    let effects = answer(&mut state, "a", Ok(passed(&["n2"])));
    assert_eq!(node_of(&effects), None, "{effects:?}");
}

#[test]
fn a_pod_that_concerns_no_extender_or_fits_nowhere_is_not_asked_about() {
    let mut state = with_extenders(&[extender(&["example.com/gpu"])]);
    let effects = apply(&mut state, decoded(&waiting("a", "1")), 0);
    assert!(node_of(&effects).is_some(), "{effects:?}");
    let mut state = with_extenders(&[extender(&[])]);
    let effects = apply(&mut state, decoded(&waiting("big", "100")), 0);
    assert!(told(&effects)[0].contains("Insufficient cpu"), "{effects:?}");
}

#[test]
fn an_answer_about_a_pod_that_is_gone_lets_the_next_one_have_its_turn() {
    let mut state = with_extenders(&[extender(&[])]);
    apply(&mut state, decoded(&waiting("a", "1")), 0);
    state.handle(learn(Event::Pods(WatchEvent::Deleted(decoded(&waiting("a", "1"))))), now(0));
    assert_eq!(answer(&mut state, "a", Ok(passed(&["n1"]))), []);
    assert_eq!(apply(&mut state, decoded(&waiting("b", "1")), 1), [ask("b")]);
}

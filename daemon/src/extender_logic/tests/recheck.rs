//! Rechecks: a change that arrives shortly after the question counts, and kube-scheduler never waits long.

use super::{CPU, listed, made_node, names, now, reserved, stranger, with};
use crate::extender_logic::{Question, Reply};
use crate::state::{Effect, Input, State};
use common::cluster::{Event, WatchEvent};
use common::model::{Node, NodeName};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A node with 3 of its 4 CPUs reserved for another owner.
fn kept(name: &str) -> Node {
    made_node(name, &reserved("3", "old", 0))
}

fn with_one_node() -> State {
    listed(vec![kept("n1")], vec![])
}

/// Asks about n1 for a stranger of two CPUs.
fn ask(state: &mut State, id: u64, millis: u64) -> Vec<Effect> {
    let pod = Arc::new(stranger(&format!("p{id}"), "2"));
    let question = Question::Filter { pod, nodes: names(&["n1"]) };
    state.handle(Input::Question { id, question: Box::new(question) }, now(millis))
}

/// The replies when the state learns this event.
fn learn(state: &mut State, event: Event, millis: u64) -> Vec<Effect> {
    let mut effects = state.handle(Input::Cluster(Box::new(event)), now(millis));
    effects.retain(|effect| matches!(effect, Effect::Reply { .. }));
    effects
}

fn node(node: Node) -> Event {
    Event::Nodes(WatchEvent::Applied(node))
}

fn passes(id: u64) -> [Effect; 1] {
    [Effect::Reply { id, reply: Reply::Filtered(BTreeMap::new()) }]
}

fn refused(id: u64) -> [Effect; 1] {
    let nodes = [(NodeName::from("n1"), CPU.to_owned())].into();
    [Effect::Reply { id, reply: Reply::Filtered(nodes) }]
}

#[test]
fn news_that_come_a_moment_later_are_answered_at_once() {
    let mut state = with_one_node();
    assert_eq!(ask(&mut state, 1, 10), []);
    assert_eq!(learn(&mut state, node(made_node("n1", &json!({}))), 90), passes(1));
    assert_eq!(state.handle(Input::Tick, now(1000)), [], "and once");
}

#[test]
fn a_try_right_before_does_not_use_it_up() {
    let mut state = with_one_node();
    assert_eq!(ask(&mut state, 1, 0), []);
    assert_eq!(state.handle(Input::Tick, now(250)), refused(1));
    assert_eq!(ask(&mut state, 1, 260), []);
    assert_eq!(state.handle(Input::Tick, now(510)), refused(1));
    assert_eq!(ask(&mut state, 1, 520), []);
    assert_eq!(learn(&mut state, node(made_node("n1", &json!({}))), 700), passes(1));
}

#[test]
fn news_that_do_not_help_change_nothing() {
    let mut state = with_one_node();
    assert_eq!(ask(&mut state, 1, 10), []);
    assert_eq!(learn(&mut state, node(made_node("n2", &json!({}))), 50), [], "it did not ask for that one");
    assert_eq!(learn(&mut state, node(made_node("n1", &reserved("4", "old", 0))), 60), [], "even less");
    assert!(state.next_tick(now(60)) <= Some(now(260).elapsed));
    assert_eq!(state.handle(Input::Tick, now(259)), []);
    assert_eq!(state.handle(Input::Tick, now(260)), refused(1));
}

#[test]
fn somebody_who_was_let_through_and_went_elsewhere_is_news() {
    let mut state = listed(vec![kept("n1"), kept("n2")], vec![]);
    let first = stranger("a", "1");
    assert_eq!(super::refused(&mut state, &first, &["n1", "n2"]), []);
    let question = Question::Filter { pod: Arc::new(stranger("b", "1")), nodes: names(&["n1"]) };
    assert_eq!(state.handle(Input::Question { id: 2, question: Box::new(question) }, now(10)), []);
    let bound = Event::Pods(WatchEvent::Applied(with(&first, Some("n2"), 6, None)));
    assert_eq!(learn(&mut state, bound, 50), passes(2));
}

#[test]
fn a_pod_that_has_a_node_left_is_not_rechecked() {
    let mut state = listed(vec![kept("n1"), made_node("n2", &json!({}))], vec![]);
    let question = Question::Filter { pod: Arc::new(stranger("a", "2")), nodes: names(&["n1", "n2"]) };
    assert_eq!(state.handle(Input::Question { id: 1, question: Box::new(question) }, now(0)), refused(1));
}

#[test]
fn kube_scheduler_is_kept_waiting_for_a_quarter_of_the_time_at_most() {
    let mut state = with_one_node();
    let (mut millis, mut waited, mut in_a_row) = (0, 0, Some(0));
    while millis < 60_000 {
        if ask(&mut state, millis, millis).is_empty() {
            assert_eq!(state.handle(Input::Tick, now(millis + 250)), refused(millis));
            (millis, waited) = (millis + 250, waited + 250);
            in_a_row = in_a_row.map(|rechecks| rechecks + 1);
        } else {
            let rechecks = in_a_row.take().unwrap_or(8);
            assert!((8..12).contains(&rechecks), "{rechecks}: time goes by while it waits");
            millis += 1;
        }
    }
    assert!((14_000..=17_000).contains(&waited), "{waited}");
}

#[test]
fn what_a_recheck_did_not_use_is_left_for_others() {
    let mut state = with_one_node();
    for round in 0..200 {
        let millis = round * 10;
        assert_eq!(ask(&mut state, round, millis), [], "{round}");
        assert_eq!(learn(&mut state, node(made_node("n1", &json!({}))), millis + 1), passes(round));
        learn(&mut state, node(kept("n1")), millis + 2);
    }
}

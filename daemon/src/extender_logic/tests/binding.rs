//! The verb `bind`: only for pods of schedulers that asked `filter`, and only to nodes that exist.

use super::{
    CPU, OWNER, ask, json_pod, learn, listed, made_node, names, now, owned, refused, reserved, stranger,
};
use crate::extender_logic::{Question, Reply};
use crate::queue::Backoff;
use crate::state::{BindingOutcome, Effect, Input, State};
use common::api::extender::ExtenderBindingArgs;
use common::api::pod::pod;
use common::cluster::{Event, WatchEvent};
use common::framework::Registry;
use common::model::{Node, Pod, PodKey};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A state that default-scheduler has asked `filter`.
fn with_known_scheduler(nodes: Vec<Node>, pods: Vec<Pod>) -> State {
    let mut state = listed(nodes, pods);
    refused(&mut state, &stranger("first", "0"), &[]);
    state
}

fn binding(name: &str, node: &str) -> Question {
    let uid = format!("uid-{name}").into();
    Question::Bind(ExtenderBindingArgs { pod: PodKey::new("default", name), uid, node: node.into() })
}

fn bind_effects(state: &mut State, name: &str, node: &str) -> Vec<Effect> {
    state.handle(Input::Question { id: 7, question: Box::new(binding(name, node)) }, now(10))
}

fn outcome(state: &mut State, name: &str, outcome: BindingOutcome) -> Vec<Effect> {
    let (pod, uid) = (PodKey::new("default", name), format!("uid-{name}").into());
    state.handle(Input::Binding { pod, uid, outcome }, now(20))
}

#[test]
fn a_binding_carries_the_seat_and_comes_back_as_an_answer() {
    let mut state =
        with_known_scheduler(vec![made_node("n1", &reserved("3", "old", 0))], vec![owned("new", "3")]);
    let effects = bind_effects(&mut state, "new", "n1");
    let [Effect::Bind { seat: Some(seat), uid, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!((seat.to_string(), uid.to_string()), (format!("{OWNER}.a1"), "uid-new".to_owned()));
    let effects = outcome(&mut state, "new", BindingOutcome::Unknown);
    assert!(matches!(&effects[..], [Effect::Find { .. }]), "{effects:?}");
    let effects = outcome(&mut state, "new", BindingOutcome::Bound);
    assert_eq!(
        effects,
        [Effect::Reply { id: 7, reply: Reply::Bound(Ok(())) }],
        "the event is kube-scheduler's"
    );
}

#[test]
fn a_binding_that_must_not_be_is_refused_and_one_that_fails_gives_the_room_back() {
    let mut state = with_known_scheduler(
        vec![made_node("n1", &reserved("3", "old", 0))],
        vec![stranger("a", "2"), stranger("b", "1")],
    );
    let Reply::Bound(Err(why)) = ask(&mut state, binding("a", "n1")) else { panic!("refused") };
    assert_eq!(why, CPU);
    assert!(matches!(&bind_effects(&mut state, "b", "n1")[..], [Effect::Bind { seat: None, .. }]));
    let Reply::Bound(Err(_)) = ask(&mut state, binding("b", "n1")) else { panic!("it is under way") };
    let effects = outcome(&mut state, "b", BindingOutcome::Refused { why: "no".into() });
    assert_eq!(effects, [Effect::Reply { id: 7, reply: Reply::Bound(Err("no".into())) }]);
    assert!(
        matches!(&bind_effects(&mut state, "b", "n1")[..], [Effect::Bind { .. }]),
        "the room is free again"
    );
}

#[test]
fn only_a_leader_binds_and_everybody_answers() {
    let mut state = with_known_scheduler(vec![made_node("n1", &json!({}))], vec![stranger("a", "1")]);
    state.handle(Input::Leading(false), now(0));
    assert!(matches!(ask(&mut state, binding("a", "n1")), Reply::Unavailable(_)));
    assert_eq!(refused(&mut state, &stranger("a", "1"), &["n1"]), []);
}

#[test]
fn a_pod_to_bind_that_was_not_read_yet_is_waited_for() {
    let mut state = with_known_scheduler(vec![made_node("n1", &json!({}))], vec![]);
    assert_eq!(bind_effects(&mut state, "late", "n1"), []);
    let effects = learn(&mut state, Event::Pods(WatchEvent::Applied(stranger("late", "1"))));
    assert!(matches!(&effects[..], [Effect::Bind { .. }]), "{effects:?}");

    assert_eq!(bind_effects(&mut state, "never", "n1"), []);
    assert_eq!(state.next_tick(now(0)), Some(now(510).elapsed));
    let effects = state.handle(Input::Tick, now(510));
    let [Effect::Reply { id: 7, reply: Reply::Bound(Err(why)) }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert!(why.contains("not known"), "{why}");
}

#[test]
fn a_node_that_is_not_known_is_waited_for_and_then_refused() {
    let mut state =
        with_known_scheduler(vec![made_node("n1", &json!({}))], vec![stranger("a", "1"), stranger("b", "1")]);
    assert_eq!(bind_effects(&mut state, "a", "n2"), [], "kube-scheduler may hear of a node before we do");
    let effects = learn(&mut state, Event::Nodes(WatchEvent::Applied(made_node("n2", &json!({})))));
    assert!(matches!(&effects[..], [Effect::Bind { .. }]), "{effects:?}");

    assert_eq!(bind_effects(&mut state, "b", "n3"), []);
    let effects = state.handle(Input::Tick, now(510));
    let why = "the node is not known, or gone".to_owned();
    assert_eq!(effects, [Effect::Reply { id: 7, reply: Reply::Bound(Err(why)) }]);
}

fn of_scheduler(name: &str, scheduler: &str) -> Pod {
    let mut json = json_pod(name, "1");
    json["spec"]["schedulerName"] = json!(scheduler);
    pod(&json.to_string()).unwrap()
}

fn why_not(state: &mut State, name: &str) -> String {
    match ask(state, binding(name, "n1")) {
        Reply::Bound(Err(why)) => why,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn only_pods_of_schedulers_that_asked_which_nodes_they_may_have_are_bound() {
    let pods = vec![of_scheduler("a", "one"), of_scheduler("b", "other"), of_scheduler("c", "one")];
    let mut state = listed(vec![made_node("n1", &json!({}))], pods);
    assert!(why_not(&mut state, "a").contains("has not asked"));
    let question = Question::Prioritize { pod: Arc::new(of_scheduler("a", "one")), nodes: names(&["n1"]) };
    ask(&mut state, question);
    assert!(why_not(&mut state, "a").contains("has not asked"), "scores are another question");
    refused(&mut state, &of_scheduler("a", "one"), &["n1"]);
    assert!(matches!(&bind_effects(&mut state, "a", "n1")[..], [Effect::Bind { .. }]));
    assert!(why_not(&mut state, "b").contains("has not asked"), "it was another scheduler that asked");
    state.handle(Input::Tick, now(5 * 60 * 1000 + 10));
    assert!(why_not(&mut state, "c").contains("has not asked"), "that was too long ago");
}

#[test]
fn a_pod_that_the_daemon_places_itself_is_not_bound_for_others() {
    let mut state =
        State::new(BTreeMap::from([("reserve-scheduler".into(), Registry::default())]), Backoff::default());
    for event in
        super::everything(vec![made_node("n1", &json!({}))], vec![of_scheduler("a", "reserve-scheduler")])
    {
        state.learn(Input::Cluster(Box::new(event)), now(0));
    }
    let mut learn =
        |question: Question| state.learn(Input::Question { id: 7, question: Box::new(question) }, now(10));
    learn(Question::Filter { pod: Arc::new(of_scheduler("a", "reserve-scheduler")), nodes: names(&["n1"]) });
    let why = "this daemon places the pod itself".to_owned();
    assert_eq!(learn(binding("a", "n1")), [Effect::Reply { id: 7, reply: Reply::Bound(Err(why)) }]);
}

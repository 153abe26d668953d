//! Tests of the state machine without a client: inputs in, effects compared.

mod binding;
mod claims;
mod extender_victims;
mod extenders;
mod figures;
mod lag;
mod owners;
mod placement;
mod plugin_failure;
mod preemption;
mod unprotected;
mod volumes;
mod wake_up;

use super::{BindingOutcome, Effect, Input, Now, PodEvent, State, Subject};
use crate::queue::Backoff;
use common::api::node::node;
use common::api::pod::pod;
use common::api::workload::workload;
use common::cluster::{Event, WatchEvent};
use common::model::owner::OwnerKind;
use common::model::{CatalogKind, Node, Pod, PodKey};
use common::plugins::default_registry;
use serde_json::json;
use std::time::Duration;

const DEPLOYMENT: &str = "11111111-0000-4000-8000-000000000001";
const REPLICA_SET: &str = "22222222-0000-4000-8000-000000000001";
/// The messages for a pod for which the node has too little left, and for one that the node is too small for.
const FULL: &str = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: \
                    1 No preemption victims found for incoming pod.";
const SMALL: &str = "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: \
                     1 Preemption is not helpful for scheduling.";
const STRANGER: &str = "a8f6f901-47c9-4475-b1f4-cac44597e173";

fn new_state() -> State {
    State::new([("reserve-scheduler".into(), default_registry())].into(), Backoff::default())
}

fn now(seconds: u64) -> Now {
    let start: jiff::Timestamp = "2026-11-16T08:00:00Z".parse().unwrap();
    let elapsed = Duration::from_secs(seconds);
    Now { wall: start + elapsed, elapsed }
}

fn small_node(annotations: &serde_json::Value, version: u64) -> Node {
    let json = json!({
        "metadata": { "name": "n1", "uid": "node-1", "resourceVersion": version.to_string(), "annotations": annotations },
        "status": { "allocatable": { "cpu": "6", "memory": "8Gi", "pods": "110" } },
    });
    node(&json.to_string()).unwrap()
}

fn waiting(name: &str, cpu: &str) -> serde_json::Value {
    json!({
        "metadata": { "name": name, "namespace": "default", "uid": format!("uid-{name}"), "resourceVersion": "5" },
        "spec": { "schedulerName": "reserve-scheduler",
                  "containers": [{ "name": "c", "resources": { "requests": { "cpu": cpu } } }] },
        "status": { "phase": "Pending" },
    })
}

fn decoded(json: &serde_json::Value) -> Pod {
    pod(&json.to_string()).unwrap()
}

/// A pod of the ReplicaSet of our Deployment.
fn owned(name: &str, cpu: &str) -> serde_json::Value {
    let mut json = waiting(name, cpu);
    json["metadata"]["ownerReferences"] = json!([
        { "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": REPLICA_SET, "controller": true }]);
    json
}

/// A state that has listed one node and one Deployment with its ReplicaSet, and no pods.
fn listed(annotations: &serde_json::Value) -> State {
    listed_with(new_state(), annotations)
}

fn list(state: &mut State, annotations: &serde_json::Value) {
    let fresh = std::mem::replace(state, new_state());
    *state = listed_with(fresh, annotations);
}

fn listed_with(mut state: State, annotations: &serde_json::Value) -> State {
    let nodes = Event::Nodes(WatchEvent::Relisted(vec![small_node(annotations, 1)]));
    state.handle(learn(nodes), now(0));
    for kind in OwnerKind::ALL {
        let live = match kind {
            OwnerKind::Deployment => {
                vec![json!({ "metadata": { "name": "web", "namespace": "default", "uid": DEPLOYMENT } })]
            }
            OwnerKind::ReplicaSet => {
                vec![json!({ "metadata": { "name": "web-1", "namespace": "default", "uid": REPLICA_SET,
                "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": DEPLOYMENT, "controller": true }] } })]
            }
            _ => vec![],
        };
        let live = live.iter().map(|json| workload(kind, &json.to_string()).unwrap()).collect();
        state.handle(learn(Event::Workloads(kind, WatchEvent::Relisted(live))), now(0));
    }
    for kind in CatalogKind::ALL {
        state.handle(learn(Event::CatalogObjects(kind, WatchEvent::Relisted(vec![]))), now(0));
    }
    state.handle(learn(Event::Pods(WatchEvent::Relisted(vec![]))), now(0));
    state
}

fn learn(event: Event) -> Input {
    Input::Cluster(Box::new(event))
}

fn apply(state: &mut State, pod: Pod, seconds: u64) -> Vec<Effect> {
    state.handle(learn(Event::Pods(WatchEvent::Applied(pod))), now(seconds))
}

fn annotate(state: &mut State, annotations: &serde_json::Value, seconds: u64) -> Vec<Effect> {
    let node = small_node(annotations, 2);
    state.handle(learn(Event::Nodes(WatchEvent::Applied(node))), now(seconds))
}

fn answer(state: &mut State, name: &str, outcome: BindingOutcome, seconds: u64) -> Vec<Effect> {
    let pod = PodKey::new("default", name);
    state.handle(Input::Binding { pod, uid: format!("uid-{name}").into(), outcome }, now(seconds))
}

fn bind(name: &str) -> Effect {
    Effect::Bind {
        pod: PodKey::new("default", name),
        uid: format!("uid-{name}").into(),
        node: "n1".into(),
        seat: None,
    }
}

/// The messages of all conditions that are written.
fn told(effects: &[Effect]) -> Vec<&str> {
    fn message(effect: &Effect) -> Option<&str> {
        if let Effect::Condition { message, .. } = effect { Some(message) } else { None }
    }
    effects.iter().filter_map(message).collect()
}

#[test]
fn a_pod_is_bound_and_announced_once() {
    let mut state = listed(&json!({}));
    assert_eq!(apply(&mut state, decoded(&waiting("a", "1")), 0), [bind("a")]);
    assert_eq!(apply(&mut state, decoded(&waiting("a", "1")), 1), [], "it is not decided on twice");
    let effects = answer(&mut state, "a", BindingOutcome::Bound, 1);
    let [Effect::WritePodEvent { event, .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(*event, PodEvent::Scheduled { node: "n1".into() });
}

#[test]
fn nothing_is_decided_before_everything_was_listed() {
    let mut state = new_state();
    let node = small_node(&json!({}), 1);
    assert_eq!(state.handle(learn(Event::Nodes(WatchEvent::Relisted(vec![node]))), now(0)), []);
    let pods = Event::Pods(WatchEvent::Relisted(vec![decoded(&waiting("a", "1"))]));
    assert_eq!(state.handle(learn(pods), now(0)), []);
    let mut effects = Vec::new();
    for kind in OwnerKind::ALL {
        assert_eq!(effects, [], "before {kind}");
        effects = state.handle(learn(Event::Workloads(kind, WatchEvent::Relisted(vec![]))), now(0));
    }
    for kind in CatalogKind::ALL {
        assert_eq!(effects, [], "before {kind}");
        effects = state.handle(learn(Event::CatalogObjects(kind, WatchEvent::Relisted(vec![]))), now(0));
    }
    assert_eq!(effects, [bind("a")]);
}

#[test]
fn pods_of_other_schedulers_are_left_alone() {
    let mut state = listed(&json!({}));
    let mut other = waiting("a", "1");
    other["spec"]["schedulerName"] = json!("default-state");
    assert_eq!(apply(&mut state, decoded(&other), 0), []);
}

#[test]
fn an_assumed_pod_takes_room_until_its_binding_is_refused() {
    let mut state = listed(&json!({}));
    assert_eq!(apply(&mut state, decoded(&waiting("a", "4")), 0), [bind("a")]);
    let effects = apply(&mut state, decoded(&waiting("b", "4")), 0);
    assert_eq!(told(&effects), [FULL]);
    let refused = BindingOutcome::Refused { why: "no".into() };
    let effects = answer(&mut state, "a", refused, 0);
    assert!(effects.contains(&bind("b")), "its room is free again, and there is nobody else: {effects:?}");
    let effects = state.handle(Input::Tick, now(1));
    assert_eq!(told(&effects), [FULL], "it is tried again after its backoff");
}

#[test]
fn a_binding_without_an_answer_keeps_its_room_until_somebody_has_looked() {
    let mut state = listed(&json!({}));
    apply(&mut state, decoded(&waiting("a", "4")), 0);
    let effects = answer(&mut state, "a", BindingOutcome::Unknown, 1);
    assert!(matches!(&effects[..], [Effect::Find { node, .. }] if node.as_str() == "n1"), "{effects:?}");
    let effects = apply(&mut state, decoded(&waiting("b", "4")), 3600);
    assert_eq!(told(&effects), [FULL], "no timer frees the room");
}

#[test]
fn room_that_is_kept_for_somebody_else_is_not_given_away_and_given_when_released() {
    let mut state = listed(&json!({ format!("reserve.cpu/{STRANGER}"): "5500m" }));
    let effects = apply(&mut state, decoded(&waiting("a", "1")), 0);
    assert_eq!(told(&effects), [FULL]);
    assert!(!format!("{effects:?}").contains(STRANGER), "no event names the owner of a reservation");
    assert_eq!(annotate(&mut state, &json!({}), 2), [bind("a")]);
}

#[test]
fn the_owner_takes_its_seat_and_says_so_with_the_binding() {
    let id = format!("{DEPLOYMENT}.abc");
    let info = json!({ "v": 1, "owner": { "kind": "Deployment", "namespace": "default", "name": "web", "uid": DEPLOYMENT },
        "created": "2026-11-16T07:59:00Z", "expires": "2026-11-16T08:09:00Z", "request": "r1", "placement": "wait" });
    let mut state = listed(
        &json!({ format!("reserve.cpu/{id}"): "5500m", format!("reserve.info/{id}"): info.to_string() }),
    );
    let stranger = apply(&mut state, decoded(&waiting("a", "1")), 0);
    assert_eq!(told(&stranger), [FULL]);
    let effects = apply(&mut state, decoded(&owned("w", "5500m")), 0);
    let [Effect::Bind { seat: Some(seat), .. }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(seat.to_string(), id);
}

#[test]
fn a_reservation_that_expires_lets_waiting_pods_in_without_any_event() {
    let id = format!("{DEPLOYMENT}.abc");
    let info = json!({ "v": 1, "owner": { "kind": "Deployment", "namespace": "default", "name": "web", "uid": DEPLOYMENT },
        "created": "2026-11-16T07:59:00Z", "expires": "2026-11-16T08:01:00Z", "request": "r1", "placement": "wait" });
    let mut state = listed(
        &json!({ format!("reserve.cpu/{id}"): "5500m", format!("reserve.info/{id}"): info.to_string() }),
    );
    apply(&mut state, decoded(&waiting("a", "1")), 0);
    assert_eq!(state.handle(Input::Tick, now(50)), []);
    assert_eq!(state.next_tick(now(50)), Some(Duration::from_secs(60)));
    assert_eq!(state.handle(Input::Tick, now(59)), []);
    let effects = state.handle(Input::Tick, now(60));
    assert!(effects.contains(&bind("a")), "{effects:?}");
    assert!(matches!(&effects[0], Effect::Annotate(_)), "and it is removed: {effects:?}");
}

#[test]
fn the_same_reason_is_told_once() {
    let mut state = listed(&json!({}));
    let effects = apply(&mut state, decoded(&waiting("a", "7")), 0);
    assert_eq!(told(&effects), [SMALL]);
    assert_eq!(annotate(&mut state, &json!({ "x": "y" }), 10), [], "tried again, nothing new to say");
}

#[test]
fn a_feature_that_is_not_served_is_named_and_the_pod_is_never_placed() {
    let mut state = listed(&json!({}));
    let mut picky = waiting("a", "1");
    picky["spec"]["resourceClaims"] = json!([{ "name": "gpu" }]);
    let effects = apply(&mut state, decoded(&picky), 0);
    assert_eq!(told(&effects).len(), 1);
    assert!(told(&effects)[0].contains("spec.resourceClaims"), "{effects:?}");
    assert_eq!(annotate(&mut state, &json!({ "x": "y" }), 10), []);
}

#[test]
fn a_pod_whose_requests_cannot_be_read_is_told_where() {
    let mut state = listed(&json!({}));
    let effects = apply(&mut state, decoded(&waiting("a", "many")), 0);
    assert!(told(&effects)[0].contains("spec.containers[0].resources.requests[\"cpu\"]"), "{effects:?}");
}

#[test]
fn a_pod_that_somebody_else_bound_is_told_nothing_and_gives_its_room_back() {
    let mut state = listed(&json!({}));
    apply(&mut state, decoded(&waiting("a", "4")), 0);
    apply(&mut state, decoded(&waiting("b", "4")), 0);
    let effects = answer(&mut state, "a", BindingOutcome::Lost, 5);
    let is_bind = |effect: &Effect| matches!(effect, Effect::Bind { .. });
    assert!(effects.iter().any(is_bind), "somebody gets the room: {effects:?}");
    let a = Subject::Pod(PodKey::new("default", "a"));
    let about_a = effects.iter().filter(|effect| effect.subject() == a);
    assert!(about_a.clone().all(is_bind), "{effects:?}");
}

#[test]
fn a_refused_binding_is_told_as_an_error_of_the_scheduler() {
    let mut state = listed(&json!({}));
    apply(&mut state, decoded(&waiting("a", "4")), 0);
    let effects = answer(&mut state, "a", BindingOutcome::Refused { why: "no".into() }, 0);
    let Some(Effect::Condition { reason, message, .. }) = effects.first() else { panic!("{effects:?}") };
    assert_eq!((*reason, message.as_str()), ("SchedulerError", "binding rejected: no"));
    assert_eq!(state.next_tick(now(0)), Some(Duration::from_secs(1)), "it is tried again after its backoff");
}

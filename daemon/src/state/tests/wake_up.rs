//! What wakes a pod up, what does not, and answers that come late.

use super::{
    DEPLOYMENT, FULL, SMALL, annotate, answer, apply, bind, decoded, learn, listed, now, owned, small_node,
    told, waiting,
};
use crate::state::{BindingOutcome, Effect, Input};
use common::api::workload::workload;
use common::cluster::{Event, WatchEvent};
use common::model::Pod;
use common::model::owner::OwnerKind;
use serde_json::json;
use std::time::Duration;

/// A pod with this PodScheduled condition.
fn with_condition(name: &str, cpu: &str, message: &str) -> Pod {
    let mut json = waiting(name, cpu);
    json["metadata"]["resourceVersion"] = json!("6");
    json["status"]["conditions"] =
        json!([{ "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message }]);
    decoded(&json)
}

#[test]
fn the_first_node_wakes_a_pod_that_found_none() {
    let mut state = listed(&json!({}));
    let node = small_node(&json!({}), 1);
    state.handle(learn(Event::Nodes(WatchEvent::Deleted(node.clone()))), now(0));
    let effects = apply(&mut state, decoded(&waiting("a", "1")), 0);
    assert_eq!(told(&effects), ["no nodes available to schedule pods"]);
    assert_eq!(state.handle(learn(Event::Nodes(WatchEvent::Applied(node))), now(2)), [bind("a")]);
}

#[test]
fn news_are_taken_in_without_deciding_and_few_hopeless_pods_are_looked_at_in_one_go() {
    let mut state = listed(&json!({}));
    for number in 0..40 {
        let pod = decoded(&waiting(&format!("p{number}"), if number < 20 { "7" } else { "1m" }));
        assert_eq!(state.learn(learn(Event::Pods(WatchEvent::Applied(pod))), now(0)), []);
    }
    let effects = state.act(now(0));
    assert_eq!(
        (told(&effects).len(), effects.iter().any(|effect| matches!(effect, Effect::Bind { .. }))),
        (8, false)
    );
    assert_eq!(state.next_tick(now(0)), Some(Duration::ZERO), "there is more to do");
    let effects = [state.act(now(0)), state.act(now(0))].concat();
    assert_eq!(told(&effects).len(), 12);
    let bound = effects.iter().filter(|effect| matches!(effect, Effect::Bind { .. })).count();
    assert_eq!(bound, 20, "of those with a place there are many at a time");
}

#[test]
fn a_condition_that_did_not_arrive_is_written_again() {
    let mut state = listed(&json!({}));
    let message = SMALL;
    assert_eq!(told(&apply(&mut state, decoded(&waiting("a", "7")), 0)), [message]);
    let smaller = decoded(&waiting("a", "6900m"));
    assert_eq!(told(&apply(&mut state, smaller, 10)), [message], "it does not say so yet");
    assert_eq!(apply(&mut state, with_condition("a", "6900m", message), 11), [], "our own word wakes nobody");
    assert_eq!(apply(&mut state, with_condition("a", "6800m", message), 30), [], "it says so");
}

#[test]
fn a_pod_waits_a_moment_for_an_owner_that_comes_after_it() {
    let seat = format!("{DEPLOYMENT}.abc");
    let info = json!({ "v": 1, "owner": { "kind": "Deployment", "namespace": "default", "name": "web", "uid": DEPLOYMENT },
        "created": "2026-11-16T07:59:00Z", "expires": "2026-11-16T08:09:00Z", "request": "r1", "placement": "wait" });
    let mut state = listed(
        &json!({ format!("reserve.cpu/{seat}"): "1", format!("reserve.info/{seat}"): info.to_string() }),
    );
    let set = |name: &str, uid: &str| {
        let json = json!({ "metadata": { "name": name, "namespace": "default", "uid": uid, "ownerReferences": [
            { "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": DEPLOYMENT, "controller": true }] } });
        learn(Event::Workloads(
            OwnerKind::ReplicaSet,
            WatchEvent::Applied(workload(OwnerKind::ReplicaSet, &json.to_string()).unwrap()),
        ))
    };
    let mut early = owned("early", "1");
    early["metadata"]["ownerReferences"][0]["name"] = json!("web-2");
    early["metadata"]["ownerReferences"][0]["uid"] = json!("33333333-0000-4000-8000-000000000001");
    assert_eq!(apply(&mut state, decoded(&early), 0), [], "its ReplicaSet is not known yet");
    let effects = state.handle(set("web-2", "33333333-0000-4000-8000-000000000001"), now(0));
    assert!(matches!(&effects[..], [Effect::Bind { seat: Some(_), .. }]), "{effects:?}");

    let mut forged = owned("forged", "1");
    forged["metadata"]["ownerReferences"][0]["name"] = json!("nobody");
    assert_eq!(apply(&mut state, decoded(&forged), 1), []);
    assert_eq!(
        state.handle(Input::Tick, now(2)),
        [bind("forged")],
        "a claim that is never made good holds nobody up"
    );
}

#[test]
fn a_binding_that_is_seen_before_its_answer_is_still_announced() {
    let mut state = listed(&json!({}));
    apply(&mut state, decoded(&waiting("a", "1")), 0);
    let mut bound = waiting("a", "1");
    bound["spec"]["nodeName"] = json!("n1");
    assert_eq!(apply(&mut state, decoded(&bound), 1), []);
    let effects = answer(&mut state, "a", BindingOutcome::Bound, 1);
    assert!(matches!(&effects[..], [Effect::WritePodEvent { .. }]), "{effects:?}");
}

#[test]
fn an_answer_about_a_pod_that_was_recreated_meanwhile_changes_nothing() {
    let mut state = listed(&json!({}));
    apply(&mut state, decoded(&waiting("a", "4")), 0);
    let mut again = waiting("a", "4");
    again["metadata"]["uid"] = json!("uid-a2");
    let effects = apply(&mut state, decoded(&again), 1);
    assert!(matches!(&effects[..], [Effect::Bind { uid, .. }] if uid.to_string() == "uid-a2"), "{effects:?}");
    assert_eq!(answer(&mut state, "a", BindingOutcome::Refused { why: "late".into() }, 1), []);
    let effects = apply(&mut state, decoded(&waiting("b", "4")), 1);
    assert_eq!(told(&effects), [FULL], "the new pod's room is still assumed");
}

#[test]
fn a_pod_that_leaves_lets_the_next_one_in() {
    let mut state = listed(&json!({}));
    let mut there = waiting("there", "4");
    there["spec"]["nodeName"] = json!("n1");
    there["spec"]["schedulerName"] = json!("default-state");
    apply(&mut state, decoded(&there), 0);
    apply(&mut state, decoded(&waiting("a", "4")), 0);
    let gone = learn(Event::Pods(WatchEvent::Deleted(decoded(&there))));
    assert_eq!(state.handle(gone, now(2)), [bind("a")]);
}

#[test]
fn a_change_that_cannot_help_wakes_nobody() {
    let mut state = listed(&json!({}));
    let on_node = |name: &str, cpu: &str| {
        let mut pod = waiting(name, cpu);
        pod["spec"]["nodeName"] = json!("n1");
        decoded(&pod)
    };
    apply(&mut state, on_node("large", "4"), 0);
    apply(&mut state, on_node("small", "1"), 0);
    assert_eq!(told(&apply(&mut state, decoded(&waiting("a", "3")), 0)), [FULL]);
    let gone = |pod: Pod| learn(Event::Pods(WatchEvent::Deleted(pod)));
    assert_eq!(state.handle(gone(on_node("small", "1")), now(20)), [], "that is too little room");
    let strange = annotate(&mut state, &json!({ "reserve.cpu/x": "y" }), 21);
    assert_eq!(told(&strange), [""; 0], "{strange:?}");
    assert_eq!(state.handle(gone(on_node("large", "4")), now(22)), [bind("a")]);
}

#[test]
fn everybody_gets_a_turn_and_nobody_after_the_end() {
    let mut state = listed(&json!({}));
    let many: Vec<Pod> = (0..100).map(|index| decoded(&waiting(&format!("p{index}"), "1m"))).collect();
    let first = state.handle(learn(Event::Pods(WatchEvent::Relisted(many))), now(0));
    assert!(first.len() < 100, "news gets in between");
    assert_eq!(state.next_tick(now(0)), Some(Duration::ZERO));
    let rest = state.handle(Input::Tick, now(0));
    assert_eq!(first.len() + rest.len(), 100);
    assert_eq!(state.handle(Input::Stop, now(0)), []);
    assert_eq!(apply(&mut state, decoded(&waiting("late", "1m")), 1), []);
}

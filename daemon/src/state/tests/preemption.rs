//! Preemption: victims, nominations, and when the preemptor is tried again.

use super::{apply, bind, decoded, learn, listed, now, told, waiting};
use crate::state::{Effect, Eviction, EvictionOutcome, Input, Nomination, Note, PodEvent, State};
use common::cluster::{Event, WatchEvent};
use common::model::{Pod, PodKey};
use serde_json::{Value, json};

const FOUND: &str = "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod \
                     on node n1, preempting 1 victims";

fn important(name: &str, cpu: &str, priority: i32) -> Value {
    let mut json = waiting(name, cpu);
    json["spec"]["priority"] = json!(priority);
    json
}

fn bound(name: &str, cpu: &str) -> Value {
    let mut json = waiting(name, cpu);
    json["spec"]["nodeName"] = json!("n1");
    json
}

fn leaving(name: &str, cpu: &str) -> Pod {
    let mut json = bound(name, cpu);
    json["metadata"]["deletionTimestamp"] = json!("2026-11-16T08:00:30Z");
    json["metadata"]["resourceVersion"] = json!("6");
    json["status"]["conditions"] =
        json!([{ "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler" }]);
    decoded(&json)
}

fn evictions(effects: &[Effect]) -> Vec<Eviction> {
    let eviction =
        |effect: &Effect| if let Effect::Evict(one) = effect { Some((**one).clone()) } else { None };
    effects.iter().filter_map(eviction).collect()
}

fn victims(effects: &[Effect]) -> Vec<String> {
    evictions(effects).iter().map(|eviction| eviction.victim.name.to_string()).collect()
}

fn answer(state: &mut State, eviction: Eviction, outcome: EvictionOutcome, seconds: u64) -> Vec<Effect> {
    state.handle(Input::Evicted { eviction: Box::new(eviction), outcome }, now(seconds))
}

fn gone(state: &mut State, pod: &Value, seconds: u64) -> Vec<Effect> {
    state.handle(learn(Event::Pods(WatchEvent::Deleted(decoded(pod)))), now(seconds))
}

/// A node with one pod of 4 CPUs, and a pod of higher priority that requests as much.
fn preempting() -> (State, Vec<Effect>) {
    let mut state = listed(&json!({}));
    apply(&mut state, decoded(&bound("low", "4")), 0);
    let effects = apply(&mut state, decoded(&important("high", "4", 10)), 0);
    (state, effects)
}

fn nomination(effects: &[Effect]) -> Vec<Nomination> {
    let of = |effect: &Effect| match effect {
        Effect::Condition { nomination, .. } => Some(nomination.clone()),
        Effect::Nominate { node, .. } => Some(Nomination::Change(node.clone())),
        _ => None,
    };
    effects.iter().filter_map(of).collect()
}

fn to(node: &str) -> Nomination {
    Nomination::Change(Some(node.into()))
}

#[test]
fn the_victim_is_deleted_and_announced_and_its_room_taken() {
    let (mut state, effects) = preempting();
    assert_eq!(told(&effects), [FOUND]);
    assert_eq!(nomination(&effects), [to("n1")], "in the same write");
    assert_eq!(victims(&effects), ["low"]);
    assert!(state.take_notes().contains(&Note::Preemption { victims: 1, violations: 0 }));
    let eviction = evictions(&effects).remove(0);
    let effects = answer(&mut state, eviction, EvictionOutcome::Begun, 1);
    let [Effect::WritePodEvent { pod, event, scheduler_name, .. }] = &effects[..] else {
        panic!("{effects:?}")
    };
    assert_eq!((&*pod.name, &**scheduler_name), ("low", "reserve-scheduler"));
    let by = PodKey::new("default", "high");
    let (by_uid, node, in_memory) = ("uid-high".into(), "n1".into(), false);
    assert_eq!(*event, PodEvent::Preempted { by, by_uid, node, in_memory });
    assert_eq!(victims(&apply(&mut state, leaving("low", "4"), 2)), [""; 0]);
    assert_eq!(gone(&mut state, &bound("low", "4"), 30), [bind("high")]);
}

#[test]
fn nobody_less_important_takes_the_room_meanwhile() {
    let (mut state, _) = preempting();
    // The API server has not said yet that the pod is nominated.
    let effects = apply(&mut state, decoded(&important("same", "2", 0)), 1);
    assert!(!effects.contains(&bind("same")), "it would have fitted beside the victim: {effects:?}");
    let effects = apply(&mut state, decoded(&important("more", "2", 11)), 1);
    assert_eq!(effects, [bind("more")], "for one that is more important it is not kept");
}

#[test]
fn the_preemptor_is_not_looked_at_until_the_last_deletion_has_begun() {
    let (mut state, effects) = preempting();
    let eviction = evictions(&effects).remove(0);
    apply(&mut state, decoded(&bound("other", "1")), 1);
    let effects = gone(&mut state, &bound("other", "1"), 2);
    assert_eq!(effects, [], "it would make others go");
    let effects = answer(&mut state, eviction, EvictionOutcome::Begun, 3);
    assert!(state.take_notes().iter().filter(|note| matches!(note, Note::Attempt { .. })).count() >= 2);
    assert_eq!(told(&effects).len(), 1, "now it is: {effects:?}");
}

#[test]
fn all_but_one_go_at_once_and_then_the_last() {
    let mut state = listed(&json!({}));
    for name in ["l1", "l2", "l3"] {
        apply(&mut state, decoded(&bound(name, "2")), 0);
    }
    let effects = apply(&mut state, decoded(&important("high", "6", 10)), 0);
    let first = evictions(&effects);
    assert_eq!(first.len(), 2);
    let mut first = first.into_iter();
    assert_eq!(victims(&answer(&mut state, first.next().unwrap(), EvictionOutcome::Begun, 1)), [""; 0]);
    let effects = answer(&mut state, first.next().unwrap(), EvictionOutcome::Gone, 1);
    assert_eq!(victims(&effects).len(), 1, "one that is gone already is no mishap");
}

/// Found by the simulation: the nomination stayed until the pod was tried again by itself, minutes later, and kept the room from
/// others.
#[test]
fn a_nomination_that_no_longer_helps_is_taken_back_when_the_last_victim_is_gone() {
    let mut state = listed(&json!({}));
    for name in ["l1", "l2", "l3"] {
        apply(&mut state, decoded(&bound(name, "2")), 0);
    }
    let effects = apply(&mut state, decoded(&important("high", "6", 10)), 0);
    let mut begun = evictions(&effects);
    while let Some(eviction) = begun.pop() {
        begun.extend(evictions(&answer(&mut state, eviction, EvictionOutcome::Begun, 1)));
    }
    for name in ["l1", "l2", "l3"] {
        apply(&mut state, leaving(name, "2"), 2);
    }
    gone(&mut state, &bound("l1", "2"), 12);
    gone(&mut state, &bound("l2", "2"), 12);
    let more_important = important("first", "4", 20);
    assert!(apply(&mut state, decoded(&more_important), 13).contains(&bind("first")));
    let effects = apply(&mut state, decoded(&waiting("small", "2")), 14);
    assert!(!effects.contains(&bind("small")), "{effects:?}");
    let mut effects = gone(&mut state, &bound("l3", "2"), 40);
    effects.extend(state.handle(Input::Tick, now(60)));
    assert!(nomination(&effects).contains(&Nomination::Change(None)), "{effects:?}");
    assert!(effects.contains(&bind("small")), "{effects:?}");
}

#[test]
fn when_one_cannot_be_deleted_the_pod_is_looked_at_again_after_a_pause() {
    let (mut state, effects) = preempting();
    let eviction = evictions(&effects).remove(0);
    let effects = answer(&mut state, eviction, EvictionOutcome::Failed { why: "no".into() }, 1);
    assert_eq!(victims(&effects), [""; 0], "a policy that refuses is not asked without a pause");
    assert_eq!(victims(&state.handle(Input::Tick, now(20))), ["low"], "and tries once more");
}

#[test]
fn one_that_is_leaving_already_is_waited_for() {
    let mut state = listed(&json!({}));
    apply(&mut state, leaving("low", "4"), 0);
    let effects = apply(&mut state, decoded(&important("high", "4", 10)), 0);
    assert_eq!((victims(&effects), nomination(&effects)), (vec![], vec![to("n1")]));
    assert_eq!(gone(&mut state, &bound("low", "4"), 9), [bind("high")]);
}

#[test]
fn less_important_pods_lose_their_nominations() {
    let (mut state, effects) = preempting();
    let eviction = evictions(&effects).remove(0);
    answer(&mut state, eviction, EvictionOutcome::Begun, 1);
    apply(&mut state, leaving("low", "4"), 1);
    apply(&mut state, decoded(&bound("mid", "2")), 1);
    let effects = apply(&mut state, decoded(&important("higher", "6", 20)), 2);
    assert_eq!(nomination(&effects), [to("n1"), Nomination::Change(None)], "{effects:?}");
    assert_eq!(victims(&effects), ["mid"]);
}

#[test]
fn a_nomination_that_is_no_help_any_more_is_taken_back_once() {
    let mut there = important("there", "4", 50);
    there["spec"]["nodeName"] = json!("n1");
    let mut high = important("high", "4", 10);
    high["status"]["nominatedNodeName"] = json!("n1");
    let mut state = listed(&json!({}));
    apply(&mut state, decoded(&there), 0);
    let effects = apply(&mut state, decoded(&high), 1);
    assert_eq!(nomination(&effects), [Nomination::Change(None)], "nobody there may be sent away");
    high["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("3900m");
    let effects = apply(&mut state, decoded(&high), 3);
    assert_eq!(nomination(&effects), [Nomination::Keep], "it is believed at once: {effects:?}");
}

#[test]
fn what_the_api_server_says_later_counts() {
    let (mut state, _) = preempting();
    state.handle(Input::Nominated { uid: "uid-high".into(), version: Some(9) }, now(1));
    let mut old = important("high", "4", 10);
    old["metadata"]["resourceVersion"] = json!("8");
    apply(&mut state, decoded(&old), 1);
    let effects = apply(&mut state, decoded(&important("same", "2", 0)), 1);
    assert!(!effects.contains(&bind("same")), "that was older than the nomination");
    old["metadata"]["resourceVersion"] = json!("10");
    let effects = apply(&mut state, decoded(&old), 2);
    assert!(effects.contains(&bind("same")), "somebody has taken it back: {effects:?}");
}

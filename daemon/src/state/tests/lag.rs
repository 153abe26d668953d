//! A new leader that has seen less than the previous one.

use super::{bind, decoded, learn, listed, now, waiting};
use crate::state::{Effect, Input, State};
use common::cluster::{Event, WatchEvent};
use common::model::Replica;
use common::model::object::ObjectMeta;
use serde_json::{Value, json};
use std::time::Duration;

/// The Lease of a replica that has seen pods up to a version.
fn replica(seen_pods: u64) -> Replica {
    let meta = ObjectMeta {
        namespace: "kube-reserve".into(),
        name: "reserve-a".into(),
        uid: "a".into(),
        resource_version: 1,
        is_deleting: false,
    };
    Replica {
        meta,
        name: "a".into(),
        seen_nodes: 1,
        seen_pods,
        schedulers: Box::default(),
        extends: Box::default(),
        renew_time: None,
        duration: Duration::from_secs(15),
        version: "1".into(),
        is_restricted: false,
    }
}

/// A replica that takes over from one that had seen pods up to `seen`; one pod of version 5 waits.
fn taking_over(seen: u64) -> (State, Vec<Effect>) {
    let mut state = listed(&json!({}));
    state.handle(Input::Leading(false), now(0));
    state.handle(learn(Event::Pods(WatchEvent::Applied(decoded(&waiting("a", "4"))))), now(0));
    state.handle(learn(Event::Replicas(WatchEvent::Applied(replica(seen)))), now(0));
    state.handle(learn(Event::Replicas(WatchEvent::Deleted(replica(seen)))), now(0));
    let effects = state.handle(Input::Leading(true), now(1));
    (state, effects)
}

fn bound(name: &str, cpu: &str, version: &str) -> Value {
    let mut json = waiting(name, cpu);
    json["spec"]["nodeName"] = json!("n1");
    json["metadata"]["resourceVersion"] = json!(version);
    json
}

#[test]
fn it_decides_when_it_has_seen_what_the_leader_before_it_bound() {
    let (mut state, effects) = taking_over(9);
    assert_eq!(effects, [], "the room may be taken");
    assert_eq!(state.next_tick(now(1)), Some(Duration::from_secs(16)), "and nobody is in a hurry");
    let other = decoded(&bound("b", "1", "8"));
    assert_eq!(state.handle(learn(Event::Pods(WatchEvent::Applied(other))), now(2)), []);
    let taken = decoded(&bound("c", "1", "9"));
    assert_eq!(state.handle(learn(Event::Pods(WatchEvent::Applied(taken))), now(3)), [bind("a")]);
}

#[test]
fn one_that_has_seen_as_much_decides_at_once() {
    assert_eq!(taking_over(5).1, [bind("a")]);
}

#[test]
fn what_never_comes_is_not_waited_for_for_ever() {
    let (mut state, _) = taking_over(u64::MAX);
    assert_eq!(state.handle(Input::Tick, now(15)), []);
    assert_eq!(state.handle(Input::Tick, now(16)), [bind("a")]);
}

//! Pods that wait for their reserved node: placements `wait` and `require`.

use super::{DEPLOYMENT, apply, decoded, learn, listed, now, owned, told, waiting};
use crate::state::{Effect, Input, State};
use common::api::node::node;
use common::cluster::{Event, WatchEvent};
use serde_json::{Value, json};

/// A state with two nodes. On n1 there are the pod `old` of our Deployment, of 4 CPUs, and a reservation for its replacement.
fn test_cluster(placement: &str) -> State {
    let seat = format!("{DEPLOYMENT}.abc");
    let info = json!({ "v": 1, "owner": { "kind": "Deployment", "namespace": "default", "name": "web", "uid": DEPLOYMENT },
        "replaces": { "name": "old", "uid": "uid-old" }, "created": "2026-11-16T07:59:00Z",
        "expires": "2026-11-16T08:30:00Z", "request": "r1", "placement": placement });
    let mut state = listed(
        &json!({ format!("reserve.cpu/{seat}"): "4", format!("reserve.info/{seat}"): info.to_string() }),
    );
    let json = json!({ "metadata": { "name": "n2", "uid": "node-2", "resourceVersion": "1" },
                       "status": { "allocatable": { "cpu": "6", "memory": "8Gi", "pods": "110" } } });
    state.handle(learn(Event::Nodes(WatchEvent::Applied(node(&json.to_string()).unwrap()))), now(0));
    apply(&mut state, decoded(&old(true)), 0);
    state
}

/// The replaced pod, whose grace period ends at 08:00:30.
fn old(is_leaving: bool) -> Value {
    let mut json = owned("old", "4");
    json["spec"]["nodeName"] = json!("n1");
    if is_leaving {
        json["metadata"]["deletionTimestamp"] = json!("2026-11-16T08:00:30Z");
    }
    json
}

fn bound_to(effects: &[Effect], name: &str) -> Option<String> {
    effects.iter().find_map(|effect| match effect {
        Effect::Bind { pod, node, .. } if *pod.name == *name => Some(node.to_string()),
        _ => None,
    })
}

const WAITS: &str = "waiting for node n1, which is kept for the pod: Insufficient cpu.";

#[test]
fn the_replacement_waits_for_its_node_and_no_other_pod_does() {
    for placement in ["wait", "require"] {
        let mut state = test_cluster(placement);
        let effects = apply(&mut state, decoded(&owned("new", "4")), 0);
        assert_eq!(told(&effects), [WAITS], "{placement}");
        let Some(Effect::Condition { reason, .. }) = effects.first() else { panic!("{effects:?}") };
        assert_eq!(*reason, "WaitingForReservedNode");
        let sibling = apply(&mut state, decoded(&owned("sibling", "1")), 1);
        assert!(bound_to(&sibling, "sibling").is_some(), "one pod per reservation: {sibling:?}");
        let stranger = apply(&mut state, decoded(&waiting("stranger", "1")), 1);
        assert_eq!(bound_to(&stranger, "stranger").as_deref(), Some("n2"));
        let gone = learn(Event::Pods(WatchEvent::Deleted(decoded(&old(true)))));
        assert_eq!(bound_to(&state.handle(gone, now(20)), "new").as_deref(), Some("n1"));
    }
}

#[test]
fn prefer_does_not_wait() {
    let mut state = test_cluster("prefer");
    let effects = apply(&mut state, decoded(&owned("new", "4")), 0);
    assert_eq!(bound_to(&effects, "new").as_deref(), Some("n2"));
}

#[test]
fn wait_has_an_end_and_require_has_none() {
    let mut state = test_cluster("wait");
    apply(&mut state, decoded(&owned("new", "4")), 0);
    assert_eq!(bound_to(&state.handle(Input::Tick, now(89)), "new"), None);
    assert_eq!(
        state.next_tick(now(89)),
        Some(now(90).elapsed),
        "a minute after the grace of the replaced pod"
    );
    assert_eq!(bound_to(&state.handle(Input::Tick, now(90)), "new").as_deref(), Some("n2"));
    let mut state = test_cluster("require");
    apply(&mut state, decoded(&owned("new", "4")), 0);
    assert_eq!(bound_to(&state.handle(Input::Tick, now(600)), "new"), None);
}

#[test]
fn wait_is_over_when_the_replacement_could_not_return() {
    let mut state = test_cluster("wait");
    let effects = apply(&mut state, decoded(&owned("big", "5")), 0);
    assert_eq!(bound_to(&effects, "big"), None, "it will fit when the replaced pod has left");
    let mut pinned = owned("pinned", "4");
    pinned["spec"]["nodeSelector"] = json!({ "no": "such" });
    let mut state = test_cluster("wait");
    let effects = apply(&mut state, decoded(&pinned), 0);
    assert!(told(&effects)[0].starts_with("0/2 nodes are available: 2 node(s) didn't match"), "{effects:?}");
    let mut state = test_cluster("wait");
    let effects = apply(&mut state, decoded(&owned("huge", "7")), 0);
    assert!(told(&effects)[0].starts_with("0/2 nodes are available: 2 Insufficient cpu."), "{effects:?}");
}

#[test]
fn a_reservation_that_nobody_leaves_keeps_nobody_back() {
    let mut state = test_cluster("wait");
    let mut staying = old(false);
    staying["metadata"]["resourceVersion"] = json!("6");
    apply(&mut state, decoded(&staying), 0);
    let effects = apply(&mut state, decoded(&owned("new", "4")), 0);
    assert_eq!(bound_to(&effects, "new").as_deref(), Some("n2"));
}

//! The values of the gauges, and durations of extension points.

use super::{STRANGER, apply, bind, decoded, learn, listed, new_state, now, small_node, waiting};
use crate::state::{BindingOutcome, Figures, Input, Note};
use common::cluster::{Event, WatchEvent};
use common::framework::Status;
use common::model::ExtensionPoint;
use common::model::PodKey;
use serde_json::json;
use std::time::Duration;

#[test]
fn nodes_and_reservations_by_state() {
    let mut state = new_state();
    assert_eq!(
        state.figures(now(0)).reservations.len(),
        5,
        "each state is there, so that it can be seen to be 0"
    );
    let annotations = json!({
        format!("reserve.cpu/{STRANGER}"): "500m",
        format!("reserve.memory/{STRANGER}"): "1Ki",
        "reserve.cpu/nonsense!": "1",
    });
    let node = small_node(&annotations, 1);
    state.handle(Input::Cluster(Box::new(Event::Nodes(WatchEvent::Applied(node)))), now(1));
    let figures = state.figures(now(2));
    assert_eq!((figures.nodes, figures.pods, figures.invalid), (1, 0, 1));
    assert_eq!(figures.reservations["Held"], 1);
    assert_eq!((figures.held["cpu"], figures.held["memory"], figures.held["pods"]), (500, 1024, 1));
    assert_eq!(figures.oldest, Duration::ZERO, "the plain form does not say when it was made");
    assert_ne!(figures, Figures::default());
}

#[test]
fn pods_without_a_place_by_the_plugins_that_say_so() {
    let mut state = listed(&json!({}));
    apply(&mut state, decoded(&waiting("big", "7")), 0);
    let mut gated = waiting("gated", "1");
    gated["spec"]["schedulingGates"] = json!([{"name": "g"}]);
    apply(&mut state, decoded(&gated), 0);
    let named = |plugin: &'static str| (("reserve-scheduler".into(), plugin), 1);
    let expected = [named("NodeResourcesFit"), named("SchedulingGates")];
    assert_eq!(state.figures(now(1)).rejected, expected.into());
    let mut smaller = waiting("big", "1");
    smaller["metadata"]["resourceVersion"] = json!("6");
    apply(&mut state, decoded(&smaller), 2);
    state.handle(learn(Event::Pods(WatchEvent::Deleted(decoded(&gated)))), now(2));
    assert_eq!(state.figures(now(3)).rejected, [].into());
}

#[test]
fn a_binding_is_counted_from_the_wish_to_the_answer() {
    let mut state = listed(&json!({}));
    assert_eq!(apply(&mut state, decoded(&waiting("a", "1")), 0), [bind("a")]);
    state.take_notes();
    let mut answer = |outcome, seconds| {
        let (pod, uid) = (PodKey::new("default", "a"), "uid-a".into());
        state.handle(Input::Binding { pod, uid, outcome }, now(seconds));
        state.take_notes()
    };
    let is_passed = |note: &Note| matches!(note, Note::ExtensionPointDuration { .. });
    assert!(!answer(BindingOutcome::Unknown, 1).iter().any(is_passed), "nobody knows yet");
    let (profile, took) = ("reserve-scheduler".into(), Duration::from_secs(3));
    let passed = Note::ExtensionPointDuration {
        profile,
        extension_point: ExtensionPoint::Bind,
        status: Status::Success,
        took,
    };
    assert!(answer(BindingOutcome::Bound, 3).contains(&passed));
    assert!(!answer(BindingOutcome::Bound, 4).iter().any(is_passed), "once");
}

//! Comparisons in the state machine: begun, listed, and reported as a note.

use crate::state::{ComparisonCause, ComparisonResult, Effect, Input, Note, Now, State};
use common::api::{node::node, pod::pod};
use common::cluster::compare::{ListedObjects, Listing};
use common::cluster::{Event, WatchEvent};
use common::model::owner::OwnerKind;
use common::model::{CatalogKind, Node, Pod};
use common::plugins::default_registry;
use serde_json::json;
use std::time::Duration;

fn at(seconds: u64) -> Now {
    let start: jiff::Timestamp = "2026-11-16T08:00:00Z".parse().unwrap();
    let elapsed = Duration::from_secs(seconds);
    Now { wall: start + elapsed, elapsed }
}

fn some_node(version: u64) -> Node {
    let metadata = json!({"name": "n1", "uid": "node-1", "resourceVersion": version.to_string()});
    let allocatable = json!({"cpu": "6", "memory": "8Gi", "pods": "110"});
    node(&json!({"metadata": metadata, "status": {"allocatable": allocatable}}).to_string()).unwrap()
}

fn some_pod(name: &str, version: u64) -> Pod {
    let metadata =
        json!({"name": name, "namespace": "default", "uid": name, "resourceVersion": version.to_string()});
    let spec =
        json!({"nodeName": "n1", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]});
    pod(&json!({"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}).to_string()).unwrap()
}

fn learn(state: &mut State, event: Event, seconds: u64) {
    state.handle(Input::Cluster(Box::new(event)), at(seconds));
}

/// A state that has listed one node with one pod.
fn listed() -> State {
    let mut state = State::new([("s".into(), default_registry())].into(), Default::default());
    for kind in OwnerKind::ALL {
        learn(&mut state, Event::Workloads(kind, WatchEvent::Relisted(vec![])), 0);
    }
    for kind in CatalogKind::ALL {
        learn(&mut state, Event::CatalogObjects(kind, WatchEvent::Relisted(vec![])), 0);
    }
    learn(&mut state, Event::Nodes(WatchEvent::Relisted(vec![some_node(3)])), 0);
    learn(&mut state, Event::Pods(WatchEvent::Relisted(vec![some_pod("a", 4)])), 0);
    state.take_notes();
    state
}

fn listing(nodes: Vec<Node>, pods: Vec<Pod>) -> Input {
    let (nodes, pods) =
        (ListedObjects { objects: nodes, version: 9 }, ListedObjects { objects: pods, version: 9 });
    Input::Listed(Ok(Box::new(Listing { nodes, pods })))
}

/// The results of comparisons so far.
fn results(state: &mut State) -> Vec<ComparisonResult> {
    let result = |note| match note {
        Note::Compared(result) => Some(result),
        _ => None,
    };
    state.take_notes().into_iter().filter_map(result).collect()
}

#[test]
fn a_belief_that_is_right_is_equal_and_one_that_lost_a_pod_is_not() {
    let mut state = listed();
    assert_eq!(state.handle(Input::Compare(ComparisonCause::Period), at(1)), [Effect::List]);
    assert_eq!(state.handle(Input::Compare(ComparisonCause::Signal), at(1)), [], "one at a time");
    state.handle(listing(vec![some_node(3)], vec![some_pod("a", 4)]), at(2));
    assert_eq!(results(&mut state), [ComparisonResult::Equal]);

    learn(&mut state, Event::Pods(WatchEvent::Deleted(some_pod("a", 4))), 3);
    assert_eq!(state.handle(Input::Compare(ComparisonCause::Signal), at(4)), [Effect::List]);
    state.handle(listing(vec![some_node(3)], vec![some_pod("a", 4)]), at(5));
    let [ComparisonResult::Different(differences)] = &results(&mut state)[..] else {
        panic!("nothing was found")
    };
    assert_eq!(differences.len(), 1);
    assert_eq!(differences[0].description, "pod default/a: the API server has it, and the belief does not");
}

#[test]
fn a_list_that_is_ahead_of_the_watches_is_compared_when_they_have_caught_up() {
    let mut state = listed();
    state.handle(Input::Compare(ComparisonCause::Period), at(1));
    state.handle(listing(vec![some_node(3)], vec![some_pod("a", 4), some_pod("b", 7)]), at(2));
    assert_eq!(results(&mut state), [], "the watch has not brought pod b yet");
    learn(&mut state, Event::Pods(WatchEvent::Applied(some_pod("b", 7))), 3);
    assert_eq!(results(&mut state), [ComparisonResult::Equal]);
}

#[test]
fn who_does_not_lead_compares_only_when_it_is_asked() {
    let mut state = listed();
    state.handle(Input::Leading(false), at(1));
    assert_eq!(state.handle(Input::Compare(ComparisonCause::Period), at(2)), []);
    assert_eq!(results(&mut state), []);
    assert_eq!(state.handle(Input::Compare(ComparisonCause::Signal), at(3)), [Effect::List]);
}

#[test]
fn what_cannot_be_compared_is_told_and_the_next_comparison_begins_anew() {
    let mut state = State::new([("s".into(), default_registry())].into(), Default::default());
    assert_eq!(state.handle(Input::Compare(ComparisonCause::Signal), at(0)), []);
    assert!(matches!(&results(&mut state)[..], [ComparisonResult::Unknown(why)] if why.contains("listed")));

    let mut state = listed();
    state.handle(Input::Compare(ComparisonCause::Period), at(1));
    state.handle(Input::Listed(Err("no answer".to_owned())), at(2));
    assert_eq!(results(&mut state), [ComparisonResult::Unknown("no answer".to_owned())]);

    assert_eq!(state.handle(Input::Compare(ComparisonCause::Period), at(3)), [Effect::List]);
    state.handle(listing(vec![some_node(8)], vec![]), at(4));
    assert_eq!(state.handle(Input::Compare(ComparisonCause::Period), at(60)), [], "it waits for the watch");
    assert_eq!(state.handle(Input::Compare(ComparisonCause::Period), at(304)), [Effect::List]);
    assert!(
        matches!(&results(&mut state)[..], [ComparisonResult::Unknown(why)] if why.contains("did not reach"))
    );
}

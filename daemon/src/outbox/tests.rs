//! The order in which effects leave the outbox, and which effects are dropped.

use super::Outbox;
use crate::config::EVENTS_MAX;
use crate::state::{Effect, Nomination, PodEvent, Subject};
use common::model::PodKey;

fn key(name: &str) -> PodKey {
    PodKey::new("default", name)
}

fn bind(name: &str) -> Effect {
    Effect::Bind { pod: key(name), uid: name.into(), node: "n1".into(), seat: None }
}

fn condition(name: &str, message: &str) -> Effect {
    nominated(name, message, Nomination::Keep)
}

fn nominated(name: &str, message: &str, nomination: Nomination) -> Effect {
    let (pod, uid, message) = (key(name), name.into(), message.into());
    let reason = "Unschedulable";
    Effect::Condition { pod, uid, generation: 1, reason, message, since: None, nomination }
}

fn record(name: &str, event: PodEvent) -> Effect {
    let at = jiff::Timestamp::UNIX_EPOCH;
    Effect::WritePodEvent { pod: key(name), uid: name.into(), scheduler_name: "s".into(), event, at }
}

fn failed(name: &str, message: &str) -> Effect {
    record(name, PodEvent::FailedScheduling { message: message.into() })
}

fn scheduled(name: &str) -> Effect {
    record(name, PodEvent::Scheduled { node: "n1".into() })
}

fn outbox(effects: impl IntoIterator<Item = Effect>) -> Outbox {
    let mut outbox = Outbox::default();
    effects.into_iter().for_each(|effect| outbox.push(effect));
    outbox
}

/// All effects in order, when each is done before the next one is popped.
fn in_turn(outbox: &mut Outbox) -> Vec<Effect> {
    std::iter::from_fn(|| {
        let effect = outbox.pop()?;
        outbox.done(&effect.subject());
        Some(effect)
    })
    .collect()
}

#[test]
fn a_pod_has_one_effect_under_way() {
    let mut outbox = outbox([condition("a", "no"), failed("a", "no"), condition("b", "no")]);
    assert_eq!(outbox.pop(), Some(condition("a", "no")));
    assert_eq!(outbox.pop(), Some(condition("b", "no")), "another pod need not wait");
    assert_eq!(outbox.pop(), None);
    outbox.push(bind("a"));
    assert_eq!(outbox.pop(), None, "the binding waits for the condition that is under way");
    outbox.done(&Subject::Pod(key("a")));
    assert_eq!(outbox.pop(), Some(bind("a")));
}

#[test]
fn bindings_go_before_talk() {
    let mut outbox = outbox([condition("a", "no"), failed("b", "no"), bind("c"), bind("d")]);
    let expected = [bind("c"), bind("d"), condition("a", "no"), failed("b", "no")];
    assert_eq!(in_turn(&mut outbox), expected);
}

#[test]
fn a_pod_that_has_a_place_is_not_told_that_it_has_none() {
    let mut outbox = outbox([condition("a", "no"), failed("a", "no"), bind("a"), scheduled("a")]);
    assert_eq!(
        in_turn(&mut outbox),
        [bind("a"), failed("a", "no"), scheduled("a")],
        "an event says what was"
    );
}

#[test]
fn only_the_newest_word_is_said() {
    let old = [condition("a", "old"), failed("a", "old")];
    let new = [condition("a", "new"), failed("a", "new")];
    let mut outbox = outbox(old.into_iter().chain(new.clone()));
    assert_eq!(in_turn(&mut outbox), new);
}

#[test]
fn nothing_is_kept_of_what_is_done() {
    let mut outbox = outbox([bind("a"), scheduled("a"), condition("b", "no")]);
    in_turn(&mut outbox);
    assert!(outbox.waiting.is_empty() && outbox.busy.is_empty());
    assert!(outbox.urgent.is_empty() && outbox.low.is_empty());
}

#[test]
fn a_nomination_is_not_lost_when_a_newer_word_is_said() {
    let node = Nomination::Change(Some("n1".into()));
    let mut outbox = outbox([nominated("a", "old", node.clone()), condition("a", "new")]);
    assert_eq!(in_turn(&mut outbox), [nominated("a", "new", node)]);
}

#[test]
fn of_events_no_more_than_so_many_wait_and_the_others_are_counted() {
    let mut outbox = Outbox::default();
    for index in 0..EVENTS_MAX + 5 {
        outbox.push(failed(&index.to_string(), "no"));
    }
    outbox.push(bind("b"));
    assert_eq!(outbox.take_dropped(), 5);
    assert_eq!(outbox.take_dropped(), 0);
    assert_eq!(in_turn(&mut outbox).len(), EVENTS_MAX + 1, "nothing but events is dropped");
    outbox.push(failed("a", "no"));
    assert_eq!((in_turn(&mut outbox).len(), outbox.take_dropped()), (1, 0), "there is room again");
    assert!(outbox.waiting.is_empty());
}

#[test]
fn a_newer_event_takes_the_place_of_the_old_one() {
    let mut outbox = Outbox::default();
    for index in 0..3 * EVENTS_MAX {
        outbox.push(failed("a", &index.to_string()));
    }
    assert_eq!((in_turn(&mut outbox).len(), outbox.take_dropped()), (1, 0));
}

#[test]
fn changes_of_nodes_go_first_and_never_take_all_the_calls() {
    let annotate = |node: &str| {
        let id = common::model::ReservationId { owner: "a".into(), seat: None };
        let expires = jiff::Timestamp::UNIX_EPOCH;
        let change = crate::state::ReservationChange::Extend { id, request: "r".into(), expires };
        let annotation = crate::state::AnnotationWrite { node: node.into(), uid: node.into(), change };
        Effect::Annotate(Box::new(annotation))
    };
    let nodes: Vec<Effect> = (0..100).map(|number| annotate(&format!("n{number}"))).collect();
    let mut outbox = outbox([bind("a"), bind("b")].into_iter().chain(nodes.clone()));
    let first: Vec<Effect> = std::iter::from_fn(|| outbox.pop()).collect();
    assert_eq!(first[..8], nodes[..8], "a place is kept before somebody is placed there");
    assert_eq!(first[8..], [bind("a"), bind("b")], "and bindings do not wait for ninety-two more");
    outbox.done(&first[0].subject());
    assert_eq!(outbox.pop(), Some(nodes[8].clone()));
}

//! Owners of kinds that are not watched: when they are read, and what follows from the answer.

use super::{apply, decoded, learn, listed, new_state, now, waiting};
use crate::state::{Effect, Input, ReservationChange, State};
use common::api::workload::foreign;
use common::cluster::{Event, OwnerAnswer};
use common::model::owner::ForeignClaim;
use serde_json::{Value, json};
use std::sync::Arc;

const CLONE_SET: &str = "44444444-0000-4000-8000-000000000001";

/// A pod of a CloneSet on the node, with `reserve/keep`.
fn kept(name: &str) -> Value {
    let mut json = waiting(name, "100m");
    json["metadata"]["uid"] = json!("55555555-0000-4000-8000-000000000001");
    json["metadata"]["annotations"] = json!({ "reserve/keep": "5m" });
    json["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps.kruise.io/v1alpha1", "kind": "CloneSet",
        "name": "web", "uid": CLONE_SET, "controller": true }]);
    json["spec"]["nodeName"] = json!("n1");
    json["status"] = json!({ "phase": "Running" });
    json
}

fn asked(effects: &[Effect]) -> Vec<ForeignClaim> {
    let claims = effects.iter().filter_map(|effect| match effect {
        Effect::ReadOwner(claim) => Some((**claim).clone()),
        _ => None,
    });
    claims.collect()
}

fn answer(state: &mut State, claim: &ForeignClaim, answer: OwnerAnswer, seconds: u64) -> Vec<Effect> {
    state.handle(learn(Event::OwnerRead(Box::new(claim.clone()), answer)), now(seconds))
}

fn found(claim: &ForeignClaim) -> OwnerAnswer {
    let json = json!({ "metadata": { "name": "web", "namespace": "default", "uid": CLONE_SET } });
    let read = foreign(Arc::new(claim.kind.clone()), &json.to_string()).unwrap();
    OwnerAnswer::Found(Box::new(read))
}

fn reports(effects: &[Effect]) -> Vec<(&'static str, String)> {
    let reports = effects.iter().filter_map(|effect| match effect {
        Effect::WriteEvent(report) => Some((report.reason, report.note.clone())),
        _ => None,
    });
    reports.collect()
}

#[test]
fn a_place_is_kept_once_the_owner_was_read() {
    let mut state = listed(&json!({}));
    let effects = apply(&mut state, decoded(&kept("web-1")), 1);
    let [claim] = &asked(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!((&*claim.kind.kind, &*claim.name, &*claim.uid.to_string()), ("CloneSet", "web", CLONE_SET));
    assert_eq!(reports(&effects), [], "nothing is said before the answer");
    let effects = answer(&mut state, claim, found(claim), 2);
    let made = effects.iter().find_map(|effect| match effect {
        Effect::Annotate(annotation) => match &annotation.change {
            ReservationChange::Reserve(reservation) => Some(reservation.id.owner.to_string()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(made.as_deref(), Some(CLONE_SET), "{effects:?}");
    assert_eq!(asked(&apply(&mut state, decoded(&kept("web-2")), 3)), [], "it is known");
}

#[test]
fn an_owner_that_cannot_be_read_is_told_once() {
    let mut state = listed(&json!({}));
    let [claim] = &asked(&apply(&mut state, decoded(&kept("web-1")), 1))[..] else { panic!() };
    let refused = || OwnerAnswer::Refused("because".into());
    let told = reports(&answer(&mut state, claim, refused(), 2));
    let note = "No room is reserved for the pods of CloneSet web: because".to_owned();
    assert!(told.contains(&("OwnerUnreadable", note)), "{told:?}");
    let of_owner =
        |effects: &[Effect]| reports(effects).iter().filter(|(why, _)| *why == "OwnerUnreadable").count();
    let mut second = kept("web-2");
    second["metadata"]["uid"] = json!("55555555-0000-4000-8000-000000000002");
    assert_eq!(of_owner(&apply(&mut state, decoded(&second), 3)), 0);
    let again = state.handle(Input::Tick, now(400));
    assert_eq!(asked(&again), std::slice::from_ref(claim), "a role may have been added");
    assert_eq!(of_owner(&answer(&mut state, claim, refused(), 401)), 0);
    let effects = state.handle(Input::Tick, now(800));
    assert_eq!(asked(&effects).len(), 1);
    let effects = answer(&mut state, claim, found(claim), 801);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Annotate(_))), "at last: {effects:?}");
}

#[test]
fn the_wish_of_a_pod_that_comes_later_is_told_too() {
    let mut state = listed(&json!({}));
    let mut quiet = kept("web-1");
    quiet["metadata"]["annotations"] = json!({});
    let [claim] = &asked(&apply(&mut state, decoded(&quiet), 1))[..] else { panic!() };
    assert_eq!(reports(&answer(&mut state, claim, OwnerAnswer::Refused("because".into()), 2)), []);
    let mut wishes = kept("web-1");
    wishes["metadata"]["resourceVersion"] = json!("9");
    let told = reports(&apply(&mut state, decoded(&wishes), 3));
    assert!(told.iter().any(|(why, _)| *why == "OwnerUnreadable"), "{told:?}");
}

#[test]
fn a_read_without_an_answer_is_repeated() {
    let mut state = listed(&json!({}));
    let [claim] = &asked(&apply(&mut state, decoded(&kept("web-1")), 1))[..] else { panic!() };
    assert_eq!(asked(&answer(&mut state, claim, OwnerAnswer::Unknown, 2)), [], "not at once");
    assert_eq!(state.next_tick(now(2)), Some(now(7).elapsed));
    assert_eq!(asked(&state.handle(Input::Tick, now(7))), std::slice::from_ref(claim));
}

/// An API server of another kind that answers nothing must not keep anybody else's owners from being read.
#[test]
fn an_owner_that_cannot_be_read_now_holds_up_no_other() {
    let mut state = listed(&json!({}));
    let [claim] = &asked(&apply(&mut state, decoded(&kept("web-1")), 1))[..] else { panic!() };
    assert_eq!(asked(&answer(&mut state, claim, OwnerAnswer::Unknown, 2)), []);
    let mut other = kept("db-1");
    other["metadata"]["uid"] = json!("55555555-0000-4000-8000-000000000003");
    other["metadata"]["ownerReferences"][0]["uid"] = json!("44444444-0000-4000-8000-000000000002");
    let read = asked(&apply(&mut state, decoded(&other), 3));
    assert_eq!(read.len(), 1, "{read:?}");
    assert_ne!(read[0].uid, claim.uid);
}

#[test]
fn nothing_is_read_before_everything_was_listed() {
    let mut state = new_state();
    assert_eq!(asked(&apply(&mut state, decoded(&kept("web-1")), 1)), []);
}

/// Found by the simulation: a replica that had not listed everything asked to be called again at once, for ever.
#[test]
fn before_everything_was_listed_nothing_is_due() {
    let mut state = new_state();
    state.learn(learn(Event::Pods(common::cluster::WatchEvent::Applied(decoded(&kept("web-1"))))), now(1));
    assert_eq!((state.act(now(2)), state.next_tick(now(2))), (vec![], None));
}

//! Tests of `change`: the patches, given the annotations of a node.

use crate::error::{Exit, Failure};
use crate::reservations::change::{extend, release, remove_invalid, reserve};
use common::api::reservation::parse;
use common::api::reservation::patch::ObservedNode;
use common::model::Reservation;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const UID: &str = "11111111-0000-4000-8000-000000000001";

fn annotations(request: &str, expires: &str) -> BTreeMap<String, String> {
    let owner = json!({ "kind": "Deployment", "namespace": "default", "name": "web", "uid": UID });
    let info = json!({ "v": 1, "owner": owner, "created": "2026-11-16T08:09:12Z", "expires": expires,
                       "request": request, "placement": "wait" });
    BTreeMap::from([
        (format!("reserve.cpu/{UID}.s1"), "1".to_owned()),
        (format!("reserve.info/{UID}.s1"), info.to_string()),
        ("foreign/key".to_owned(), "stays".to_owned()),
    ])
}

fn plain(amount: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(format!("reserve.cpu/{UID}"), amount.to_owned())])
}

fn of(annotations: &BTreeMap<String, String>) -> Reservation {
    let parsed = parse(annotations.iter().map(|(key, value)| (&**key, &**value)));
    (**parsed[0].valid().unwrap()).clone()
}

fn seen(annotations: &BTreeMap<String, String>) -> ObservedNode<'_> {
    ObservedNode { uid: "n", version: "7", annotations }
}

fn time(text: &str) -> jiff::Timestamp {
    text.parse().unwrap()
}

/// The keys that a patch removes.
fn removed(planned: Result<Option<Value>, Failure>) -> Vec<String> {
    let patch = planned.unwrap().unwrap();
    let steps = patch.as_array().unwrap();
    let removes = steps.iter().filter(|step| step["op"] == "remove");
    removes.map(|step| step["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()).collect()
}

const LATER: &str = "2026-11-16T08:19:12Z";

#[test]
fn exactly_what_was_seen_is_released() {
    let there = annotations("r1", LATER);
    let keys = removed(release(&seen(&there), &of(&there)));
    assert_eq!(keys, [format!("reserve.cpu~1{UID}.s1"), format!("reserve.info~1{UID}.s1")]);
    // The daemon has extended it meanwhile: it is the same reservation.
    let longer = annotations("r1", "2026-11-16T08:29:12Z");
    assert_eq!(removed(release(&seen(&longer), &of(&there))).len(), 2);
    // Somebody made another reservation with the same keys.
    let other = annotations("r2", LATER);
    assert!(release(&seen(&other), &of(&there)).is_err());
    assert!(release(&seen(&plain("2")), &of(&plain("1"))).is_err());
    assert_eq!(release(&seen(&BTreeMap::new()), &of(&there)).unwrap(), None, "gone is released");
}

#[test]
fn malformed_annotations_go_and_good_ones_beside_them_stay() {
    let mut there = plain("1");
    there.insert(format!("reserve.gpu/{UID}"), "1".to_owned());
    assert_eq!(
        removed(remove_invalid(&seen(&there), &format!("reserve.gpu/{UID}"))),
        [format!("reserve.gpu~1{UID}")]
    );
    let mut broken = annotations("r1", "soon");
    broken.insert("reserve.cpu/oops".into(), "1".into());
    assert_eq!(removed(remove_invalid(&seen(&broken), &format!("reserve.info/{UID}.s1"))).len(), 2);
    assert_eq!(removed(remove_invalid(&seen(&broken), "reserve.cpu/oops")), ["reserve.cpu~1oops"]);
    assert_eq!(remove_invalid(&seen(&plain("1")), "reserve.cpu/gone").unwrap(), None);
    assert!(remove_invalid(&seen(&broken), "reserve.").is_err());
}

#[test]
fn a_life_is_never_shortened_by_accident() {
    let there = annotations("r1", LATER);
    let (found, now) = (of(&there), time("2026-11-16T08:10:00Z"));
    let to = |until: &str, may_shorten| extend(&seen(&there), &found, time(until), may_shorten, now);
    assert!(to("2026-11-16T08:30:00Z", false).unwrap().is_some());
    assert!(to("2026-11-16T08:15:00Z", false).unwrap().is_none());
    assert!(to("2026-11-16T08:15:00Z", true).unwrap().is_some());
    assert!(to(LATER, true).unwrap().is_none());
    let late = extend(&seen(&there), &found, time("2026-11-16T09:00:00Z"), false, time(LATER));
    assert_eq!(late.unwrap_err().exit, Exit::NoRoom, "what has ended is not brought back");
    let hand = plain("1");
    assert!(extend(&seen(&hand), &of(&hand), time(LATER), true, now).unwrap().is_none());
}

#[test]
fn nothing_is_written_over_what_is_there() {
    let (now, there) = (time("2026-11-16T08:10:00Z"), annotations("r1", LATER));
    assert!(reserve(&seen(&there), &of(&annotations("r2", LATER)), now).unwrap().is_none());
    let new = reserve(&seen(&BTreeMap::new()), &of(&there), now).unwrap().unwrap();
    assert!(new.to_string().contains("/metadata/resourceVersion"), "what is new needs an unchanged node");
    assert!(reserve(&seen(&plain("1")), &of(&plain("1")), now).unwrap().is_none());
    assert!(reserve(&seen(&plain("2")), &of(&plain("1")), now).is_err());
    // An expired reservation is replaced.
    assert!(reserve(&seen(&there), &of(&annotations("r2", LATER)), time(LATER)).unwrap().is_some());
    let full: BTreeMap<String, String> =
        (0..600).map(|number| (format!("reserve.odd/{number}"), String::new())).collect();
    assert_eq!(reserve(&seen(&full), &of(&there), now).unwrap_err().exit, Exit::NoRoom);
}

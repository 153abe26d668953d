//! Encoding reservations.

use super::super::{EncodeError, INFO_LEN_MAX, encode};
use super::OWNER;
use crate::model::ids::Uid;
use crate::model::owner::OwnerKind;
use crate::model::reservation::{Origin, Seat};
use crate::model::{Reservation, ResourceName};
use crate::testing::{plain, pod, reservation, workload};

fn full() -> Reservation {
    let owner = workload(OwnerKind::Deployment, "web");
    let replaced = pod("web-1").build();
    let gpu = reservation(&owner).cpu("1").memory("128Mi").keeps("nvidia.com/gpu", "2");
    gpu.replaces(&replaced).priority(7).port("UDP", "10.0.0.1", 53).build()
}

#[test]
fn the_plain_form_is_one_key_for_each_amount() {
    let owner = Uid::from(OWNER);
    let reservation = plain(&owner).cpu("1500m").memory("128Mi").keeps("ephemeral-storage", "1Gi").build();
    let expected = [
        (format!("reserve.cpu/{OWNER}"), "1500m".to_owned()),
        (format!("reserve.ephemeral-storage/{OWNER}"), "1Gi".to_owned()),
        (format!("reserve.memory/{OWNER}"), "128Mi".to_owned()),
    ];
    assert_eq!(encode(&reservation).unwrap(), expected);
}

#[test]
fn the_full_form_has_a_record_with_what_has_no_key() {
    let reservation = full();
    let annotations = encode(&reservation).unwrap();
    let id = reservation.id.to_string();
    let keys: Vec<&str> = annotations.iter().map(|(key, _)| key.strip_suffix(&id).unwrap()).collect();
    assert_eq!(keys, ["reserve.cpu/", "reserve.info/", "reserve.memory/"]);
    let (owner, replaced) = (&reservation.id.owner, &reservation.replaces().unwrap().uid);
    let request = &reservation.record().unwrap().request;
    let info = format!(
        r#"{{"v":1,"owner":{{"kind":"Deployment","namespace":"default","name":"web","uid":"{owner}"}},"#
    ) + &format!(r#""replaces":{{"name":"web-1","uid":"{replaced}"}},"priority":7,"#)
        + r#""created":"2026-01-31T11:59:00Z","expires":"2026-01-31T12:10:00Z","#
        + &format!(r#""request":"{request}","by":"a test","reason":"pod","placement":"wait","#)
        + r#""resources":{"nvidia.com/gpu":"2"},"ports":[{"port":53,"protocol":"UDP","ip":"10.0.0.1"}]}"#;
    assert_eq!(annotations[1].1, info);
}

#[test]
fn what_cannot_be_read_back_is_not_written() {
    type Edit<'c> = &'c dyn Fn(&mut Reservation);
    let changed = |change: Edit<'_>| {
        let mut reservation = full();
        change(&mut reservation);
        encode(&reservation).unwrap_err().to_string()
    };
    let newer = Origin::Newer { version: 2, expires: None };
    let table: [(Edit<'_>, &str); 7] = [
        (&|r| r.origin = newer.clone(), "a reservation of a newer version is never rewritten"),
        (&|r| r.id.seat = None, "a reservation has both a seat and a record, or neither"),
        (&|r| r.origin = Origin::Manual, "a reservation has both a seat and a record, or neither"),
        (&|r| r.id.owner = Uid::from("a/b~1c"), "the owner's uid is not a lower-case UUID"),
        (
            &|r| (r.id.seat, r.origin) = (None, Origin::Manual),
            "nvidia.com/gpu has no annotation key, and the plain form has no record to hold it",
        ),
        (
            &|r| r.id.owner = Uid::from(OWNER),
            "it could not be read back: owner.uid is \"OTHER\", but the key names another owner",
        ),
        (
            &|r| r.amount.set(ResourceName::Cpu, -5),
            "it could not be read back: `-5m` is not an amount of cpu: write it without a sign",
        ),
    ];
    for (change, expected) in table {
        let other = full().id.owner.to_string();
        assert_eq!(changed(change), expected.replace("OTHER", &other));
    }
}

#[test]
fn a_record_has_at_most_four_kibibytes() {
    let long = |length: usize| {
        let builder = reservation(&workload(OwnerKind::Job, "j"));
        builder.record(|record| record.reason = "x".repeat(length).into()).build()
    };
    let fixed = encode(&long(1)).unwrap()[0].1.len() - 1;
    let most = long(INFO_LEN_MAX - fixed);
    assert_eq!(encode(&most).unwrap()[0].1.len(), INFO_LEN_MAX);
    let more = long(INFO_LEN_MAX - fixed + 1);
    assert_eq!(encode(&more).unwrap_err(), EncodeError::TooLong(INFO_LEN_MAX + 1));
}

#[test]
fn the_same_reservation_is_written_in_the_same_way() {
    assert_eq!(encode(&full()), encode(&full()));
    let mut moved = full();
    moved.id.seat = Seat::parse("b");
    assert_ne!(encode(&full()), encode(&moved));
}

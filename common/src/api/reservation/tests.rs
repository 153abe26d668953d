//! Decoding and encoding reservations, and the effects of invalid input.

mod encoding;
mod keys;
mod limits;
mod properties;
mod records;

use super::parse;
use crate::model::Reservation;
use crate::model::reservation::{InvalidAnnotation, ParsedReservation};
use serde_json::{Value, json};

pub(super) const OWNER: &str = "11111111-2222-3333-4444-555555555555";

/// The well-formed reservations in these annotations.
fn valid(annotations: &[(&str, &str)]) -> Vec<Reservation> {
    parse(annotations.iter().copied())
        .iter()
        .filter_map(|parsed| parsed.valid().map(|one| (**one).clone()))
        .collect()
}

/// The reports about malformed annotations.
fn invalid(annotations: &[(&str, &str)]) -> Vec<InvalidAnnotation> {
    let malformed = |parsed| match parsed {
        ParsedReservation::Invalid(invalid) => Some(invalid),
        ParsedReservation::Valid(_) => None,
    };
    parse(annotations.iter().copied()).into_iter().filter_map(malformed).collect()
}

/// The only problem of these annotations.
fn problem(annotations: &[(&str, &str)]) -> String {
    match invalid(annotations).as_slice() {
        [one] => one.problem.to_string(),
        other => panic!("not one problem: {other:?}"),
    }
}

/// A key of the reservation that most tests use.
fn key(field: &str) -> String {
    format!("reserve.{field}/{OWNER}.a1")
}

/// A record of that reservation, with all required fields.
fn record() -> Value {
    json!({
        "v": 1,
        "owner": { "kind": "Deployment", "namespace": "shop", "name": "web", "uid": OWNER },
        "created": "2026-01-31T12:00:00Z",
        "expires": "2026-01-31T12:10:00Z",
        "request": "c0a8a6d0-1f5e-4d55-9b0e-7e5f2d9d3b11",
        "placement": "wait",
    })
}

/// [`record`] with one field replaced, or removed if `value` is null.
fn record_with(field: &str, value: Value) -> String {
    let mut record = record();
    match value {
        Value::Null => drop(record.as_object_mut().unwrap().remove(field)),
        value => record[field] = value,
    }
    record.to_string()
}

//! The wire format of reservations, both ways, and what bad input can do to it.

mod encoding;
mod floods;
mod keys;
mod properties;
mod records;

use super::parse;
use crate::model::Reservation;
use crate::model::reservation::{Invalid, Parsed};
use serde_json::{Value, json};

pub(super) const OWNER: &str = "11111111-2222-3333-4444-555555555555";

/// The well-formed ones among these annotations.
fn valid(annotations: &[(&str, &str)]) -> Vec<Reservation> {
    parse(annotations.iter().copied())
        .iter()
        .filter_map(|parsed| parsed.valid().map(|one| (**one).clone()))
        .collect()
}

/// The malformed ones among these annotations.
fn invalid(annotations: &[(&str, &str)]) -> Vec<Invalid> {
    let malformed = |parsed| match parsed {
        Parsed::Invalid(invalid) => Some(invalid),
        Parsed::Valid(_) => None,
    };
    parse(annotations.iter().copied()).into_iter().filter_map(malformed).collect()
}

/// What is wrong with these annotations, when it is one thing.
fn problem(annotations: &[(&str, &str)]) -> String {
    match invalid(annotations).as_slice() {
        [one] => one.problem.to_string(),
        other => panic!("not one problem: {other:?}"),
    }
}

/// The key of a field of the one reservation that most tests are about.
fn key(field: &str) -> String {
    format!("reserve.{field}/{OWNER}.a1")
}

/// A record of that reservation, with every field that must be there.
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

/// The same with one field replaced, or removed when `value` is null.
fn record_with(field: &str, value: Value) -> String {
    let mut record = record();
    match value {
        Value::Null => drop(record.as_object_mut().unwrap().remove(field)),
        value => record[field] = value,
    }
    record.to_string()
}

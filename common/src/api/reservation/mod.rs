//! Reservations as node annotations (the wire format of the product), both ways.
//!
//! ```text
//! reserve.cpu/<owner-uid>.<seat>:    "1000m"
//! reserve.memory/<owner-uid>.<seat>: "128Mi"
//! reserve.info/<owner-uid>.<seat>:   '{"v":1, ...}'
//! reserve.cpu/<owner-uid>:           "5000m"          the plain form, written by hand
//! ```
//!
//! Reading never fails: what cannot be understood becomes an [`Invalid`] that says what and where, and changes
//! nothing about any other reservation. In particular
//! - one bad amount or a bad record makes its own reservation invalid, as a whole: keeping half of what was asked
//!   would look like keeping it;
//! - a key of ours for a resource that has no key (`reserve.gpu/…`) is invalid by itself, and so is a record
//!   without a seat: the plain form beside it stays valid for ever.

pub mod bounds;
mod info;
mod key;
pub mod patch;
#[cfg(test)]
mod tests;
mod unknown;

use super::names;
use crate::model::excerpt::excerpt;
use crate::model::quantity::parse_amount;
use crate::model::reservation::{Invalid, Origin, Parsed, Reservation, ReservationId};
use crate::model::resources::{ResourceName, Resources};
use key::{Field, Key};
use std::collections::BTreeMap;
use std::sync::Arc;

/// More reservations than one node can have are one [`Invalid`] together.
pub use crate::model::reservation::PER_NODE_MAX;

/// The longest `reserve.info`, in bytes.
pub const INFO_LEN_MAX: usize = 4096;

/// How much of a key or of foreign text in a record is shown: every well-formed key is shorter.
const KEY_SHOWN_MAX: usize = 90;

/// A reservation that cannot be written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Only our own current version is ever written.
    #[error("a reservation of a newer version is never rewritten")]
    Newer,
    /// The plain form has neither seat nor record, the full form has both.
    #[error("a reservation has both a seat and a record, or neither")]
    Mixed,
    /// The owner's UID cannot be part of an annotation key.
    #[error("the owner's uid is not a lower-case UUID")]
    Owner,
    /// The plain form has only cpu, memory and ephemeral storage.
    #[error("{0} has no annotation key, and the plain form has no record to hold it")]
    NoKey(String),
    /// The record is too long.
    #[error("the record has {0} bytes, and at most {INFO_LEN_MAX} fit")]
    TooLong(usize),
    /// Something in it is not as the grammar wants it, such as a negative amount.
    #[error("it could not be read back: {0}")]
    Unreadable(String),
}

/// Reads all reservations among a node's annotations, sorted by key. Foreign annotations are passed over.
pub fn parse<'a>(annotations: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Parsed> {
    let mut groups: BTreeMap<ReservationId, Vec<(Field, &str, &str)>> = BTreeMap::new();
    let mut invalid = Vec::new();
    for (text, value) in annotations {
        match key::parse(text) {
            None => {}
            Some(Ok(Key { field, id })) => groups.entry(id).or_default().push((field, text, value)),
            Some(Err(problem)) => invalid.push(refuse(text, problem)),
        }
    }
    let mut parsed = Vec::new();
    // Only the well-formed ones fill a node up: else a flood of malformed ones would crowd out a good one.
    let mut surplus = 0;
    for (id, fields) in groups {
        match reservation(id, &fields, &mut invalid) {
            Ok(Some(_)) if parsed.len() == PER_NODE_MAX => surplus += 1,
            Ok(Some(reservation)) => parsed.push(Parsed::Valid(Arc::new(reservation))),
            Ok(None) => {}
            Err(problem) => invalid.push(problem),
        }
    }
    bound(&mut invalid);
    if surplus > 0 {
        let problem = format!("{surplus} reservations more than the {PER_NODE_MAX} that one node can have");
        invalid.push(Invalid { key: names::NODE_PREFIX.into(), problem: problem.into() });
    }
    parsed.extend(invalid.into_iter().map(Parsed::Invalid));
    parsed
}

/// The annotations that write `reservation`, sorted by key. All of them go into one patch.
pub fn encode(reservation: &Reservation) -> Result<Vec<(String, String)>, EncodeError> {
    if !reservation.id.owner.is_canonical() {
        return Err(EncodeError::Owner);
    }
    let record = match (&reservation.origin, &reservation.id.seat) {
        (Origin::Newer { .. }, _) => return Err(EncodeError::Newer),
        (Origin::Manual, None) => None,
        (Origin::Recorded(record), Some(_)) => Some(record),
        (Origin::Manual, Some(_)) | (Origin::Recorded(_), None) => return Err(EncodeError::Mixed),
    };
    let id = &reservation.id;
    let mut annotations = Vec::new();
    let mut keyless = Vec::new();
    for (resource, amount) in reservation.amount.iter() {
        match key::prefix(&resource) {
            Some(prefix) => annotations.push((format!("{prefix}/{id}"), resource.format(amount))),
            // The one pod slot is understood.
            None if resource == ResourceName::Pods => {}
            None => keyless.push((resource, amount)),
        }
    }
    match record {
        Some(record) => {
            let json = info::write(record, &keyless, &reservation.ports)?;
            annotations.push((format!("{}/{id}", names::INFO), json));
        }
        None => {
            if let Some((resource, _)) = keyless.first() {
                return Err(EncodeError::NoKey(resource.to_string()));
            }
        }
    }
    annotations.sort();
    readable(annotations)
}

/// The annotations, if they will be understood: whoever writes a reservation goes on to rely on it.
fn readable(annotations: Vec<(String, String)>) -> Result<Vec<(String, String)>, EncodeError> {
    match parse(annotations.iter().map(|(key, value)| (&**key, &**value))).first() {
        Some(Parsed::Valid(_)) => Ok(annotations),
        Some(Parsed::Invalid(invalid)) => Err(EncodeError::Unreadable(invalid.problem.to_string())),
        None => Err(EncodeError::Unreadable("it reserves nothing".into())),
    }
}

/// Puts the keys of one reservation together. `None` when nothing of it remains but what is already reported.
fn reservation(
    id: ReservationId,
    fields: &[(Field, &str, &str)],
    invalid: &mut Vec<Invalid>,
) -> Result<Option<Reservation>, Invalid> {
    let mut amount = Resources::default();
    amount.pods = 1;
    let mut record = None;
    for (field, key, value) in fields {
        match field {
            Field::Amount(resource) => {
                let parsed =
                    parse_amount(resource, value).map_err(|error| refuse(key, &error.to_string()))?;
                amount.set(resource.clone(), parsed);
            }
            Field::Info => record = Some((*key, *value)),
        }
    }
    match (&id.seat, record) {
        (Some(_), Some((key, json))) => {
            let read = info::read(&id, json, &mut amount).map_err(|problem| refuse(key, &problem))?;
            Ok(Some(Reservation { id, amount, ports: read.ports, origin: read.origin }))
        }
        (Some(seat), None) => {
            let problem = format!("has the seat {} but no {} beside it", seat.as_str(), names::INFO);
            Err(refuse(fields.first().map_or("", |(_, key, _)| key), &problem))
        }
        (None, record) => {
            if let Some((key, _)) = record {
                invalid.push(refuse(key, "has no seat: expected <owner-uid>.<seat>"));
            }
            let plain = fields.iter().any(|(field, _, _)| matches!(field, Field::Amount(_)));
            Ok(plain.then(|| Reservation { id, amount, ports: Box::default(), origin: Origin::Manual }))
        }
    }
}

/// What is wrong with `key`, in a length that fits a table and an event.
fn refuse(key: &str, problem: &str) -> Invalid {
    Invalid { key: excerpt(key, KEY_SHOWN_MAX).into(), problem: problem.into() }
}

/// Keeps a flood of malformed keys from becoming a flood of reports.
fn bound(invalid: &mut Vec<Invalid>) {
    invalid.sort_by(|a, b| a.key.cmp(&b.key));
    let surplus = invalid.len().saturating_sub(PER_NODE_MAX);
    if surplus > 0 {
        invalid.truncate(PER_NODE_MAX);
        let problem = format!("{surplus} more malformed annotations");
        invalid.push(Invalid { key: names::NODE_PREFIX.into(), problem: problem.into() });
    }
}

//! Decodes and encodes reservations as annotations of a node. Entry points: [`parse`] and [`encode`].
//!
//! ```text
//! reserve.cpu/<owner-uid>.<seat>:    "1000m"
//! reserve.memory/<owner-uid>.<seat>: "128Mi"
//! reserve.info/<owner-uid>.<seat>:   '{"v":1, ...}'
//! reserve.cpu/<owner-uid>:           "5000m"          the plain form, written by hand
//! ```
//!
//! Decoding never fails: an invalid annotation becomes an [`InvalidAnnotation`] that says what is wrong, and has no effect on other
//! reservations. In particular
//! - an invalid amount or record makes its whole reservation invalid: to keep only a part of the amount would look like keeping all
//!   of it;
//! - a key with our prefix for a resource without a key (`reserve.gpu/…`), or a record without a seat, is invalid on its own: the
//!   plain form of the same owner stays valid.

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
use crate::model::reservation::InvalidAnnotation;
use crate::model::{Origin, ParsedReservation, Reservation, ReservationId, ResourceName, Resources};
use key::{Field, Key};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The reservations of a node above this number are reported as one [`InvalidAnnotation`].
pub use crate::model::reservation::PER_NODE_MAX;

/// The longest `reserve.info`, in bytes.
pub const INFO_LEN_MAX: usize = 4096;

/// How many characters of a key, or of text in a record, are shown. Every well-formed key is shorter.
const KEY_SHOWN_MAX: usize = 90;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The record has a newer version than this program writes.
    #[error("a reservation of a newer version is never rewritten")]
    Newer,
    /// The reservation has a seat but no record, or a record but no seat.
    #[error("a reservation has both a seat and a record, or neither")]
    Mixed,
    /// The owner's UID cannot be part of an annotation key.
    #[error("the owner's uid is not a lower-case UUID")]
    Owner,
    /// The plain form has another resource than cpu, memory and ephemeral storage.
    #[error("{0} has no annotation key, and the plain form has no record to hold it")]
    NoKey(String),
    #[error("the record has {0} bytes, and at most {INFO_LEN_MAX} fit")]
    TooLong(usize),
    /// The result would be an invalid annotation, for example because of a negative amount.
    #[error("it could not be read back: {0}")]
    Unreadable(String),
}

/// Decodes all reservations in the annotations of a node, sorted by key. Annotations of other programs are ignored.
pub fn parse<'a>(annotations: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<ParsedReservation> {
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
    // Only well-formed reservations count towards the limit. Otherwise many malformed ones would displace a valid one.
    let mut surplus = 0;
    for (id, fields) in groups {
        match reservation(id, &fields, &mut invalid) {
            Ok(Some(_)) if parsed.len() == PER_NODE_MAX => surplus += 1,
            Ok(Some(reservation)) => parsed.push(ParsedReservation::Valid(Arc::new(reservation))),
            Ok(None) => {}
            Err(problem) => invalid.push(problem),
        }
    }
    limit(&mut invalid);
    if surplus > 0 {
        let problem = format!("{surplus} reservations more than the {PER_NODE_MAX} that one node can have");
        invalid.push(InvalidAnnotation { key: names::NODE_PREFIX.into(), problem: problem.into() });
    }
    parsed.extend(invalid.into_iter().map(ParsedReservation::Invalid));
    parsed
}

/// The annotations of `reservation`, sorted by key. They must be written in one patch.
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
            // Every reservation includes one pod slot, so it has no key.
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
    check_readable(annotations)
}

/// The annotations, if they are a valid reservation when they are read back: the writer relies on the reservation afterwards.
fn check_readable(annotations: Vec<(String, String)>) -> Result<Vec<(String, String)>, EncodeError> {
    match parse(annotations.iter().map(|(key, value)| (&**key, &**value))).first() {
        Some(ParsedReservation::Valid(_)) => Ok(annotations),
        Some(ParsedReservation::Invalid(invalid)) => {
            Err(EncodeError::Unreadable(invalid.problem.to_string()))
        }
        None => Err(EncodeError::Unreadable("it reserves nothing".into())),
    }
}

/// Decodes the annotations of one reservation. `None` if there is only an annotation that was already added to `invalid`.
fn reservation(
    id: ReservationId,
    fields: &[(Field, &str, &str)],
    invalid: &mut Vec<InvalidAnnotation>,
) -> Result<Option<Reservation>, InvalidAnnotation> {
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
            let record = info::read(&id, json, &mut amount).map_err(|problem| refuse(key, &problem))?;
            Ok(Some(Reservation { id, amount, ports: record.ports, origin: record.origin }))
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

/// The report about `key`, short enough for a table and an event.
fn refuse(key: &str, problem: &str) -> InvalidAnnotation {
    InvalidAnnotation { key: excerpt(key, KEY_SHOWN_MAX).into(), problem: problem.into() }
}

/// Limits the number of reports: of many malformed keys only the first ones are reported, and the rest as a number.
fn limit(invalid: &mut Vec<InvalidAnnotation>) {
    invalid.sort_by(|a, b| a.key.cmp(&b.key));
    let surplus = invalid.len().saturating_sub(PER_NODE_MAX);
    if surplus > 0 {
        invalid.truncate(PER_NODE_MAX);
        let problem = format!("{surplus} more malformed annotations");
        invalid.push(InvalidAnnotation { key: names::NODE_PREFIX.into(), problem: problem.into() });
    }
}

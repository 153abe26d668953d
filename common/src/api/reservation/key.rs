//! Decodes annotation keys: which of them are ours, and of which reservation they are. Entry point: [`parse`].

use super::names;
use crate::model::{ReservationId, ResourceName, Seat, Uid};

pub(super) struct Key {
    pub(super) field: Field,
    pub(super) id: ReservationId,
}

/// What the value of an annotation contains.
#[derive(Clone)]
pub(super) enum Field {
    Amount(ResourceName),
    Info,
}

/// Decodes `key`. `None` if the key is not ours, an error if it is ours and malformed.
///
/// Keys of the form `reserve.<word>/…` are ours. A longer prefix such as `reserve.example.com/…` may be a domain of another
/// program, so the key is ours, and malformed, only if an owner's UID follows.
pub(super) fn parse(key: &str) -> Option<Result<Key, &'static str>> {
    let rest = key.strip_prefix(names::NODE_PREFIX)?;
    let (word, name) = rest.split_once('/').unwrap_or((rest, ""));
    let id = identity(name);
    if word.contains('.') && id.is_err() {
        return None;
    }
    Some(field(word).and_then(|field| Ok(Key { field, id: id? })))
}

/// The prefix of the key of `resource`; `None` if the amount is part of the record.
pub(super) fn prefix(resource: &ResourceName) -> Option<&'static str> {
    match resource {
        ResourceName::Cpu => Some(names::CPU),
        ResourceName::Memory => Some(names::MEMORY),
        ResourceName::EphemeralStorage => Some(names::EPHEMERAL_STORAGE),
        ResourceName::Pods | ResourceName::Scalar(_) => None,
    }
}

fn field(word: &str) -> Result<Field, &'static str> {
    match word {
        "cpu" => Ok(Field::Amount(ResourceName::Cpu)),
        "memory" => Ok(Field::Amount(ResourceName::Memory)),
        "ephemeral-storage" => Ok(Field::Amount(ResourceName::EphemeralStorage)),
        "info" => Ok(Field::Info),
        _ => Err(
            "no such key: there are reserve.cpu, reserve.memory, reserve.ephemeral-storage and reserve.info",
        ),
    }
}

fn identity(name: &str) -> Result<ReservationId, &'static str> {
    let (owner, seat) = match name.split_once('.') {
        Some((owner, seat)) => (owner, Some(seat)),
        None => (name, None),
    };
    let owner = Uid::from(owner);
    if !owner.is_canonical() {
        return Err("the name after the slash does not start with an owner's UID (a lower-case UUID)");
    }
    let seat = match seat {
        None => None,
        Some(text) => Some(Seat::parse(text).ok_or("the seat is not 1 to 20 characters of a-z and 0-9")?),
    };
    Ok(ReservationId { owner, seat })
}

//! Making, extending and releasing one reservation: what to write, given what was seen on the node. Plain functions, asked again
//! for each try.

use super::name_of;
use crate::error::{Exit, Failure};
use crate::render::time::between;
use common::api::names;
use common::api::reservation::patch::{Seen, keys_of, patch, reservation_of};
use common::api::reservation::{bounds, encode};
use common::model::Reservation;
use common::model::reservation::Origin;
use jiff::Timestamp;
use serde_json::Value;

/// A patch, or nothing to do.
pub(crate) type Planned = Result<Option<Value>, Failure>;

/// Makes `wanted`. What is there already and the same, or keeps the same pod's place, is left alone.
pub(crate) fn reserve(seen: &Seen<'_>, wanted: &Reservation, now: Timestamp) -> Planned {
    let keys = keys_of(seen.annotations, &wanted.id);
    let name = name_of(&wanted.id);
    match reservation_of(&keys) {
        Some(found) if found.is_manual() && wanted.is_manual() => {
            let exists = || {
                Failure::new(format!(
                    "Error from server (AlreadyExists): reservations {name:?} already exists with other amounts"
                ))
            };
            return if found.amount == wanted.amount {
                Ok(None)
            } else {
                Err(exists().hint(format!("kubectl reserve release {name} comes first")))
            };
        }
        Some(found) if found.is_live(now) => return Ok(None),
        Some(Reservation { origin: Origin::Newer { version, .. }, .. }) => return Err(newer(&name, version)),
        _ => {}
    }
    let new = encode(wanted).map_err(|error| Failure::usage(format!("cannot be reserved: {error}")))?;
    bounds::check(seen.annotations, &new)
        .map_err(|full| Failure::new(format!("refused: {full}")).exit(Exit::NoRoom))?;
    Ok(Some(patch(seen, &keys, &new, true)))
}

/// Removes exactly the annotations of the reservation that was `expected`. One that is gone already needs nothing.
pub(crate) fn release(seen: &Seen<'_>, expected: &Reservation) -> Planned {
    let keys = keys_of(seen.annotations, &expected.id);
    if keys.is_empty() {
        return Ok(None);
    }
    match reservation_of(&keys) {
        Some(found) if is_same(&found, expected) => Ok(Some(patch(seen, &keys, &[], false))),
        _ => Err(changed(&name_of(&expected.id))),
    }
}

/// Removes annotations of ours that are no reservation: the one called `key`, or all of the reservation that it is part of.
pub(crate) fn remove_invalid(seen: &Seen<'_>, key: &str) -> Planned {
    let Some((_, name)) = key.split_once('/') else { return Err(not_by_key(key)) };
    let is_ours = |other: &str| {
        other == key
            || (other.starts_with(names::NODE_PREFIX)
                && other.split_once('/').is_some_and(|(_, own)| own == name))
    };
    let all = seen.annotations.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let together: Vec<(&str, &str)> = all.clone().filter(|(key, _)| is_ours(key)).collect();
    // A malformed key beside a good reservation goes alone.
    let keys = if reservation_of(&together).is_some() {
        all.filter(|(other, _)| *other == key).collect()
    } else {
        together
    };
    if keys.is_empty() { Ok(None) } else { Ok(Some(patch(seen, &keys, &[], false))) }
}

/// Lets the reservation that was `expected` end at `until`; not earlier than it does, unless `may_shorten`.
pub(crate) fn extend(
    seen: &Seen<'_>,
    expected: &Reservation,
    until: Timestamp,
    may_shorten: bool,
    now: Timestamp,
) -> Planned {
    let keys = keys_of(seen.annotations, &expected.id);
    let name = name_of(&expected.id);
    let found = reservation_of(&keys).filter(|found| is_same(found, expected));
    let Some(mut found) = found else { return Err(changed(&name)) };
    let record = match &mut found.origin {
        Origin::Manual => return Ok(None),
        Origin::Newer { version, .. } => return Err(newer(&name, *version)),
        Origin::Recorded(record) => record,
    };
    if record.expires <= now {
        let ago = between(record.expires, now);
        return Err(Failure::new(format!("reservation {name} expired {ago} ago, and its room may be gone"))
            .hint("reserve it anew: kubectl reserve add --help")
            .exit(Exit::NoRoom));
    }
    if record.expires == until || (record.expires > until && !may_shorten) {
        return Ok(None);
    }
    record.expires = until;
    let new = encode(&found).map_err(|error| Failure::new(format!("reservation {name}: {error}")))?;
    Ok(Some(patch(seen, &keys, &new, false)))
}

/// Whether both are the same reservation: the daemon may have let it live longer meanwhile.
fn is_same(found: &Reservation, expected: &Reservation) -> bool {
    match (found.record(), expected.record()) {
        (Some(found), Some(expected)) => found.request == expected.request,
        (None, None) => found == expected,
        _ => false,
    }
}

fn changed(name: &str) -> Failure {
    Failure::new(format!("reservation {name} is another one by now; nothing was changed"))
        .hint("look again: kubectl reserve list -A")
}

fn newer(name: &str, version: u64) -> Failure {
    Failure::new(format!(
        "reservation {name} is of version {version}, which this kubectl reserve does not know"
    ))
    .hint("upgrade kubectl reserve")
}

fn not_by_key(key: &str) -> Failure {
    Failure::new(format!("{key} stands for several annotations, which cannot be released by one name"))
        .hint("kubectl get node NODE -o jsonpath='{.metadata.annotations}' shows them all")
}

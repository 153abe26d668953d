//! Making, extending and releasing one reservation: the patch to write, given the node as it was read. Plain functions;
//! `node_patch::rewrite` calls them again for each try.

use super::name_of;
use crate::error::{Exit, Failure};
use crate::render::time::between;
use common::api::names;
use common::api::reservation::patch::{ObservedNode, keys_of, patch, reservation_of};
use common::api::reservation::{bounds, encode};
use common::model::{Origin, Reservation};
use jiff::Timestamp;
use serde_json::Value;

/// A patch, or `None` if there is nothing to do.
pub(crate) type PatchPlan = Result<Option<Value>, Failure>;

/// Makes `wanted`. A live reservation with the same id, or a plain one with the same amounts, is left as it is.
pub(crate) fn reserve(seen: &ObservedNode<'_>, wanted: &Reservation, now: Timestamp) -> PatchPlan {
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

/// Removes the annotations of the `expected` reservation, and nothing else. There is nothing to do if they are gone already.
pub(crate) fn release(seen: &ObservedNode<'_>, expected: &Reservation) -> PatchPlan {
    let keys = keys_of(seen.annotations, &expected.id);
    if keys.is_empty() {
        return Ok(None);
    }
    match reservation_of(&keys) {
        Some(found) if is_same(&found, expected) => Ok(Some(patch(seen, &keys, &[], false))),
        _ => Err(changed(&name_of(&expected.id))),
    }
}

/// Removes malformed annotations: the one called `key`, or all annotations of the malformed reservation that it is part of.
pub(crate) fn remove_invalid(seen: &ObservedNode<'_>, key: &str) -> PatchPlan {
    let Some((_, name)) = key.split_once('/') else { return Err(not_by_key(key)) };
    let is_ours = |other: &str| {
        other == key
            || (other.starts_with(names::NODE_PREFIX)
                && other.split_once('/').is_some_and(|(_, own)| own == name))
    };
    let all = seen.annotations.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let together: Vec<(&str, &str)> = all.clone().filter(|(key, _)| is_ours(key)).collect();
    // If the other annotations are a valid reservation, only the malformed one is removed.
    let keys = if reservation_of(&together).is_some() {
        all.filter(|(other, _)| *other == key).collect()
    } else {
        together
    };
    if keys.is_empty() { Ok(None) } else { Ok(Some(patch(seen, &keys, &[], false))) }
}

/// Moves the end of the `expected` reservation to `until`; to an earlier time only if `may_shorten`.
pub(crate) fn extend(
    seen: &ObservedNode<'_>,
    expected: &Reservation,
    until: Timestamp,
    may_shorten: bool,
    now: Timestamp,
) -> PatchPlan {
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

/// Whether both are the same reservation, even if the daemon has extended it meanwhile.
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

//! Keeping the room of a pod: the patches for the annotations of its node, given what was read there, and whether the node has
//! enough room. Plain functions; `commands/recreate` sends the patches.

#[cfg(test)]
mod tests;

use super::recreate::{KeepMethod, StopReason};
use crate::amount::shown;
use common::api::reservation::patch::{ObservedNode, keys_of, patch, reservation_of};
use common::api::reservation::{bounds, encode};
use common::cluster::Cluster;
use common::model::keep::LIFE_DEFAULT;
use common::model::{Keep, NodeName, Origin, Pod, Record, Reservation, ReservationId};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// What the check before the eviction finds of the reservation that this run wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptRoom {
    /// It keeps the room for long enough.
    Kept,
    /// It has expired, or more than half of its life has passed while the command waited.
    EndsSoon,
    /// It is gone, or another run of the command has taken it over and may take it back at any moment.
    Lost,
}

/// The patch that writes `wanted` to the node with this UID, if anything must be written, and when the reservation ends.
///
/// # Errors
/// The reason why the reservation cannot be written.
pub fn reserve_patch(
    seen: &ObservedNode<'_>,
    node_uid: &str,
    wanted: &Reservation,
    now: Timestamp,
) -> Result<(Option<Value>, Timestamp), StopReason> {
    let no = |text: String| StopReason::Failed(text);
    if seen.uid != node_uid {
        return Err(no("the node was replaced by another one of the same name".into()));
    }
    let keys = keys_of(seen.annotations, &wanted.id);
    let found = reservation_of(&keys);
    if let Some(Reservation { origin: Origin::Newer { .. }, .. }) = found {
        return Err(no("what is reserved there was written by a newer version of this command".into()));
    }
    let wanted = take_over(&renewed(wanted, now), found.as_ref());
    let end = wanted.expires().unwrap_or(Timestamp::MAX);
    if found.as_ref() == Some(&wanted) {
        return Ok((None, end));
    }
    let new = encode(&wanted).map_err(|error| no(format!("the reservation cannot be written: {error}")))?;
    bounds::check(seen.annotations, &new).map_err(|full| StopReason::NoRoom(vec![full.to_string()]))?;
    Ok((Some(patch(seen, &keys, &new, true)), end))
}

/// The patch that replaces the reservation `left`, which its pod does not need any more, by `wanted`; none if `left` is gone or
/// was made anew. It is one patch, so that no other pod can take the room in between.
///
/// # Errors
/// The reason why the reservation cannot be written.
pub fn exchange_patch(
    seen: &ObservedNode<'_>,
    node_uid: &str,
    left: &Reservation,
    wanted: &Reservation,
    now: Timestamp,
) -> Result<Option<Value>, StopReason> {
    let keys = keys_of(seen.annotations, &left.id);
    let request = |one: &Reservation| one.record().map(|record| record.request.clone());
    if seen.uid != node_uid || reservation_of(&keys).and_then(|found| request(&found)) != request(left) {
        return Ok(None);
    }
    let new = encode(&renewed(wanted, now))
        .map_err(|error| StopReason::Failed(format!("cannot be written: {error}")))?;
    let mut rest = seen.annotations.clone();
    keys.iter().for_each(|(key, _)| drop(rest.remove(*key)));
    bounds::check(&rest, &new).map_err(|full| StopReason::NoRoom(vec![full.to_string()]))?;
    Ok(Some(patch(seen, &keys, &new, true)))
}

/// `wanted` with what must survive of the reservation that was found for the same pod: its creation time, its expiry if that is
/// later, and the record fields of a newer version. The run that made it notices this when it rechecks.
fn take_over(wanted: &Reservation, found: Option<&Reservation>) -> Reservation {
    let mut wanted = wanted.clone();
    if let (Origin::Recorded(ours), Some(theirs)) = (&mut wanted.origin, found.and_then(Reservation::record))
    {
        let is_past = theirs.expires < ours.created;
        ours.created = if is_past { ours.created } else { theirs.created };
        ours.expires = ours.expires.max(theirs.expires);
        ours.unknown = theirs.unknown.clone();
    }
    wanted
}

/// `wanted` as it is written at `now`. If more than half of its life has passed since it was planned, because the command waited for
/// a budget or for the user, it is moved on by that time: otherwise it could end before the eviction.
fn renewed(wanted: &Reservation, now: Timestamp) -> Reservation {
    let mut wanted = wanted.clone();
    if let Origin::Recorded(record) = &mut wanted.origin {
        let passed = now.duration_since(record.created);
        if passed > half_life(record) {
            record.expires = record.expires.checked_add(passed).unwrap_or(Timestamp::MAX);
            record.created = now;
        }
    }
    wanted
}

fn half_life(record: &Record) -> SignedDuration {
    SignedDuration::try_from(record.life.unwrap_or(LIFE_DEFAULT) / 2).unwrap_or(SignedDuration::MAX)
}

/// What is left of the reservation `ours` on the node at `now`.
pub fn kept_room(cluster: &Cluster, node: &NodeName, ours: &Reservation, now: Timestamp) -> KeptRoom {
    let entries = cluster.ledger_of(node).into_iter().flat_map(|ledger| &ledger.entries);
    let mut records =
        entries.filter(|entry| entry.reservation.id == ours.id).map(|entry| entry.reservation.record());
    let (Some(Some(found)), Some(planned)) = (records.next(), ours.record()) else { return KeptRoom::Lost };
    let left = found.expires.duration_since(now);
    let asked = planned.expires.duration_since(planned.created);
    match found.request == planned.request {
        false => KeptRoom::Lost,
        true if left < asked - half_life(planned) => KeptRoom::EndsSoon,
        true => KeptRoom::Kept,
    }
}

/// Whether the reservation of `pod` must stay although the run that made it stops: the pod is being deleted or gone, so that
/// whoever deleted it may rely on the reservation; or the pod has `reserve/keep` itself.
pub fn is_needed(pod: Option<&Pod>, keep_method: KeepMethod) -> bool {
    pod.is_none_or(|pod| pod.deleting || keep_method == KeepMethod::Reservation && has_keep_annotation(pod))
}

/// Whether the pod has a valid `reserve/keep`: another run of the command may have removed it.
pub fn has_keep_annotation(pod: &Pod) -> bool {
    pod.keep().and_then(Keep::life).is_some()
}

/// The patch that removes the reservation; none if it is gone, or has another request id by now.
pub fn release_patch(seen: &ObservedNode<'_>, id: &ReservationId, request: &str) -> Option<Value> {
    let keys = keys_of(seen.annotations, id);
    let found = reservation_of(&keys);
    let is_ours = found.and_then(|found| found.record().map(|record| &*record.request == request));
    is_ours.unwrap_or(false).then(|| patch(seen, &keys, &[], false))
}

/// The resources of the reservation of which the node has promised more than it has, in words.
pub fn lacks(cluster: &Cluster, node: &NodeName, reservation: Option<&Reservation>) -> Vec<String> {
    let Some(ledger) = cluster.ledger_of(node) else { return Vec::new() };
    let mut promised = ledger.used.clone();
    ledger.entries.iter().for_each(|entry| promised.add_assign(&entry.held));
    let kept = reservation.into_iter().flat_map(|reservation| reservation.amount.iter());
    let over = kept.filter(|(resource, _)| promised.get(resource) > ledger.node.allocatable.get(resource));
    let words = over.map(|(resource, _)| {
        let (promised, has) = (promised.get(&resource), ledger.node.allocatable.get(&resource));
        format!("{resource}: promised {}, allocatable {}", shown(&resource, promised), shown(&resource, has))
    });
    words.collect()
}

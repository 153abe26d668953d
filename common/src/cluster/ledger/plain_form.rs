//! The plain form of a reservation: one amount for all pods of an owner.
//!
//! The plain form holds its amount minus what the owner's pods on the node use and minus what seats hold for the owner: when a
//! pod leaves and a seat keeps its room, the plain form must not hold that room a second time. A seat yields to a pod of higher
//! priority. The plain form has no priority and does not yield to it, so from such a pod it also keeps what the seat holds.

use crate::cluster::ledger::Entry;
use crate::cluster::{Ledger, PodContext};
use crate::model::{Pod, Reservation, Resources};
use std::borrow::Cow;

impl Entry {
    /// Whether the entry keeps nothing from any pod.
    pub(in crate::cluster) fn is_empty(&self) -> bool {
        self.held.is_zero() && self.unused.is_zero()
    }
}

/// The part of the plain form that the owner's pods on the node do not use.
///
/// A pod that took a seat of the owner counts as the owner's pod: a bare pod that was recreated has another UID than the one in the
/// key of the plain form, so it may not use the plain form itself, but its room was part of it.
pub(in crate::cluster) fn unused_by_pods(
    reservation: &Reservation,
    pod_contexts: &[PodContext<'_>],
    entries: &[Entry],
) -> Resources {
    let took_seat = |pod: &Pod| {
        let takes = |entry: &Entry| entry.taken_by.as_ref().is_some_and(|taker| taker.uid == pod.uid);
        entries.iter().any(|entry| is_seat(entry, reservation) && takes(entry))
    };
    let is_owners_pod = |one: &&PodContext<'_>| one.may_use(reservation) || took_seat(one.pod);
    let mut used = Resources::default();
    for context in pod_contexts.iter().filter(is_owners_pod) {
        used.add_assign(context.pod.spec.requests.counted());
    }
    remainder(&reservation.amount, &used)
}

/// The part of `unused` that the seats of the same owner do not hold; only seats for which `counts` is true are subtracted.
pub(in crate::cluster) fn beyond_held_seats(
    unused: &Resources,
    reservation: &Reservation,
    entries: &[Entry],
    counts: impl Fn(&Entry) -> bool,
) -> Resources {
    let mut used = Resources::default();
    let seats = entries.iter().filter(|entry| is_seat(entry, reservation) && counts(entry));
    seats.for_each(|entry| used.add_assign(&entry.held));
    remainder(unused, &used)
}

/// What `entry` of `ledger` keeps from `context`.
pub(in crate::cluster) fn held_from<'e>(
    context: &PodContext<'_>,
    entry: &'e Entry,
    ledger: &Ledger,
) -> Cow<'e, Resources> {
    let (reservation, entries) = (&*entry.reservation, &ledger.entries);
    let yields = |other: &Entry| context.outranks(&other.reservation, ledger);
    let is_yielding_seat =
        |other: &Entry| is_seat(other, reservation) && !other.held.is_zero() && yields(other);
    match reservation.is_manual() && entries.iter().any(is_yielding_seat) {
        true => Cow::Owned(beyond_held_seats(&entry.unused, reservation, entries, |other| !yields(other))),
        false => Cow::Borrowed(&entry.held),
    }
}

fn is_seat(entry: &Entry, reservation: &Reservation) -> bool {
    let id = &entry.reservation.id;
    id.owner == reservation.id.owner && id.seat.is_some()
}

/// `amount` minus `used`, for each resource at least zero.
fn remainder(amount: &Resources, used: &Resources) -> Resources {
    let mut remainder = Resources::default();
    for (resource, amount) in amount.iter() {
        let left = amount.saturating_sub(used.get(&resource)).max(0);
        remainder.set(resource, left);
    }
    remainder
}

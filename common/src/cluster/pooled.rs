//! The plain form: one amount for all pods of an owner.
//!
//! It keeps what the owner's pods on the node do not use of it yet, nor those that its seats are held for: what a pod uses of
//! it does not become less when it leaves and its place is kept. A seat may give way to a pod of higher priority, and the
//! plain form, which has no priority, does not. So for such a pod it keeps what that seat would have.

use super::eligibility::PodContext;
use super::ledger::{Entry, Ledger};
use crate::model::{Reservation, Resources};
use std::borrow::Cow;

impl Entry {
    /// Whether it keeps nothing from anybody.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_zero() && self.pool.is_zero()
    }
}

/// What the owner's pods on the node leave of the plain form.
pub(super) fn pool(reservation: &Reservation, pod_contexts: &[PodContext<'_>]) -> Resources {
    let mut used = Resources::default();
    for pod_context in pod_contexts.iter().filter(|pod_context| pod_context.may_use(reservation)) {
        used.add_assign(pod_context.pod.spec.requests.counted());
    }
    rest(&reservation.amount, &used)
}

/// What the seats of the same owner that count leave of it.
pub(super) fn left(
    pool: &Resources,
    reservation: &Reservation,
    entries: &[Entry],
    counts: impl Fn(&Entry) -> bool,
) -> Resources {
    let mut used = Resources::default();
    let seats = entries.iter().filter(|entry| is_seat(entry, reservation) && counts(entry));
    seats.for_each(|entry| used.add_assign(&entry.held));
    rest(pool, &used)
}

/// What `entry`, which is in `ledger`, keeps from `pod_context`.
pub(super) fn held_from<'e>(
    pod_context: &PodContext<'_>,
    entry: &'e Entry,
    ledger: &Ledger,
) -> Cow<'e, Resources> {
    let (reservation, entries) = (&*entry.reservation, &ledger.entries);
    let yields = |other: &Entry| pod_context.outranks(&other.reservation, ledger);
    let is_bared = |other: &Entry| is_seat(other, reservation) && !other.held.is_zero() && yields(other);
    match reservation.is_manual() && entries.iter().any(is_bared) {
        true => Cow::Owned(left(&entry.pool, reservation, entries, |other| !yields(other))),
        false => Cow::Borrowed(&entry.held),
    }
}

fn is_seat(entry: &Entry, reservation: &Reservation) -> bool {
    let id = &entry.reservation.id;
    id.owner == reservation.id.owner && id.seat.is_some()
}

/// What is left of each amount, and never less than nothing.
fn rest(amount: &Resources, used: &Resources) -> Resources {
    let mut rest = Resources::default();
    for (resource, amount) in amount.iter() {
        let left = amount.saturating_sub(used.get(&resource)).max(0);
        rest.set(resource, left);
    }
    rest
}

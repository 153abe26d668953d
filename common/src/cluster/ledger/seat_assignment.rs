//! Which pod has taken which reservation. Entry point: [`assign_seats`].
//!
//! One pod takes at most one reservation, and one reservation is taken by at most one pod. The stamp, which our scheduler writes
//! together with the binding, says which one a pod took; it counts only on a pod that may use that reservation. Pods that another
//! scheduler bound have no stamp: the pod that was scheduled first takes the oldest reservation that it may use and that existed
//! by then, unless the pod is much older than the reservation. A pod whose stamp names a seat of its own owner takes no other one,
//! even if that seat was released since. Two reservations can be about the same room: that of a pod, and that of its replacement,
//! written late. A pod that has the stamp of the first and was scheduled after the second was created has taken both.

use crate::cluster::ledger::eligibility::PodContext;
use crate::model::{Pod, Reservation, ReservationId, Uid};
use jiff::{SignedDuration, Timestamp};

/// For each reservation the index of the pod that took it. A pod takes one that is marked in `take_last` only if it finds no other.
pub(in crate::cluster) fn assign_seats(
    reservations: &[&Reservation],
    take_last: &[bool],
    pods: &[PodContext<'_>],
) -> Vec<Option<usize>> {
    let mut takers: Vec<Option<usize>> = vec![None; reservations.len()];
    if reservations.is_empty() {
        return takers;
    }
    let order = oldest_first(pods);
    for (seat, reservation) in reservations.iter().enumerate() {
        let stamp = reservation.id.to_string();
        let earlier_stamp = stamp_of_replaced(reservation);
        let has_stamp = |pod: usize, stamp: &str| {
            pods[pod].pod.stamp.as_deref() == Some(stamp) && may_take(&pods[pod], reservation)
        };
        let has_same_room = |pod: usize| {
            let is_new = was_scheduled_after(pods[pod].pod, reservation);
            is_new && earlier_stamp.as_deref().is_some_and(|stamp| has_stamp(pod, stamp))
        };
        let mut all = order.iter().copied();
        let taker = all.clone().find(|&pod| has_stamp(pod, &stamp));
        takers[seat] = taker.or_else(|| all.find(|&pod| has_same_room(pod)));
    }
    for pod in order.into_iter().filter(|&pod| !has_seat_stamp(&pods[pod])) {
        let free = (0..reservations.len()).filter(|&seat| takers[seat].is_none());
        let seat = free
            .filter(|&seat| {
                was_scheduled_after(pods[pod].pod, reservations[seat])
                    && may_take(&pods[pod], reservations[seat])
            })
            .min_by_key(|&seat| (take_last[seat], age(reservations[seat])));
        if let Some(seat) = seat {
            takers[seat] = Some(pod);
        }
    }
    takers
}

/// The stamp that names the seat which the replaced pod itself had taken.
fn stamp_of_replaced(reservation: &Reservation) -> Option<String> {
    let seat = reservation.replaces()?.seat.clone()?;
    Some(ReservationId { owner: reservation.id.owner.clone(), seat: Some(seat) }.to_string())
}

/// Orders reservations from old to new, equal ones by their key.
pub(in crate::cluster) fn age(reservation: &Reservation) -> (Option<Timestamp>, &Uid, &str) {
    let seat = reservation.id.seat.as_ref().map_or("", |seat| seat.as_str());
    (reservation.created(), &reservation.id.owner, seat)
}

/// Whether the pod can take the reservation. Pods share the plain form, so none of them takes it; and no pod replaces itself.
fn may_take(context: &PodContext<'_>, reservation: &Reservation) -> bool {
    let replaced: Option<&Uid> = reservation.replaces().map(|pod| &pod.uid);
    !reservation.is_manual() && replaced != Some(&context.pod.uid) && context.may_use(reservation)
}

/// Whether the pod has a stamp that names a seat of its owner; the seat itself may be gone. A bare pod is its own owner and had
/// another UID before, so the stamp of a bare pod may name any owner.
fn has_seat_stamp(context: &PodContext<'_>) -> bool {
    let stamp = context.pod.stamp.as_deref().and_then(|stamp| stamp.split_once('.'));
    stamp.is_some_and(|(owner, _)| context.is_bare() || context.is_owned_by(&Uid::from(owner)))
}

/// How much older than a reservation the pod may be that takes it without a stamp: the deletion of the replaced pod, and with it
/// the creation of the replacement, can begin before the reservation is written.
const OLDER_MAX: SignedDuration = SignedDuration::from_secs(5);

/// Whether the pod was scheduled after the reservation was created, and is not much older than it. Without a stamp only such a pod
/// takes the reservation: an older one may have been on its way to the node already.
pub fn was_scheduled_after(pod: &Pod, reservation: &Reservation) -> bool {
    // A record of a newer version does not say when it was made. A pod without a stamp may have been there before.
    let (Some(since), Some(made)) = (pod.scheduled_at(), reservation.created()) else { return false };
    since >= made && pod.created.is_none_or(|created| made.duration_since(created.time()) <= OLDER_MAX)
}

fn oldest_first(pods: &[PodContext<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pods.len()).collect();
    order.sort_by_key(|&index| {
        (pods[index].pod.scheduled_at(), pods[index].pod.created, &pods[index].pod.key)
    });
    order
}

//! Which pod has taken which reservation.
//!
//! One pod takes at most one reservation, and one reservation is taken by at most one pod. A pod says which one it
//! took by the stamp that our scheduler writes together with the binding; the stamp counts only on a pod that
//! may use that reservation. Pods that another scheduler bound have no stamp: the one that was scheduled first
//! takes the oldest reservation that it may use and that existed by then, unless the pod is much older than it. A pod whose
//! stamp names a seat of its own owner has had its one seat, also when that was released since.
//!
//! Of one room there can be two reservations: that of the pod which had the room, and that of its replacement, which was written
//! late. A pod that came for the first has the room, and so has taken the second, too.

use super::eligibility::PodContext;
use crate::model::reservation::{Reservation, ReservationId};
use crate::model::{Pod, Uid};
use jiff::{SignedDuration, Timestamp};

/// For each reservation the index of the pod that took it. `occupied` tells whose replaced pod is still there.
pub(super) fn taken(
    reservations: &[&Reservation],
    occupied: &[bool],
    pods: &[PodContext<'_>],
) -> Vec<Option<usize>> {
    let mut takers: Vec<Option<usize>> = vec![None; reservations.len()];
    if reservations.is_empty() {
        return takers;
    }
    let order = oldest_first(pods);
    for (seat, reservation) in reservations.iter().enumerate() {
        let stamp = reservation.id.to_string();
        let before = seat_before(reservation);
        let has = |pod: usize, stamp: &str| {
            pods[pod].pod.stamp.as_deref() == Some(stamp) && may_take(&pods[pod], reservation)
        };
        let of_same_room = |pod: usize| {
            let is_new = came_for(pods[pod].pod, reservation);
            is_new && before.as_deref().is_some_and(|before| has(pod, before))
        };
        let mut all = order.iter().copied();
        let taker = all.clone().find(|&pod| has(pod, &stamp));
        takers[seat] = taker.or_else(|| all.find(|&pod| of_same_room(pod)));
    }
    for pod in order.into_iter().filter(|&pod| !has_sat(&pods[pod])) {
        let free = (0..reservations.len()).filter(|&seat| takers[seat].is_none());
        let seat = free
            .filter(|&seat| {
                came_for(pods[pod].pod, reservations[seat]) && may_take(&pods[pod], reservations[seat])
            })
            .min_by_key(|&seat| (occupied[seat], age(reservations[seat])));
        if let Some(seat) = seat {
            takers[seat] = Some(pod);
        }
    }
    takers
}

/// The stamp of whoever takes the seat that the replaced pod had.
fn seat_before(reservation: &Reservation) -> Option<String> {
    let seat = reservation.replaces()?.seat.clone()?;
    Some(ReservationId { owner: reservation.id.owner.clone(), seat: Some(seat) }.to_string())
}

/// Orders reservations from old to new, equal ones by their key.
pub(super) fn age(reservation: &Reservation) -> (Option<Timestamp>, &Uid, &str) {
    let seat = reservation.id.seat.as_ref().map_or("", |seat| seat.as_str());
    (reservation.created(), &reservation.id.owner, seat)
}

/// The plain form is a pool that any number of pods share, so nobody *takes* it; and nobody replaces itself.
fn may_take(pod_context: &PodContext<'_>, reservation: &Reservation) -> bool {
    let replaced: Option<&Uid> = reservation.replaces().map(|pod| &pod.uid);
    !reservation.is_manual() && replaced != Some(&pod_context.pod.uid) && pod_context.may_use(reservation)
}

/// Whether its stamp names a seat of its owner, taken or not, still there or not. What a bare pod's owner was called
/// before it was recreated cannot be told any more, so there any seat will do.
fn has_sat(pod_context: &PodContext<'_>) -> bool {
    let stamp = pod_context.pod.stamp.as_deref().and_then(|stamp| stamp.split_once('.'));
    stamp.is_some_and(|(owner, _)| pod_context.is_bare() || pod_context.is_owned_by(&Uid::from(owner)))
}

/// How much older than a reservation the pod may be that comes for it: the pod that it replaces is on its way out before somebody
/// writes the reservation.
const OLDER_MAX: SignedDuration = SignedDuration::from_secs(5);

/// Whether a pod without a stamp may have come for the reservation: it was scheduled since, and it is not much older. An older one
/// may have been on its way to the node when the reservation was made.
pub fn came_for(pod: &Pod, reservation: &Reservation) -> bool {
    // A record that we cannot read does not say when it was made; whoever may use it and came without a stamp
    // was there before as likely as not.
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

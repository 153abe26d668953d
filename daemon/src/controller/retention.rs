//! How long a reservation stays: [`decide`] keeps it, moves its expiry, or releases it. A pure function of the belief, safe to
//! repeat.
//!
//! | state | condition | action |
//! |---|---|---|
//! | occupied | the replaced pod is being deleted | extended: it expires at least one life from now |
//! | occupied | the replaced pod has `reserve/keep` | the same |
//! | occupied | it was made because of the pod's `reserve/keep`, which is gone, more than a minute ago | released, unless the belief is behind |
//! | taken | the pod that took it runs, or was scheduled a minute ago, and every live replica has seen that pod | released |
//! | taken | the pod that took it left, and another reservation keeps its room | released |
//! | held | the replaced pod is gone, and the owner lacks fewer pods than reservations are held for it | those that are being released, and then the newest, are released |
//! | held | another one is held for a pod of the same name, of a StatefulSet or without an owner | the older one is released |
//! | held | it replaces no pod, and its owner is gone | released |
//! | held | it expires more than an hour from now | shortened to an hour |
//! | expired | it is the heir of a seat that has not expired | kept until that seat is released |
//! | expired | otherwise | released |
//!
//! The plain form, and what a newer version of the daemon wrote, are never touched.

use super::after;
use super::confirm::before;
use super::surplus::{IsReleasing, is_replaced_pod_counted, unneeded};
use crate::state::{EXPIRED, ReservationChange};
use common::api::names;
use common::cluster::ledger::{Entry, is_heir};
use common::cluster::{
    Cluster, Ledger, ReservationState, expiry_for, extension_threshold, is_pod_acknowledged,
    was_scheduled_after,
};
use common::model::keep::{Keep, LIFE_DEFAULT, LIFE_MAX, LIFE_MIN};
use common::model::pod::Phase;
use common::model::reservation::Record;
use common::model::{Moment, Pod, Reservation};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// A pod that was scheduled this long ago counts as the taker of its seat even if it does not run yet.
const START_MAX: SignedDuration = SignedDuration::from_secs(60);

/// How far the clock of the writer of a reservation may be from ours.
const CLOCK_SKEW_MAX: SignedDuration = SignedDuration::from_secs(60);

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReservationAction {
    Keep,
    /// Keep it, and check it again at that time.
    KeepUntil(Timestamp),
    /// Keep it until every live replica has seen the pod that took it.
    KeepUntilSeen,
    Change(ReservationChange),
}

pub(super) fn decide(
    entry: &Entry,
    ledger: &Ledger,
    cluster: &Cluster,
    now: Timestamp,
    is_releasing: IsReleasing<'_>,
) -> ReservationAction {
    let reservation = &entry.reservation;
    let Some(record) = reservation.record().filter(|_| ledger.is_durable(reservation)) else {
        return ReservationAction::Keep;
    };
    match entry.state {
        ReservationState::Expired if is_heir_of_seat(entry, ledger) => ReservationAction::Keep,
        ReservationState::Expired => release(reservation, EXPIRED),
        ReservationState::Occupied => occupied(reservation, record, ledger, cluster, now),
        ReservationState::Taken => taken(entry, ledger, cluster, now),
        ReservationState::Held | ReservationState::Short => {
            let is_unneeded = match record.replaces {
                None => cluster.is_owner_gone(&record.owner),
                // It is on another node than the replaced pod, which has not left yet; or the belief is behind the record.
                Some(_) if is_replaced_pod_counted(cluster, record) || cluster.is_behind(record) => false,
                Some(_) => {
                    let unneeded = unneeded(cluster, (record, ledger), is_releasing);
                    unneeded.contains(&(ledger.id, &reservation.id))
                }
            };
            if is_unneeded {
                return release(reservation, "unneeded");
            }
            // No program of ours writes such an expiry; people who may annotate nodes can.
            let most = after(now, signed(LIFE_MAX));
            if record.expires > after(most, CLOCK_SKEW_MAX) {
                let (judged, expires) = (Arc::clone(&entry.reservation), Moment::of(most).time());
                return ReservationAction::Change(ReservationChange::Shorten { judged, expires });
            }
            ReservationAction::KeepUntil(record.expires)
        }
    }
}

fn release(reservation: &Arc<Reservation>, why: &'static str) -> ReservationAction {
    ReservationAction::Change(ReservationChange::Release { judged: Arc::clone(reservation), why })
}

fn occupied(
    reservation: &Arc<Reservation>,
    record: &Record,
    ledger: &Ledger,
    cluster: &Cluster,
    now: Timestamp,
) -> ReservationAction {
    let replaced = record.replaces.as_ref().map(|replaced| &replaced.uid);
    let Some(pod) = ledger.pods.iter().find(|pod| Some(&pod.uid) == replaced) else {
        return ReservationAction::Keep;
    };
    let is_automatic = &*record.by == names::AUTOMATIC;
    let keeps = pod.keep().and_then(Keep::life).is_some();
    let is_extended = pod.deleting || is_automatic && keeps;
    if !is_extended {
        return match is_automatic {
            true if cluster.is_behind(record) => ReservationAction::Keep,
            true if now < unwanted_from(record) => ReservationAction::KeepUntil(unwanted_from(record)),
            true => release(reservation, "unwished"),
            // A person made it for a deletion that is to come; without a deletion it expires.
            false => ReservationAction::KeepUntil(record.expires),
        };
    }
    let life = if is_automatic {
        cluster.reservation_life(pod)
    } else {
        record.life.or_else(|| cluster.reservation_life(pod))
    };
    let life = life.unwrap_or(LIFE_DEFAULT).clamp(LIFE_MIN, LIFE_MAX);
    let below = signed(extension_threshold(life));
    // At exactly the time of the check it must be extended, or it would be checked again and again at that time.
    if record.expires > after(now, below) {
        return ReservationAction::KeepUntil(record.expires.checked_sub(below).unwrap_or(now));
    }
    let expires = expiry_for(pod, life, now);
    let (id, request) = (reservation.id.clone(), record.request.clone());
    ReservationAction::Change(ReservationChange::Extend { id, request, expires })
}

/// When a reservation may be released because its pod has no `reserve/keep` any more: who adds and removes the annotation again and
/// again would otherwise cause two writes to the node each time. Until then the pod itself has the room.
fn unwanted_from(record: &Record) -> Timestamp {
    after(record.created, signed(LIFE_MIN))
}

fn taken(entry: &Entry, ledger: &Ledger, cluster: &Cluster, now: Timestamp) -> ReservationAction {
    // The pod that took it left, and another reservation keeps its room.
    if entry.taken_by.is_none() {
        return release(&entry.reservation, "passed-on");
    }
    // An assumed pod may still fail to be bound.
    let Some(pod) = entry.taken_by.as_deref().filter(|pod| !cluster.is_assumed(&pod.key)) else {
        return ReservationAction::Keep;
    };
    let settled = pod.scheduled_at().map(|since| after(since, START_MAX));
    if pod.phase != Phase::Running && settled.is_none_or(|settled| now < settled) {
        return settled.map_or(ReservationAction::Keep, ReservationAction::KeepUntil);
    }
    // A replica that has not seen the pod would count its room as free.
    let is_seen = is_pod_acknowledged(cluster.replicas().iter(), pod.resource_version, before(now));
    if !is_seen {
        return ReservationAction::KeepUntilSeen;
    }
    if would_take_another(pod, entry, ledger, cluster) {
        return ReservationAction::Keep;
    }
    if is_heir_of_seat(entry, ledger) {
        return ReservationAction::Keep;
    }
    release(&entry.reservation, "taken")
}

/// Whether it is the heir of a seat that exists and has not expired: without the heir, that seat would be held again.
fn is_heir_of_seat(heir: &Entry, ledger: &Ledger) -> bool {
    let mut live = ledger.entries.iter().filter(|entry| entry.state != ReservationState::Expired);
    live.any(|entry| is_heir(&heir.reservation, &entry.reservation))
}

/// Whether the pod would take another seat if its own were released. A pod without a stamp takes the oldest seat that it may use,
/// and the next one is kept for another pod.
fn would_take_another(pod: &Pod, own: &Entry, ledger: &Ledger, cluster: &Cluster) -> bool {
    let context = cluster.context(pod);
    if pod.stamp.is_some() {
        return false;
    }
    ledger.entries.iter().any(|entry| {
        let reservation = &*entry.reservation;
        let can_be_taken = matches!(
            entry.state,
            ReservationState::Held | ReservationState::Short | ReservationState::Occupied
        );
        can_be_taken
            && was_scheduled_after(pod, reservation)
            && reservation.id != own.reservation.id
            && context.may_use(reservation)
    })
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

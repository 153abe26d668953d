//! What becomes of a reservation: it stays, its time is moved, or it is released. A pure function of the belief, safe to repeat.
//!
//! | it is | and | then |
//! |---|---|---|
//! | occupied | its pod is on its way out | it lives at least one life from now on |
//! | occupied | its pod says `reserve/keep` | the same |
//! | occupied | it was made because the pod said so, which it no longer does | released, unless we are behind |
//! | taken | that pod runs, or was placed a minute ago, and every live replica has seen it | released |
//! | taken | that pod left, and another reservation keeps its place | released |
//! | held | its owner lacks fewer pods than places are held for it, and its pod is gone | the newest are released |
//! | held | another one is held for a pod of the same name, of a StatefulSet or without an owner | the older is released |
//! | held | it replaces no pod, and its owner is gone | released |
//! | expired | | released |
//!
//! The plain form, and what a newer version wrote, are never touched.

use super::after;
use super::confirm::before;
use crate::state::Rewrite;
use common::api::names;
use common::cluster::ledger::Entry;
use common::cluster::{Cluster, Ledger, NodeId, State, acknowledged_pod};
use common::model::keep::{Keep, LIFE_DEFAULT, LIFE_MAX};
use common::model::pod::Phase;
use common::model::reservation::{Record, ReservationId};
use common::model::{Moment, Pod, PodKey, Reservation};
use jiff::{SignedDuration, Timestamp};
use std::cmp::Reverse;
use std::time::Duration;

/// A pod that has taken its place and does not run after this long has still taken it.
const TAKEN_MAX: SignedDuration = SignedDuration::from_secs(60);

/// By how much more than one life the time of a reservation is moved, so that it need not be moved all the time.
const AHEAD: Duration = Duration::from_secs(60);

/// A held reservation, with its node and its record.
type Held<'c> = (NodeId, &'c Reservation, &'c Record);

/// What becomes of a reservation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// Nothing.
    Stays,
    /// Nothing, before then.
    StaysUntil(Timestamp),
    /// Nothing, before every live replica has seen the pod that took it.
    StaysUntilSeen,
    /// This.
    Becomes(Rewrite),
}

/// What becomes of `entry`, which is in the books of `ledger`.
pub(super) fn judge(entry: &Entry, ledger: &Ledger, cluster: &Cluster, now: Timestamp) -> Verdict {
    let reservation = &*entry.reservation;
    let Some(record) = reservation.record().filter(|_| ledger.says(&entry.reservation)) else {
        return Verdict::Stays;
    };
    match entry.state {
        State::Expired => release(reservation, record, "expired"),
        State::Occupied => occupied(reservation, record, ledger, cluster, now),
        State::Taken => taken(entry, record, ledger, cluster, now),
        State::Held | State::Short => {
            let is_over = match record.replaces {
                None => cluster.is_owner_gone(&record.owner),
                // Kept on another node for a pod that is yet to leave its own, or whose coming we have yet to see.
                Some(_) if is_replaced_there(cluster, record) || cluster.is_behind(record) => false,
                Some(_) => superfluous(cluster, record).contains(&(ledger.id, &reservation.id)),
            };
            if is_over {
                return release(reservation, record, "unneeded");
            }
            Verdict::StaysUntil(record.expires)
        }
    }
}

fn release(reservation: &Reservation, record: &Record, why: &'static str) -> Verdict {
    let (id, request) = (reservation.id.clone(), record.request.clone());
    Verdict::Becomes(Rewrite::Release { id, request, why })
}

fn occupied(
    reservation: &Reservation,
    record: &Record,
    ledger: &Ledger,
    cluster: &Cluster,
    now: Timestamp,
) -> Verdict {
    let replaced = record.replaces.as_ref().map(|replaced| &replaced.uid);
    let Some(pod) = ledger.pods.iter().find(|pod| Some(&pod.uid) == replaced) else { return Verdict::Stays };
    let is_automatic = &*record.by == names::AUTOMATIC;
    let keeps = pod.keep().and_then(Keep::life).is_some();
    let is_due = pod.deleting || is_automatic && keeps;
    if !is_due {
        return match is_automatic {
            true if cluster.is_behind(record) => Verdict::Stays,
            true => release(reservation, record, "unwished"),
            // Made by hand for what is about to happen: if it does not, the time runs out.
            false => Verdict::StaysUntil(record.expires),
        };
    }
    let life = if is_automatic { cluster.life(pod) } else { record.life.or_else(|| cluster.life(pod)) };
    let life = signed(life.unwrap_or(LIFE_DEFAULT).min(LIFE_MAX));
    // At the very moment that was named it is due, or it would be looked at for as long as the clock shows that moment.
    if record.expires > after(now, life) {
        return Verdict::StaysUntil(record.expires.checked_sub(life).unwrap_or(now));
    }
    // A pod that stays can have a place for long; one that leaves has it soon.
    let more = if pod.deleting { signed(AHEAD) } else { life.min(signed(LIFE_DEFAULT)) };
    let empty = pod.gone_by().map_or(now, |gone| gone.max(now));
    let expires = Moment::of(after(after(empty, life), more)).time();
    let (id, request) = (reservation.id.clone(), record.request.clone());
    Verdict::Becomes(Rewrite::Extend { id, request, expires })
}

fn taken(entry: &Entry, record: &Record, ledger: &Ledger, cluster: &Cluster, now: Timestamp) -> Verdict {
    // The pod that had it left, and another reservation keeps its place.
    if entry.taken_by.is_none() {
        return release(&entry.reservation, record, "passed-on");
    }
    // An assumed pod may yet turn out not to be bound.
    let Some(pod) = entry.taken_by.as_deref().filter(|pod| !cluster.is_assumed(&pod.key)) else {
        return Verdict::Stays;
    };
    let settled = pod.scheduled_at().map(|since| after(since, TAKEN_MAX));
    if pod.phase != Phase::Running && settled.is_none_or(|settled| now < settled) {
        return settled.map_or(Verdict::Stays, Verdict::StaysUntil);
    }
    // A replica that has not seen the pod would take its room for free.
    let is_seen = acknowledged_pod(cluster.replicas().iter(), pod.resource_version, before(now));
    if !is_seen {
        return Verdict::StaysUntilSeen;
    }
    if would_take_another(pod, entry, ledger, cluster) {
        return Verdict::Stays;
    }
    // Without it, the seat that was passed on to it would be held again.
    if is_heir(record, entry, ledger) {
        return Verdict::Stays;
    }
    release(&entry.reservation, record, "taken")
}

/// Whether the node still has the seat of the pod that it replaces.
fn is_heir(record: &Record, entry: &Entry, ledger: &Ledger) -> bool {
    let Some(seat) = record.replaces.as_ref().and_then(|replaced| replaced.seat.as_ref()) else {
        return false;
    };
    let is_before = |other: &Entry| {
        let id = &other.reservation.id;
        id.owner == entry.reservation.id.owner && id.seat.as_ref() == Some(seat)
    };
    ledger.entries.iter().any(is_before)
}

/// A pod without a stamp takes the oldest seat that it may use: with this one gone it would take another, which is kept for
/// somebody else.
fn would_take_another(pod: &Pod, own: &Entry, ledger: &Ledger, cluster: &Cluster) -> bool {
    let asker = cluster.asker(pod);
    if pod.stamp.is_some() {
        return false;
    }
    ledger.entries.iter().any(|entry| {
        let reservation = &*entry.reservation;
        let is_open = matches!(entry.state, State::Held | State::Short | State::Occupied);
        let is_later = match (pod.scheduled_at(), reservation.created()) {
            (Some(since), Some(created)) => since >= created,
            _ => false,
        };
        is_open && is_later && reservation.id != own.reservation.id && asker.may_use(reservation)
    })
}

/// The held reservations of an owner that are more than it lacks pods.
///
/// The newest go first; of a StatefulSet, whose pods have names, those whose pod is back elsewhere, and then the highest.
fn superfluous<'c>(cluster: &'c Cluster, record: &Record) -> Vec<(NodeId, &'c ReservationId)> {
    let Some(short) = cluster.short(&record.owner) else { return Vec::new() };
    let mut held: Vec<Held<'c>> = Vec::new();
    for ledger in cluster.ledgers_of(&record.owner.uid) {
        for entry in &ledger.entries {
            let is_held = matches!(entry.state, State::Held | State::Short);
            if let Some(found) = entry.reservation.record()
                && is_held
                && found.replaces.is_some()
                && !is_replaced_there(cluster, found)
                && found.owner.uid == record.owner.uid
            {
                held.push((ledger.id, &entry.reservation, found));
            }
        }
    }
    let older = older(&held);
    held.retain(|(node, reservation, _)| !older.contains(&(*node, &reservation.id)));
    let surplus = held.len().saturating_sub(short as usize);
    held.sort_by_cached_key(|(_, reservation, record)| {
        let rank = (!is_back(cluster, record), Reverse(ordinal(record)));
        (rank, Reverse(record.created), Reverse(reservation.id.clone()))
    });
    held.truncate(surplus);
    let newest = held.into_iter().map(|(node, reservation, _)| (node, &reservation.id));
    older.into_iter().chain(newest).collect()
}

/// Those that wait for a pod by a name for which a newer one waits: a pod that is recreated twice in a row can leave two places
/// behind, of which it needs one, and each would keep it out of the other.
fn older<'c>(held: &[Held<'c>]) -> Vec<(NodeId, &'c ReservationId)> {
    let age = |(node, reservation, record): &Held<'c>| (record.created, *node, &reservation.id);
    let is_older = |one: &&Held<'c>| {
        let name = name_of(one.2);
        name.is_some() && held.iter().any(|other| name_of(other.2) == name && age(other) > age(one))
    };
    held.iter().filter(is_older).map(|(node, reservation, _)| (*node, &reservation.id)).collect()
}

/// The name that the replacement will have, if that is known.
fn name_of(record: &Record) -> Option<&str> {
    let is_named = matches!(&*record.owner.kind, "StatefulSet" | "Pod");
    record.replaces.as_ref().filter(|_| is_named).map(|replaced| &*replaced.name)
}

/// Whether the pod that is to be replaced still takes room, wherever that is.
fn is_replaced_there(cluster: &Cluster, record: &Record) -> bool {
    let Some(replaced) = &record.replaces else { return false };
    let key = PodKey::new(record.owner.namespace.clone(), &*replaced.name);
    cluster.pod(&key).is_some_and(|pod| pod.uid == replaced.uid && pod.is_counted())
}

/// Whether the pod that the reservation waits for by name stands somewhere.
fn is_back(cluster: &Cluster, record: &Record) -> bool {
    let key = name_of(record).map(|name| PodKey::new(record.owner.namespace.clone(), name));
    let pod = key.and_then(|key| cluster.pod(&key));
    pod.is_some_and(|pod| pod.is_counted() && !pod.deleting)
}

/// Which of a StatefulSet's pods it is for.
fn ordinal(record: &Record) -> Option<u64> {
    let name = &record.replaces.as_ref().filter(|_| &*record.owner.kind == "StatefulSet")?.name;
    name.rsplit_once('-')?.1.parse().ok()
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}

//! What becomes of a reservation: it stays, its time is moved, or it is released. A pure function of the belief, safe to repeat.
//!
//! | it is | and | then |
//! |---|---|---|
//! | occupied | its pod is on its way out | it lives at least one life from now on |
//! | occupied | its pod says `reserve/keep` | the same |
//! | occupied | it was made because the pod said so, which it no longer does | released, unless we are behind |
//! | taken | that pod runs, or was placed a minute ago, and every live replica has seen it | released |
//! | taken | that pod left, and another reservation keeps its place | released |
//! | held | its owner lacks fewer pods than places are held for it, and its pod is gone | those that are being released, and then the newest, are released |
//! | held | another one is held for a pod of the same name, of a StatefulSet or without an owner | the older is released |
//! | held | it replaces no pod, and its owner is gone | released |
//! | held | it lasts for more than an hour from now | it is shortened to an hour |
//! | expired | a seat that was passed on to it is not over | it stays until that one is released |
//! | expired | else | released |
//!
//! The plain form, and what a newer version wrote, are never touched.

use super::after;
use super::confirm::before;
use crate::state::{EXPIRED, Rewrite};
use common::api::names;
use common::cluster::ledger::{Entry, is_heir};
use common::cluster::{
    Cluster, Ledger, NodeId, State, acknowledged_pod, came_for, expiry_for, extended_below,
};
use common::model::keep::{Keep, LIFE_DEFAULT, LIFE_MAX, LIFE_MIN};
use common::model::pod::Phase;
use common::model::reservation::{Record, ReservationId};
use common::model::{Moment, NodeName, Pod, PodKey, Reservation};
use jiff::{SignedDuration, Timestamp};
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

/// A pod that has taken its place and does not run after this long has still taken it.
const TAKEN_MAX: SignedDuration = SignedDuration::from_secs(60);

/// How far the clock of whoever wrote a reservation may be from ours.
const CLOCKS: SignedDuration = SignedDuration::from_secs(60);

/// A held reservation.
struct Held<'c> {
    ledger: &'c Ledger,
    reservation: &'c Reservation,
    record: &'c Record,
}

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

/// Whether a reservation on a node is being released, or is released already although we do not see that yet.
type IsReleasing<'w> = &'w dyn Fn(&NodeName, &ReservationId) -> bool;

/// What becomes of `entry`, which is in the books of `ledger`.
pub(super) fn judge(
    entry: &Entry,
    ledger: &Ledger,
    cluster: &Cluster,
    now: Timestamp,
    is_releasing: IsReleasing<'_>,
) -> Verdict {
    let reservation = &entry.reservation;
    let Some(record) = reservation.record().filter(|_| ledger.says(reservation)) else {
        return Verdict::Stays;
    };
    match entry.state {
        State::Expired if is_heir_of_a_seat(entry, ledger) => Verdict::Stays,
        State::Expired => release(reservation, EXPIRED),
        State::Occupied => occupied(reservation, record, ledger, cluster, now),
        State::Taken => taken(entry, ledger, cluster, now),
        State::Held | State::Short => {
            let is_over = match record.replaces {
                None => cluster.is_owner_gone(&record.owner),
                // Kept on another node for a pod that is yet to leave its own, or whose coming we have yet to see.
                Some(_) if is_replaced_there(cluster, record) || cluster.is_behind(record) => false,
                Some(_) => {
                    let superfluous = superfluous(cluster, (record, ledger), is_releasing);
                    superfluous.contains(&(ledger.id, &reservation.id))
                }
            };
            if is_over {
                return release(reservation, "unneeded");
            }
            // No program of ours writes such a time; people with the right to annotate nodes can.
            let most = after(now, signed(LIFE_MAX));
            if record.expires > after(most, CLOCKS) {
                let (judged, expires) = (Arc::clone(&entry.reservation), Moment::of(most).time());
                return Verdict::Becomes(Rewrite::Shorten { judged, expires });
            }
            Verdict::StaysUntil(record.expires)
        }
    }
}

fn release(reservation: &Arc<Reservation>, why: &'static str) -> Verdict {
    Verdict::Becomes(Rewrite::Release { judged: Arc::clone(reservation), why })
}

fn occupied(
    reservation: &Arc<Reservation>,
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
            true => release(reservation, "unwished"),
            // Made by hand for what is about to happen: if it does not, the time runs out.
            false => Verdict::StaysUntil(record.expires),
        };
    }
    let life = if is_automatic { cluster.life(pod) } else { record.life.or_else(|| cluster.life(pod)) };
    let life = life.unwrap_or(LIFE_DEFAULT).clamp(LIFE_MIN, LIFE_MAX);
    let below = signed(extended_below(life));
    // At the very moment that was named it is due, or it would be looked at for as long as the clock shows that moment.
    if record.expires > after(now, below) {
        return Verdict::StaysUntil(record.expires.checked_sub(below).unwrap_or(now));
    }
    let expires = expiry_for(pod, life, now);
    let (id, request) = (reservation.id.clone(), record.request.clone());
    Verdict::Becomes(Rewrite::Extend { id, request, expires })
}

fn taken(entry: &Entry, ledger: &Ledger, cluster: &Cluster, now: Timestamp) -> Verdict {
    // The pod that had it left, and another reservation keeps its place.
    if entry.taken_by.is_none() {
        return release(&entry.reservation, "passed-on");
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
    if is_heir_of_a_seat(entry, ledger) {
        return Verdict::Stays;
    }
    release(&entry.reservation, "taken")
}

/// Whether a seat was passed on to it that is there and not over: without it, that seat would be held again.
fn is_heir_of_a_seat(heir: &Entry, ledger: &Ledger) -> bool {
    let mut live = ledger.entries.iter().filter(|entry| entry.state != State::Expired);
    live.any(|entry| is_heir(&heir.reservation, &entry.reservation))
}

/// A pod without a stamp takes the oldest seat that it may use: with this one gone it would take another, which is kept for
/// somebody else.
fn would_take_another(pod: &Pod, own: &Entry, ledger: &Ledger, cluster: &Cluster) -> bool {
    let pod_context = cluster.pod_context(pod);
    if pod.stamp.is_some() {
        return false;
    }
    ledger.entries.iter().any(|entry| {
        let reservation = &*entry.reservation;
        let is_open = matches!(entry.state, State::Held | State::Short | State::Occupied);
        is_open
            && came_for(pod, reservation)
            && reservation.id != own.reservation.id
            && pod_context.may_use(reservation)
    })
}

/// The held reservations of an owner that are more than it lacks pods.
///
/// Those that are being released go first: what we do not see to be gone yet must not be the reason to release another one, too. Then
/// those that no node says yet: their write can fail, or we can end before it. Then the newest go; of a StatefulSet, whose pods
/// have names, those whose pod is back elsewhere, and then the highest.
fn superfluous<'c>(
    cluster: &'c Cluster,
    (record, ledger): (&Record, &'c Ledger),
    is_releasing: IsReleasing<'_>,
) -> Vec<(NodeId, &'c ReservationId)> {
    let Some(short) = cluster.short(&record.owner) else {
        // A pod without an owner that is gone: whoever makes it anew comes once, for the newest of its places on a node.
        return older(&held(ledger, cluster, |other| is_of_same_bare_pod(other, record)).collect::<Vec<_>>());
    };
    let ledgers = cluster.ledgers_of(&record.owner.uid);
    let is_own = |found: &Record| found.owner.uid == record.owner.uid;
    let mut held: Vec<Held<'c>> = ledgers.flat_map(|ledger| held(ledger, cluster, is_own)).collect();
    let older = older(&held);
    held.retain(|one| !older.contains(&one.id()));
    let surplus = held.len().saturating_sub(short as usize);
    held.sort_by_cached_key(|one| {
        let is_leaving = is_releasing(&one.ledger.node.name, &one.reservation.id);
        let is_back = is_back(cluster, one.record);
        let rank = (!is_leaving, one.is_written(), !is_back, Reverse(ordinal(one.record)));
        (rank, Reverse(one.record.created), Reverse(one.reservation.id.clone()))
    });
    held.truncate(surplus);
    older.into_iter().chain(held.iter().map(Held::id)).collect()
}

/// The held reservations of a node that replace pods which are gone, those of which `is_meant` is true.
fn held<'c>(
    ledger: &'c Ledger,
    cluster: &Cluster,
    is_meant: impl Fn(&Record) -> bool,
) -> impl Iterator<Item = Held<'c>> {
    ledger.entries.iter().filter_map(move |entry| {
        let reservation = &*entry.reservation;
        let is_held = matches!(entry.state, State::Held | State::Short);
        let record = reservation.record().filter(|record| is_held && record.replaces.is_some())?;
        let is_wanted = is_meant(record) && !is_replaced_there(cluster, record);
        is_wanted.then_some(Held { ledger, reservation, record })
    })
}

/// Whether both are for one pod that nobody owns: each time it is made anew it is its own owner, so that only the name says so.
fn is_of_same_bare_pod(one: &Record, other: &Record) -> bool {
    let name = |record: &Record| (record.owner.namespace.clone(), record.owner.name.clone());
    &*one.owner.kind == "Pod" && &*other.owner.kind == "Pod" && name(one) == name(other)
}

impl<'c> Held<'c> {
    fn id(&self) -> (NodeId, &'c ReservationId) {
        (self.ledger.id, &self.reservation.id)
    }

    /// Whether the node itself says it.
    fn is_written(&self) -> bool {
        self.ledger.says(self.reservation)
    }
}

/// Those that wait for a pod by a name for which a newer one waits: a pod that is recreated twice in a row can leave two places
/// behind, of which it needs one, and each would keep it out of the other. One that a node says does not go for one that no node
/// says yet.
fn older<'c>(held: &[Held<'c>]) -> Vec<(NodeId, &'c ReservationId)> {
    let age = |one: &Held<'c>| (one.record.created, one.id());
    let is_older = |one: &&Held<'c>| {
        let name = name_of(one.record);
        let is_newer = |other: &Held<'c>| {
            name_of(other.record) == name
                && age(other) > age(one)
                && (other.is_written() || !one.is_written())
        };
        name.is_some() && held.iter().any(is_newer)
    };
    held.iter().filter(is_older).map(Held::id).collect()
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

//! I1: what we bind fits, beside the pods that are there and what is held for others.

use super::Violation;
use super::daemon_sets;
use super::picture::Picture;
use super::replay::{Replay, Stored};
use common::model::{Node, Pod, Reservation, Resources};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// A pod that is older than a reservation by more did not come for it: it was on its way to the node before.
const OLDER_MAX: SignedDuration = SignedDuration::from_secs(5);

/// The daemon's time comes in whole seconds, from the API server.
const CLOCK: SignedDuration = SignedDuration::from_secs(2);

/// Looks at the node of a pod that we have just bound.
pub(super) fn check<'h>(replay: &mut Replay<'h>, revision: u64, pod: &Arc<Pod>, stored: Stored<'h>) {
    let Some(node) = pod.node.as_ref().filter(|node| replay.picture.nodes.contains_key(*node)) else {
        return replay.counts.skip("I1");
    };
    replay.counts.check("I1");
    let found = lacking(&replay.picture, pod, stored.write.answered);
    if found.is_empty() {
        return;
    }
    let fitted = |then: &Picture, at: Timestamp| {
        let mut then = then.clone();
        then.pods.insert(pod.uid.clone(), Arc::clone(pod));
        lacking(&then, pod, at).is_empty()
    };
    if replay.was_right(stored, (node, revision), fitted) {
        return replay.counts.excuse("I1");
    }
    replay.violations.extend(found.into_iter().map(|what| Violation::new("I1", revision, what)));
}

/// What the node of a pod that was just bound has too little of, beside the pods there and what is held for others.
pub fn lacking(picture: &Picture, pod: &Pod, now: Timestamp) -> Vec<String> {
    let Some(node) = pod.node.as_ref().and_then(|name| picture.nodes.get(name)) else { return Vec::new() };
    let mut taken = held_for_others(picture, pod, now);
    picture.counted(&node.name).for_each(|pod| taken.add_assign(pod.spec.requests.counted()));
    let mut lacking = Vec::new();
    for (resource, asked) in pod.spec.requests.counted().iter() {
        let (sum, has) = (taken.get(&resource), node.allocatable.get(&resource));
        if asked > 0 && sum > has {
            let (key, name) = (&pod.key, &node.name);
            lacking.push(format!("{key} was bound to {name}: {} {sum} of {has}", resource.as_str()));
        }
    }
    lacking
}

/// What is kept on the pod's node for others than it, as of `now`.
pub fn held_for_others(picture: &Picture, pod: &Pod, now: Timestamp) -> Resources {
    let node = pod.node.as_ref().and_then(|name| picture.nodes.get(name));
    node.map_or_else(Resources::default, |node| held(picture, node, now, |one| passes(picture, pod, one)))
}

/// What a node has promised, as of `now`: to the pods there, and to those for whom room is kept.
pub fn promised(picture: &Picture, node: &Node, now: Timestamp) -> Resources {
    let mut promised = held(picture, node, now, |_| false);
    picture.counted(&node.name).for_each(|pod| promised.add_assign(pod.spec.requests.counted()));
    promised
}

/// What is kept on a node, as of `now`, except for what does not count.
fn held(
    picture: &Picture,
    node: &Node,
    now: Timestamp,
    is_left_out: impl Fn(&Reservation) -> bool,
) -> Resources {
    let mut held = Resources::default();
    let pods: Vec<&Arc<Pod>> = picture.counted(&node.name).collect();
    let mut open = open_seats(picture, node, now);
    // A seat that gives way takes nothing of the plain form, which does not.
    open.retain(|one| !is_left_out(one));
    let manual = live(node, now).filter(|one| one.is_manual());
    for reservation in manual.filter(|one| !is_left_out(one)) {
        held.add_assign(&left(picture, &pods, &open, reservation));
    }
    open.iter().for_each(|one| held.add_assign(&one.amount));
    held
}

/// The reservations of a node whose time is not over at `now`, nor about to be.
fn live(node: &Node, now: Timestamp) -> impl Iterator<Item = &Arc<Reservation>> {
    let all = node.reservations.iter().filter_map(|parsed| parsed.valid());
    all.filter(move |one| is_live_for_long(one, now))
}

fn is_live_for_long(reservation: &Reservation, now: Timestamp) -> bool {
    reservation.expires().is_none_or(|expires| expires > now + CLOCK)
}

/// The seats of a node that are kept empty: the pod that each of them replaces is gone, and no pod has taken it.
pub fn open_seats<'p>(picture: &Picture, node: &'p Node, now: Timestamp) -> Vec<&'p Arc<Reservation>> {
    open_of(picture, node, |one| is_live_for_long(one, now))
}

/// Of the seats of a node that count, those that are kept empty.
pub fn open_of<'p>(
    picture: &Picture,
    node: &'p Node,
    counts: impl Fn(&Reservation) -> bool,
) -> Vec<&'p Arc<Reservation>> {
    let pods: Vec<&Arc<Pod>> = picture.counted(&node.name).collect();
    let mut takers: Vec<&Pod> = Vec::new();
    let all = node.reservations.iter().filter_map(|parsed| parsed.valid());
    let mut seats: Vec<_> = all.filter(|one| counts(one) && !one.is_manual()).collect();
    // Who has no seat takes one that somebody waits for, if there is one.
    seats.sort_by_key(|one| is_passed_on(node, one));
    let mut open: Vec<&Arc<Reservation>> = Vec::new();
    for reservation in seats.into_iter().filter(|one| !is_occupied(&pods, one)) {
        match taker(picture, &pods, &takers, reservation) {
            Some(taker) => takers.push(taker),
            None if is_passed_on(node, reservation) => {}
            None => open.push(reservation),
        }
    }
    open
}

/// Whether another reservation of the same owner there is for the replacement of the pod that had taken it.
pub fn is_passed_on(node: &Node, reservation: &Reservation) -> bool {
    let all = node.reservations.iter().filter_map(|parsed| parsed.valid());
    let mut heirs = all.filter(|one| {
        let seat = one.replaces().and_then(|replaced| replaced.seat.as_ref());
        seat.is_some() && seat == reservation.id.seat.as_ref()
    });
    // A bare pod comes back under its name with another UID.
    let bare = |of: &Reservation| {
        let owner = of.record().map(|record| &record.owner).filter(|owner| &*owner.kind == "Pod");
        owner.map(|owner| (owner.namespace.clone(), owner.name.clone()))
    };
    let whose = bare(reservation);
    heirs.any(|one| one.id.owner == reservation.id.owner || (whose.is_some() && bare(one) == whose))
}

/// Whether the pod that it replaces still takes room.
pub fn is_occupied(pods: &[&Arc<Pod>], reservation: &Reservation) -> bool {
    reservation.replaces().is_some_and(|replaced| pods.iter().any(|pod| pod.uid == replaced.uid))
}

/// The pod that has it: the one that says so, else one without a seat that came after it.
pub fn taker<'p>(
    picture: &Picture,
    pods: &[&'p Arc<Pod>],
    taken: &[&Pod],
    reservation: &Reservation,
) -> Option<&'p Pod> {
    let id = reservation.id.to_string();
    let may = |pod: &&&'p Arc<Pod>| {
        reservation.replaces().is_none_or(|replaced| replaced.uid != pod.uid)
            && picture.may_use(pod, reservation)
    };
    let stamped = pods.iter().filter(may).find(|pod| pod.stamp.as_deref() == Some(&id));
    let is_later = |at: Timestamp| reservation.created().is_some_and(|made| at >= made);
    let came = |pod: &Pod| {
        pod.scheduled_at().is_some_and(is_later)
            && pod.created.is_none_or(|created| is_later(created.time() + OLDER_MAX))
    };
    // Of the one room there were two reservations, because the write of this one was late: whoever came for the other has it.
    let before = reservation.replaces().and_then(|replaced| replaced.seat.as_ref());
    let before = before.map(|seat| format!("{}.{}", reservation.id.owner, seat.as_str()));
    let of_same_room =
        |pod: &&&'p Arc<Pod>| before.is_some() && pod.stamp.as_deref() == before.as_deref() && came(pod);
    let later = |pod: &&&'p Arc<Pod>| {
        pod.stamp.is_none() && !taken.iter().any(|other| other.uid == pod.uid) && came(pod)
    };
    let taker = stamped.or_else(|| pods.iter().filter(may).find(of_same_room));
    taker.or_else(|| pods.iter().filter(may).find(later)).map(|pod| &***pod)
}

/// What neither the owner's pods have used of the plain form nor those that its seats are held for.
fn left(
    picture: &Picture,
    pods: &[&Arc<Pod>],
    open: &[&Arc<Reservation>],
    reservation: &Reservation,
) -> Resources {
    let mut used = Resources::default();
    let seats = open.iter().filter(|one| one.id.owner == reservation.id.owner);
    seats.for_each(|one| used.add_assign(&one.amount));
    let own = pods.iter().filter(|pod| picture.may_use(pod, reservation));
    own.for_each(|pod| used.add_assign(pod.spec.requests.counted()));
    let mut left = Resources::default();
    for (resource, amount) in reservation.amount.iter() {
        let rest = amount.saturating_sub(used.get(&resource)).max(0);
        left.set(resource, rest);
    }
    left
}

/// Whether a DaemonSet's controller made the pod for the node where it is.
fn is_of_daemon_set(picture: &Picture, pod: &Pod) -> bool {
    let chain = picture.owners.chain(pod);
    let set = chain.first().and_then(|(_, owner)| owner.daemon_set.as_ref());
    let node = pod.node.as_ref().and_then(|name| picture.nodes.get(name));
    let (Some(set), Some(node)) = (set, node) else { return false };
    let is_other = |other: &&Arc<Pod>| {
        other.uid != pod.uid
            && !other.deleting
            && picture.owners.chain(other).first().map(|(uid, _)| *uid) == chain.first().map(|(uid, _)| *uid)
    };
    let beside: Vec<&Pod> = picture.counted(&node.name).filter(is_other).map(|other| &**other).collect();
    daemon_sets::makes(set, pod, node, &beside)
}

/// Whether the reservation yields to the pod.
fn passes(picture: &Picture, pod: &Pod, reservation: &Reservation) -> bool {
    let outranks = reservation.record().is_some_and(|record| pod.spec.priority > record.priority);
    outranks || pod.is_system_critical() || is_of_daemon_set(picture, pod)
}

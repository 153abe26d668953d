//! I1: a pod that we bind fits beside the pods on the node and the room that is held there for others.

use super::Violation;
use super::cluster_state::ClusterState;
use super::daemon_sets;
use super::replay::{Replay, StoredWrite};
use common::model::{Node, Pod, Reservation, Resources};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// A pod that was created more than this before a reservation does not take it: it was on its way to the node before.
const OLDER_MAX: SignedDuration = SignedDuration::from_secs(5);

/// How far the daemon's clock may be off: it gets whole seconds from the API server.
const CLOCK: SignedDuration = SignedDuration::from_secs(2);

/// Checks the node of a pod that we have just bound.
pub(super) fn check<'h>(replay: &mut Replay<'h>, revision: u64, pod: &Arc<Pod>, stored: StoredWrite<'h>) {
    let Some(node) = pod.node.as_ref().filter(|node| replay.state.nodes.contains_key(*node)) else {
        return replay.counts.skip("I1");
    };
    replay.counts.check("I1");
    let found = lacking(&replay.state, pod, stored.write.answered);
    if found.is_empty() {
        return;
    }
    let fitted = |then: &ClusterState, at: Timestamp| {
        let mut then = then.clone();
        then.pods.insert(pod.uid.clone(), Arc::clone(pod));
        lacking(&then, pod, at).is_empty()
    };
    if replay.was_right(stored, (node, revision), fitted) {
        return replay.counts.excuse("I1");
    }
    replay.violations.extend(found.into_iter().map(|what| Violation::new("I1", revision, what)));
}

/// The resources of which the node of a just bound pod has too little, with all pods there and the room that is held for others.
pub fn lacking(state: &ClusterState, pod: &Pod, now: Timestamp) -> Vec<String> {
    let Some(node) = pod.node.as_ref().and_then(|name| state.nodes.get(name)) else { return Vec::new() };
    let mut taken = held_for_others(state, pod, now);
    state.counted(&node.name).for_each(|pod| taken.add_assign(pod.spec.requests.counted()));
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

/// The room that is held on the pod's node for others than this pod at `now`.
pub fn held_for_others(state: &ClusterState, pod: &Pod, now: Timestamp) -> Resources {
    let node = pod.node.as_ref().and_then(|name| state.nodes.get(name));
    node.map_or_else(Resources::default, |node| held(state, node, now, |one| yields_to(state, pod, one)))
}

/// The sum at `now` of the requests of the pods on a node and of the room that is held there.
pub fn committed(state: &ClusterState, node: &Node, now: Timestamp) -> Resources {
    let mut committed = held(state, node, now, |_| false);
    state.counted(&node.name).for_each(|pod| committed.add_assign(pod.spec.requests.counted()));
    committed
}

/// The room that is held on a node at `now`, without the reservations that are left out.
fn held(
    state: &ClusterState,
    node: &Node,
    now: Timestamp,
    is_left_out: impl Fn(&Reservation) -> bool,
) -> Resources {
    let mut held = Resources::default();
    let pods: Vec<&Arc<Pod>> = state.counted(&node.name).collect();
    let mut open = open_seats(state, node, now);
    // A seat that yields does not reduce what the plain form holds: the plain form does not yield.
    open.retain(|one| !is_left_out(one));
    let manual = live(node, now).filter(|one| one.is_manual());
    for reservation in manual.filter(|one| !is_left_out(one)) {
        held.add_assign(&unused_part(state, &pods, &open, reservation));
    }
    open.iter().for_each(|one| held.add_assign(&one.amount));
    held
}

/// The reservations of a node that have not ended at `now`, and are not about to end.
fn live(node: &Node, now: Timestamp) -> impl Iterator<Item = &Arc<Reservation>> {
    let all = node.reservations.iter().filter_map(|parsed| parsed.valid());
    all.filter(move |one| is_live_for_long(one, now))
}

fn is_live_for_long(reservation: &Reservation, now: Timestamp) -> bool {
    reservation.expires().is_none_or(|expires| expires > now + CLOCK)
}

/// The open seats of a node: the replaced pod is gone, and no pod has taken the seat.
pub fn open_seats<'p>(state: &ClusterState, node: &'p Node, now: Timestamp) -> Vec<&'p Arc<Reservation>> {
    open_of(state, node, |one| is_live_for_long(one, now))
}

/// The open seats among those seats of a node for which `counts` is true.
pub fn open_of<'p>(
    state: &ClusterState,
    node: &'p Node,
    counts: impl Fn(&Reservation) -> bool,
) -> Vec<&'p Arc<Reservation>> {
    let pods: Vec<&Arc<Pod>> = state.counted(&node.name).collect();
    let mut takers: Vec<&Pod> = Vec::new();
    let all = node.reservations.iter().filter_map(|parsed| parsed.valid());
    let mut seats: Vec<_> = all.filter(|one| counts(one) && !one.is_manual()).collect();
    // A pod without a stamp takes a seat that was not passed on, if there is one.
    seats.sort_by_key(|one| is_passed_on(node, one));
    let mut open: Vec<&Arc<Reservation>> = Vec::new();
    for reservation in seats.into_iter().filter(|one| !is_occupied(&pods, one)) {
        match taker(state, &pods, &takers, reservation) {
            Some(taker) => takers.push(taker),
            None if is_passed_on(node, reservation) => {}
            None => open.push(reservation),
        }
    }
    open
}

/// Whether the seat was passed on: another reservation of the same owner on the node replaces the pod that had taken it.
pub fn is_passed_on(node: &Node, reservation: &Reservation) -> bool {
    let all = node.reservations.iter().filter_map(|parsed| parsed.valid());
    let mut heirs = all.filter(|one| {
        let seat = one.replaces().and_then(|replaced| replaced.seat.as_ref());
        seat.is_some() && seat == reservation.id.seat.as_ref()
    });
    // A bare pod is recreated under its name with another UID.
    let bare = |of: &Reservation| {
        let owner = of.record().map(|record| &record.owner).filter(|owner| &*owner.kind == "Pod");
        owner.map(|owner| (owner.namespace.clone(), owner.name.clone()))
    };
    let bare_owner = bare(reservation);
    heirs.any(|one| one.id.owner == reservation.id.owner || (bare_owner.is_some() && bare(one) == bare_owner))
}

/// Whether the replaced pod still counts on the node.
pub fn is_occupied(pods: &[&Arc<Pod>], reservation: &Reservation) -> bool {
    reservation.replaces().is_some_and(|replaced| pods.iter().any(|pod| pod.uid == replaced.uid))
}

/// The pod that has taken a reservation: the one with its stamp, else a pod without a stamp that came after the reservation.
pub fn taker<'p>(
    state: &ClusterState,
    pods: &[&'p Arc<Pod>],
    taken: &[&Pod],
    reservation: &Reservation,
) -> Option<&'p Pod> {
    let id = reservation.id.to_string();
    let may = |pod: &&&'p Arc<Pod>| {
        reservation.replaces().is_none_or(|replaced| replaced.uid != pod.uid)
            && state.may_use(pod, reservation)
    };
    let stamped = pods.iter().filter(may).find(|pod| pod.stamp.as_deref() == Some(&id));
    let is_later = |at: Timestamp| reservation.created().is_some_and(|made| at >= made);
    let came = |pod: &Pod| {
        pod.scheduled_at().is_some_and(is_later)
            && pod.created.is_none_or(|created| is_later(created.time() + OLDER_MAX))
    };
    // If the write of this reservation was late, the same room has two reservations: a pod that came for the other one has this
    // one.
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

/// The part of a plain reservation that neither pods of the owner nor open seats of the owner use.
fn unused_part(
    state: &ClusterState,
    pods: &[&Arc<Pod>],
    open: &[&Arc<Reservation>],
    reservation: &Reservation,
) -> Resources {
    let mut used = Resources::default();
    let seats = open.iter().filter(|one| one.id.owner == reservation.id.owner);
    seats.for_each(|one| used.add_assign(&one.amount));
    let own = pods.iter().filter(|pod| state.may_use(pod, reservation));
    own.for_each(|pod| used.add_assign(pod.spec.requests.counted()));
    let mut unused = Resources::default();
    for (resource, amount) in reservation.amount.iter() {
        let rest = amount.saturating_sub(used.get(&resource)).max(0);
        unused.set(resource, rest);
    }
    unused
}

/// Whether a DaemonSet's controller made the pod for its node.
fn is_of_daemon_set(state: &ClusterState, pod: &Pod) -> bool {
    let chain = state.owners.chain(pod);
    let set = chain.first().and_then(|(_, owner)| owner.daemon_set.as_ref());
    let node = pod.node.as_ref().and_then(|name| state.nodes.get(name));
    let (Some(set), Some(node)) = (set, node) else { return false };
    let is_other = |other: &&Arc<Pod>| {
        other.uid != pod.uid
            && state.owners.chain(other).first().map(|(uid, _)| *uid) == chain.first().map(|(uid, _)| *uid)
    };
    let beside: Vec<&Pod> = state.counted(&node.name).filter(is_other).map(|other| &**other).collect();
    daemon_sets::makes(set, pod, node, &beside)
}

/// Whether the reservation yields to the pod.
fn yields_to(state: &ClusterState, pod: &Pod, reservation: &Reservation) -> bool {
    let outranks = reservation.record().is_some_and(|record| pod.spec.priority > record.priority);
    outranks || pod.is_system_critical() || is_of_daemon_set(state, pod)
}

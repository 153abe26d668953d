//! I3 and I7: a reservation is released when it is of no more use, not before, and not long after.

use super::cluster_state::ClusterState;
use super::knowledge::remove_reservation;
use super::replay::{Replay, StoredWrite, TrackedReservation};
use super::{Version, Violation, expiry, room};
use common::model::ids::NodeName;
use common::model::{Node, Pod, Reservation, Uid};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// How long an expired reservation may stay on its node.
const EXPIRED_MAX: SignedDuration = SignedDuration::from_secs(90);
/// How long a reservation without use may stay on its node.
const IDLE_MAX: SignedDuration = SignedDuration::from_secs(60);

/// Compares the reservations of a node with those of its version before.
pub(super) fn check<'h>(
    replay: &mut Replay<'h>,
    version: &Version,
    node: &Arc<Node>,
    (writer, is_foreign): (Option<StoredWrite<'h>>, bool),
) {
    let writer = writer.filter(|writer| replay.is_ours(&writer.write.user));
    let mut now: Vec<(String, &Arc<Reservation>)> = Vec::new();
    for reservation in node.reservations.iter().filter_map(|parsed| parsed.valid()) {
        now.push((reservation.id.to_string(), reservation));
    }
    let mine = |(on, _): &&(NodeName, String)| *on == node.name;
    let before: Vec<(NodeName, String)> = replay.reservations.keys().filter(mine).cloned().collect();
    for key in before.into_iter().filter(|(_, id)| !now.iter().any(|(other, _)| other == id)) {
        if let Some(writer) = writer
            && let Some(what) = wrong_release(replay, &key, version, writer)
        {
            replay.violations.push(Violation::new("I3", version.revision, what));
        }
        let replaced =
            replay.reservations.get(&key).and_then(|kept| Some(kept.reservation.replaces()?.uid.clone()));
        replay.removed_by_others.extend(replaced.filter(|_| is_foreign).map(|uid| (uid, version.at)));
        report_overdue(replay, &key, version.revision, version.at);
        replay.reservations.remove(&key);
    }
    for (id, reservation) in now {
        let kept = TrackedReservation { revision: version.revision, reservation: Arc::clone(reservation) };
        let is_same = |known: &TrackedReservation| *known.reservation == **reservation;
        let key = (node.name.clone(), id);
        if !is_foreign && !replay.reservations.get(&key).is_some_and(is_same) {
            check_end(replay, reservation, version);
        }
        let known = replay.reservations.entry(key).or_insert(kept);
        known.reservation = Arc::clone(reservation);
    }
}

/// I7: a reservation that our programs write has an end that is not too far ahead.
fn check_end(replay: &mut Replay<'_>, reservation: &Reservation, version: &Version) {
    let empty = reservation.replaces().and_then(|replaced| replay.gone.get(&replaced.uid)).copied();
    replay.counts.check("I7");
    let wrong = expiry::too_far(reservation, empty, version.at);
    replay.violations.extend(wrong.map(|what| Violation::new("I7", version.revision, what)));
}

/// Checks the reservations that exist at the end.
pub(super) fn at_end(replay: &mut Replay<'_>) {
    let all: Vec<(NodeName, String)> = replay.reservations.keys().cloned().collect();
    let end = replay.history.end;
    for key in &all {
        report_overdue(replay, key, 0, end);
        let Some(reservation) = replay.reservations.get(key).map(|kept| Arc::clone(&kept.reservation)) else {
            continue;
        };
        let empty = reservation.replaces().and_then(|replaced| replay.gone.get(&replaced.uid)).copied();
        let wrong = empty.and_then(|empty| expiry::too_far(&reservation, Some(empty), end));
        replay.violations.extend(wrong.map(|what| Violation::new("I7", 0, what)));
    }
}

/// Why our daemon should not have released a reservation; `None` if it was right. It is excused if the reservation was of no more
/// use on the state that the daemon knew, but not if the daemon judged another reservation of the same id.
fn wrong_release<'h>(
    replay: &mut Replay<'h>,
    (node, id): &(NodeName, String),
    version: &Version,
    writer: StoredWrite<'h>,
) -> Option<String> {
    replay.counts.check("I3");
    let reservation = Arc::clone(&replay.reservations.get(&(node.clone(), id.clone()))?.reservation);
    let what = why_needed(&replay.state, node, &reservation, version.at)?;
    let was_idle = |then: &ClusterState, at: Timestamp| {
        let mut then = then.clone();
        let judged = remove_reservation(&mut then, node, &reservation.id);
        judged.is_some_and(|judged| judged == reservation)
            && why_needed(&then, node, &reservation, at).is_none()
    };
    if replay.was_right(writer, (node, version.revision), was_idle) {
        replay.counts.excuse("I3");
        return None;
    }
    Some(what)
}

/// Why a reservation that was just removed from `node` was still needed; `None` if it was not.
pub fn why_needed(
    state: &ClusterState,
    node: &NodeName,
    reservation: &Reservation,
    now: Timestamp,
) -> Option<String> {
    let (id, pods): (_, Vec<&Arc<Pod>>) = (&reservation.id, state.counted(node).collect());
    let is_over = !reservation.is_live(now + SignedDuration::from_secs(2));
    if is_over || room::taker(state, &pods, &[], reservation).is_some() {
        return None;
    }
    let replaced = reservation.replaces()?;
    if let Some(pod) = state.pods.get(&replaced.uid).filter(|pod| pod.is_counted()) {
        // If the pod is not being deleted, the reservation is not needed.
        return pod.deleting.then(|| format!("{id} was released while {} was still going", pod.key));
    }
    let is_elsewhere = state.nodes.get(node).is_some_and(|node| room::is_passed_on(node, reservation));
    if is_elsewhere || has_newer(state, reservation, now) {
        return None;
    }
    let (short, kept) = (missing_pods(state, &id.owner)?, open_reservations(state, &id.owner, now) + 1);
    (kept <= short).then(|| format!("{id} was released, and its owner is short of {short} with {kept} kept"))
}

/// Whether there is a newer reservation for a pod of the same name, which needs only one. That is so for pods of a StatefulSet and
/// for pods without a controller.
fn has_newer(state: &ClusterState, reservation: &Reservation, now: Timestamp) -> bool {
    let name = |of: &Reservation| {
        let record = of.record().filter(|record| matches!(&*record.owner.kind, "StatefulSet" | "Pod"))?;
        Some((record.owner.namespace.clone(), record.replaces.as_ref()?.name.clone()))
    };
    let nodes = state.nodes.values();
    let mut others = nodes.flat_map(|node| room::open_seats(state, node, now));
    name(reservation).is_some()
        && others.any(|other| name(other) == name(reservation) && other.created() >= reservation.created())
}

/// How many pods the owner lacks; `None` if that cannot be known.
pub fn missing_pods(state: &ClusterState, owner: &Uid) -> Option<i64> {
    let workload = state.owners.get(owner)?;
    let wanted = if workload.gone.is_some() { 0 } else { workload.desired_pods? };
    let is_there = |pod: &&Arc<Pod>| pod.is_counted() && !pod.deleting && state.owners.owns(owner, pod, None);
    let there = state.pods.values().filter(is_there).count();
    Some(wanted - i64::try_from(there).unwrap_or(i64::MAX))
}

/// How many live reservations of the owner are not taken and replace a pod that is gone. Reservations that replace no pod do not
/// count.
pub fn open_reservations(state: &ClusterState, owner: &Uid, now: Timestamp) -> i64 {
    let open = state.nodes.values().flat_map(|node| room::open_of(state, node, |one| one.is_live(now)));
    let own = open.filter(|one| one.id.owner == *owner && one.replaces().is_some());
    i64::try_from(own.count()).unwrap_or(i64::MAX)
}

/// I7: reports a reservation that at `now` has stayed too long.
fn report_overdue(replay: &mut Replay<'_>, key: &(NodeName, String), revision: u64, now: Timestamp) {
    let Some(kept) = replay.reservations.get(key) else { return };
    let (node, id) = key;
    replay.counts.check("I7");
    let expired = kept.reservation.expires().filter(|expires| now.duration_since(*expires) > EXPIRED_MAX);
    let what = match expired {
        Some(expires) => Some(format!("{id} on {node} ended at {expires} and was there until {now}")),
        None => useless_since(replay, &kept.reservation)
            .filter(|since| now.duration_since(*since) > IDLE_MAX)
            .map(|since| format!("{id} on {node} was of no use from {since} on and there until {now}")),
    };
    replay.violations.extend(what.map(|what| Violation::new("I7", revision, what)));
}

/// The time since when a reservation is of no use: its owner is gone, and so is the pod that it replaces.
fn useless_since(replay: &Replay<'_>, reservation: &Reservation) -> Option<Timestamp> {
    let owner_gone = replay.state.owners.get(&reservation.id.owner)?.gone?;
    let pod_gone = replay.gone.get(&reservation.replaces()?.uid)?;
    Some(owner_gone.max(*pod_gone))
}

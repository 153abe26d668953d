//! I3 and I7: a reservation goes when it is of no more use; not before, and not long after.

use super::past::take_off;
use super::picture::Picture;
use super::replay::{Kept, Replay, Stored};
use super::{Version, Violation, expiry, room};
use common::model::ids::NodeName;
use common::model::{Node, Pod, Reservation, Uid};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// How long an expired reservation may lie about.
const EXPIRED_MAX: SignedDuration = SignedDuration::from_secs(90);
/// How long one may that nobody needs.
const IDLE_MAX: SignedDuration = SignedDuration::from_secs(60);

/// Compares the reservations of a node with those that it had.
pub(super) fn check<'h>(
    replay: &mut Replay<'h>,
    version: &Version,
    node: &Arc<Node>,
    (writer, is_foreign): (Option<Stored<'h>>, bool),
) {
    let writer = writer.filter(|writer| replay.is_ours(&writer.write.user));
    let mut now: Vec<(String, &Arc<Reservation>)> = Vec::new();
    for reservation in node.reservations.iter().filter_map(|parsed| parsed.valid()) {
        now.push((reservation.id.to_string(), reservation));
    }
    let mine = |(on, _): &&(NodeName, String)| *on == node.name;
    let before: Vec<(NodeName, String)> = replay.since.keys().filter(mine).cloned().collect();
    for key in before.into_iter().filter(|(_, id)| !now.iter().any(|(other, _)| other == id)) {
        if let Some(writer) = writer
            && let Some(what) = lost(replay, &key, version, writer)
        {
            replay.violations.push(Violation::new("I3", version.revision, what));
        }
        let replaced = replay.since.get(&key).and_then(|kept| Some(kept.reservation.replaces()?.uid.clone()));
        replay.taken_away.extend(replaced.filter(|_| is_foreign).map(|uid| (uid, version.at)));
        late(replay, &key, version.revision, version.at);
        replay.since.remove(&key);
    }
    for (id, reservation) in now {
        let kept = Kept { revision: version.revision, reservation: Arc::clone(reservation) };
        let is_same = |known: &Kept| *known.reservation == **reservation;
        let key = (node.name.clone(), id);
        if !is_foreign && !replay.since.get(&key).is_some_and(is_same) {
            ends_in_time(replay, reservation, version);
        }
        let known = replay.since.entry(key).or_insert(kept);
        known.reservation = Arc::clone(reservation);
    }
}

/// I7: what ours write ends in time.
fn ends_in_time(replay: &mut Replay<'_>, reservation: &Reservation, version: &Version) {
    let empty = reservation.replaces().and_then(|replaced| replay.gone.get(&replaced.uid)).copied();
    replay.counts.check("I7");
    let wrong = expiry::too_far(reservation, empty, version.at);
    replay.violations.extend(wrong.map(|what| Violation::new("I7", version.revision, what)));
}

/// What is left over at the end.
pub(super) fn at_end(replay: &mut Replay<'_>) {
    let all: Vec<(NodeName, String)> = replay.since.keys().cloned().collect();
    let end = replay.history.end;
    for key in &all {
        late(replay, key, 0, end);
        let Some(reservation) = replay.since.get(key).map(|kept| Arc::clone(&kept.reservation)) else {
            continue;
        };
        let empty = reservation.replaces().and_then(|replaced| replay.gone.get(&replaced.uid)).copied();
        let wrong = empty.and_then(|empty| expiry::too_far(&reservation, Some(empty), end));
        replay.violations.extend(wrong.map(|what| Violation::new("I7", 0, what)));
    }
}

/// Why a reservation should not have been released by us, if so. It is excused if it was of no more use by what we knew; and not
/// if it was another one than that which was judged.
fn lost<'h>(
    replay: &mut Replay<'h>,
    (node, id): &(NodeName, String),
    version: &Version,
    writer: Stored<'h>,
) -> Option<String> {
    replay.counts.check("I3");
    let reservation = Arc::clone(&replay.since.get(&(node.clone(), id.clone()))?.reservation);
    let what = needed(&replay.picture, node, &reservation, version.at)?;
    let was_idle = |then: &Picture, at: Timestamp| {
        let mut then = then.clone();
        let judged = take_off(&mut then, node, &reservation.id);
        judged.is_some_and(|judged| judged == reservation) && needed(&then, node, &reservation, at).is_none()
    };
    if replay.was_right(writer, (node, version.revision), was_idle) {
        replay.counts.excuse("I3");
        return None;
    }
    Some(what)
}

/// Why a reservation that was just removed from `node` was still needed, if so.
pub fn needed(
    picture: &Picture,
    node: &NodeName,
    reservation: &Reservation,
    now: Timestamp,
) -> Option<String> {
    let (id, pods): (_, Vec<&Arc<Pod>>) = (&reservation.id, picture.counted(node).collect());
    let is_over = !reservation.is_live(now + SignedDuration::from_secs(2));
    if is_over || room::taker(picture, &pods, &[], reservation).is_some() {
        return None;
    }
    let replaced = reservation.replaces()?;
    if let Some(pod) = picture.pods.get(&replaced.uid).filter(|pod| pod.is_counted()) {
        // Nobody removes it any more: the reservation was made for nothing.
        return pod.deleting.then(|| format!("{id} was released while {} was still going", pod.key));
    }
    let is_elsewhere = picture.nodes.get(node).is_some_and(|node| room::is_passed_on(node, reservation));
    if is_elsewhere || is_outlived(picture, reservation, now) {
        return None;
    }
    let (short, kept) = (short(picture, &id.owner)?, kept(picture, &id.owner, now) + 1);
    (kept <= short).then(|| format!("{id} was released, and its owner is short of {short} with {kept} kept"))
}

/// Whether a newer reservation waits for a pod of the same name, which needs one place only. So it is with pods of a StatefulSet,
/// and with pods that nobody controls.
fn is_outlived(picture: &Picture, reservation: &Reservation, now: Timestamp) -> bool {
    let name = |of: &Reservation| {
        let record = of.record().filter(|record| matches!(&*record.owner.kind, "StatefulSet" | "Pod"))?;
        Some((record.owner.namespace.clone(), record.replaces.as_ref()?.name.clone()))
    };
    let nodes = picture.nodes.values();
    let mut others = nodes.flat_map(|node| room::open_seats(picture, node, now));
    name(reservation).is_some()
        && others.any(|other| name(other) == name(reservation) && other.created() >= reservation.created())
}

/// How many pods the owner still wants; none if that cannot be known.
pub fn short(picture: &Picture, owner: &Uid) -> Option<i64> {
    let workload = picture.owners.get(owner)?;
    let wanted = if workload.gone.is_some() { 0 } else { workload.wanted? };
    let is_there =
        |pod: &&Arc<Pod>| pod.is_counted() && !pod.deleting && picture.owners.owns(owner, pod, None);
    let there = picture.pods.values().filter(is_there).count();
    Some(wanted - i64::try_from(there).unwrap_or(i64::MAX))
}

/// How many live reservations of the owner there are that nobody has taken and whose pod is gone. What replaces no pod is no place
/// of one that is lacking.
pub fn kept(picture: &Picture, owner: &Uid, now: Timestamp) -> i64 {
    let open = picture.nodes.values().flat_map(|node| room::open_of(picture, node, |one| one.is_live(now)));
    let own = open.filter(|one| one.id.owner == *owner && one.replaces().is_some());
    i64::try_from(own.count()).unwrap_or(i64::MAX)
}

/// Complains about a reservation that was there for too long by `now`.
fn late(replay: &mut Replay<'_>, key: &(NodeName, String), revision: u64, now: Timestamp) {
    let Some(kept) = replay.since.get(key) else { return };
    let (node, id) = key;
    replay.counts.check("I7");
    let expired = kept.reservation.expires().filter(|expires| now.duration_since(*expires) > EXPIRED_MAX);
    let what = match expired {
        Some(expires) => Some(format!("{id} on {node} ended at {expires} and was there until {now}")),
        None => idle(replay, &kept.reservation)
            .filter(|since| now.duration_since(*since) > IDLE_MAX)
            .map(|since| format!("{id} on {node} was of no use from {since} on and there until {now}")),
    };
    replay.violations.extend(what.map(|what| Violation::new("I7", revision, what)));
}

/// Since when nobody needs it: its owner is gone, and so is the pod that it replaces.
fn idle(replay: &Replay<'_>, reservation: &Reservation) -> Option<Timestamp> {
    let owner_gone = replay.picture.owners.get(&reservation.id.owner)?.gone?;
    let pod_gone = replay.gone.get(&reservation.replaces()?.uid)?;
    Some(owner_gone.max(*pod_gone))
}

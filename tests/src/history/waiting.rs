//! I16 and I24: when all is calm, no pod of ours waits for what is there, be it free or kept for that very pod.

use super::picture::Picture;
use super::replay::Replay;
use super::{Violation, room};
use common::model::reservation::Placement;
use common::model::{Node, NodeName, Pod, Reservation};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// A pod that has waited for less may yet be looked at, and so may one that waits for room which was kept until then.
const PATIENCE: SignedDuration = SignedDuration::from_secs(60);
/// How long after its grace the pod that is replaced is waited for.
const GRACE_MORE: SignedDuration = SignedDuration::from_secs(60);

/// Looks at the pods that have no node at the end.
pub(super) fn at_end(replay: &mut Replay<'_>) {
    let end = replay.history.end;
    let picture = &replay.picture;
    let is_open = |node: &&Arc<Node>| node.is_ready && !node.unschedulable && node.taints.is_empty();
    let mut found = Vec::new();
    let waiting: Vec<&Arc<Pod>> = picture.pods.values().filter(|pod| is_waiting(pod, replay, end)).collect();
    if waiting.is_empty() {
        replay.counts.skip("I24");
    }
    for pod in waiting {
        let mut nodes =
            picture.nodes.values().filter(is_open).filter(|node| has_place(picture, node, pod, end));
        match nodes.find(|node| !is_kept_back(picture, pod, &node.name, end)) {
            Some(node) => {
                let what = format!("{} waits, and {} has room for it", pod.key, node.name);
                found.push(Violation::new("I24", 0, what));
            }
            None => replay.counts.check("I24"),
        }
    }
    replay.violations.extend(found);
}

fn is_waiting(pod: &Pod, replay: &Replay<'_>, end: Timestamp) -> bool {
    let is_ours = replay.rules.schedulers.contains(&*pod.spec.scheduler_name);
    let is_old = pod.created.is_some_and(|created| end.duration_since(created.time()) > PATIENCE);
    let is_free = pod.node.is_none() && !pod.deleting && !pod.is_ended() && pod.spec.gates.is_empty();
    is_ours && is_old && is_free
}

/// Whether a node has had a place for a pod for some time: also without what ended a moment ago.
fn has_place(picture: &Picture, node: &Node, pod: &Pod, now: Timestamp) -> bool {
    fits(picture, node, pod, now) && fits(picture, node, pod, now - PATIENCE)
}

/// Whether a pod could be bound to a node at `now`: it has room beside the pods there and what is kept for others, with the seat
/// that is kept for this very pod, if there is one.
pub fn fits(picture: &Picture, node: &Node, pod: &Pod, now: Timestamp) -> bool {
    let is_named = |one: &Reservation| one.replaces().is_some_and(|replaced| replaced.name == pod.key.name);
    let open = room::open_seats(picture, node, now).into_iter();
    let own = open.filter(|one| picture.may_use(pod, one));
    let own = own.min_by_key(|one| (!is_named(one), one.created(), one.id.clone()));
    if !has_ports(picture, node, pod, (own, now)) {
        return false;
    }
    let stamp = own.map(|one| one.id.to_string().into());
    let there = pod.bound(node.name.clone(), stamp, Some(now));
    let mut then = picture.clone();
    then.pods.insert(pod.uid.clone(), Arc::new(there.clone()));
    room::lacking(&then, &there, now).is_empty()
}

/// Whether the host ports that a pod asks for are neither used on a node nor kept there for others than it.
fn has_ports(
    picture: &Picture,
    node: &Node,
    pod: &Pod,
    (own, now): (Option<&Arc<Reservation>>, Timestamp),
) -> bool {
    let used = picture.counted(&node.name).flat_map(|other| other.spec.ports.iter());
    let open = room::open_seats(picture, node, now).into_iter();
    let kept = open.filter(|one| own.is_none_or(|own| own.id != one.id)).flat_map(|one| one.ports.iter());
    let taken: Vec<_> = used.chain(kept).collect();
    !pod.spec.ports.iter().any(|port| taken.iter().any(|other| other.conflicts_with(port)))
}

/// Whether a pod is kept back from `node` for another one: placement `require` does that as long as the reservation lives, `wait`
/// while the pod that it replaces is on its way out.
pub fn is_kept_back(picture: &Picture, pod: &Pod, node: &NodeName, now: Timestamp) -> bool {
    let others = picture.nodes.values().filter(|other| other.name != *node);
    let mut seats = others.flat_map(|other| other.reservations.iter().map(move |one| (other, one)));
    seats.any(|(on, one)| {
        let Some(one) = one.valid().filter(|one| one.is_live(now) && picture.may_use(pod, one)) else {
            return false;
        };
        let replaced = one.replaces().and_then(|replaced| picture.pods.get(&replaced.uid));
        let leaves = replaced.filter(|pod| pod.is_counted() && pod.node.as_ref() == Some(&on.name));
        match one.record().map(|record| record.placement) {
            Some(Placement::Require) => true,
            Some(Placement::Wait) => {
                leaves.and_then(|pod| pod.gone_by()).is_some_and(|by| now < by + GRACE_MORE)
            }
            Some(Placement::Prefer) | None => false,
        }
    })
}

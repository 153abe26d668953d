//! I24: after a calm end no pod of ours waits while a node has room for it, free or reserved for that pod.

use super::cluster_state::ClusterState;
use super::replay::Replay;
use super::{Violation, room};
use common::model::reservation::Placement;
use common::model::{Node, NodeName, Pod, Reservation};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// The scheduler may not have looked yet at a pod that has waited for less, or at room that was reserved until less than this ago.
const WAIT_MIN: SignedDuration = SignedDuration::from_secs(60);
/// With placement `wait`, how long after its grace period the replaced pod is waited for.
const GRACE_MORE: SignedDuration = SignedDuration::from_secs(60);

/// Checks the pods that have no node at the end.
pub(super) fn at_end(replay: &mut Replay<'_>) {
    let end = replay.history.end;
    let state = &replay.state;
    let is_open = |node: &&Arc<Node>| node.is_ready && !node.unschedulable && node.taints.is_empty();
    let mut found = Vec::new();
    let waiting: Vec<&Arc<Pod>> = state.pods.values().filter(|pod| is_waiting(pod, replay, end)).collect();
    if waiting.is_empty() {
        replay.counts.skip("I24");
    }
    for pod in waiting {
        let mut nodes = state.nodes.values().filter(is_open).filter(|node| has_place(state, node, pod, end));
        match nodes.find(|node| !must_wait_elsewhere(state, pod, &node.name, end)) {
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
    let is_ours = replay.settings.schedulers.contains(&*pod.spec.scheduler_name);
    let is_old = pod.created.is_some_and(|created| end.duration_since(created.time()) > WAIT_MIN);
    let is_free = pod.node.is_none() && !pod.deleting && !pod.is_ended() && pod.spec.gates.is_empty();
    is_ours && is_old && is_free
}

/// Whether a node has had room for a pod for some time: also without reservations that have just ended.
fn has_place(state: &ClusterState, node: &Node, pod: &Pod, now: Timestamp) -> bool {
    fits(state, node, pod, now) && fits(state, node, pod, now - WAIT_MIN)
}

/// Whether a pod could be bound to a node at `now`: the node has room beside its pods and what is held for others. The pod may use
/// an open seat that is reserved for it.
pub fn fits(state: &ClusterState, node: &Node, pod: &Pod, now: Timestamp) -> bool {
    let is_named = |one: &Reservation| one.replaces().is_some_and(|replaced| replaced.name == pod.key.name);
    let open = room::open_seats(state, node, now).into_iter();
    let own = open.filter(|one| state.may_use(pod, one));
    let own = own.min_by_key(|one| (!is_named(one), one.created(), one.id.clone()));
    if !has_ports(state, node, pod, (own, now)) {
        return false;
    }
    let stamp = own.map(|one| one.id.to_string().into());
    let there = pod.bound(node.name.clone(), stamp, Some(now));
    let mut then = state.clone();
    then.pods.insert(pod.uid.clone(), Arc::new(there.clone()));
    room::lacking(&then, &there, now).is_empty()
}

/// Whether the host ports of a pod are neither used on a node nor reserved there for others.
fn has_ports(
    state: &ClusterState,
    node: &Node,
    pod: &Pod,
    (own, now): (Option<&Arc<Reservation>>, Timestamp),
) -> bool {
    let used = state.counted(&node.name).flat_map(|other| other.spec.ports.iter());
    let open = room::open_seats(state, node, now).into_iter();
    let kept = open.filter(|one| own.is_none_or(|own| own.id != one.id)).flat_map(|one| one.ports.iter());
    let taken: Vec<_> = used.chain(kept).collect();
    !pod.spec.ports.iter().any(|port| taken.iter().any(|other| other.conflicts_with(port)))
}

/// Whether a pod must wait for another node than `node`: placement `require` demands that as long as the reservation lives, `wait`
/// while the replaced pod is terminating.
pub fn must_wait_elsewhere(state: &ClusterState, pod: &Pod, node: &NodeName, now: Timestamp) -> bool {
    let others = state.nodes.values().filter(|other| other.name != *node);
    let mut seats = others.flat_map(|other| other.reservations.iter().map(move |one| (other, one)));
    seats.any(|(on, one)| {
        let Some(one) = one.valid().filter(|one| one.is_live(now) && state.may_use(pod, one)) else {
            return false;
        };
        let replaced = one.replaces().and_then(|replaced| state.pods.get(&replaced.uid));
        let leaves = replaced.filter(|pod| pod.is_counted() && pod.node.as_ref() == Some(&on.name));
        match one.record().map(|record| record.placement) {
            Some(Placement::Require) => true,
            Some(Placement::Wait) => {
                leaves.and_then(|pod| pod.deletion_timestamp()).is_some_and(|by| now < by + GRACE_MORE)
            }
            Some(Placement::Prefer) | None => false,
        }
    })
}

//! I16 and I24: when all is calm, no pod of ours waits for what is there.

use super::Violation;
use super::replay::Replay;
use super::room::held_for_others;
use common::model::{Node, Pod};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// A pod that has waited for less may yet be looked at.
const PATIENCE: SignedDuration = SignedDuration::from_secs(60);

/// Looks at the pods that have no node at the end.
pub(super) fn at_end(replay: &mut Replay<'_>) {
    let end = replay.history.end;
    let picture = &replay.picture;
    let is_open = |node: &&Arc<Node>| node.is_ready && !node.unschedulable && node.taints.is_empty();
    let mut found = Vec::new();
    for pod in picture.pods.values().filter(|pod| is_waiting(pod, replay, end)) {
        let mut nodes = picture.nodes.values().filter(is_open);
        if let Some(node) = nodes.find(|node| fits(replay, node, pod, end)) {
            let what = format!("{} waits, and {} has room for it", pod.key, node.name);
            found.push(Violation::new("I24", 0, what));
        }
    }
    replay.violations.extend(found);
}

fn is_waiting(pod: &Pod, replay: &Replay<'_>, end: Timestamp) -> bool {
    let is_ours = replay.rules.schedulers.contains(&*pod.spec.scheduler_name);
    let is_old = pod.created.is_some_and(|created| end.duration_since(created.time()) > PATIENCE);
    let is_free = pod.node.is_none() && !pod.deleting && !pod.is_ended() && pod.spec.gates.is_empty();
    // One for whom a place is kept may be kept back for it.
    let reservations = replay.picture.nodes.values().flat_map(|node| &node.reservations);
    let mut own = reservations.filter_map(|parsed| parsed.valid());
    is_ours && is_old && is_free && !own.any(|one| replay.picture.may_use(pod, one))
}

fn fits(replay: &Replay<'_>, node: &Node, pod: &Pod, end: Timestamp) -> bool {
    let mut there = pod.clone();
    there.node = Some(node.name.clone());
    let mut taken = held_for_others(&replay.picture, &there, end);
    replay.picture.counted(&node.name).for_each(|other| taken.add_assign(other.spec.requests.counted()));
    let mut asks = pod.spec.requests.counted().iter();
    asks.all(|(resource, asked)| {
        asked == 0 || taken.get(&resource) + asked <= node.allocatable.get(&resource)
    })
}

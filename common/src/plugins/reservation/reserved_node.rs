//! Which pod is kept back for which node: placements `wait` and `require`.
//!
//! `wait` keeps a pod back while the pod that it replaces is on its way out of the node, and no longer than a minute after
//! that one's grace. `require` keeps it back for as long as the reservation lives. A reservation keeps back one pod, the
//! first in the order of the queue; the others go wherever they like.

use crate::cluster::ledger::{Entry, State};
use crate::cluster::{Ledger, PodContext, Snapshot};
use crate::framework::ReservedNode;
use crate::model::Pod;
use crate::model::reservation::Placement;
use jiff::{SignedDuration, Timestamp};
use std::cmp::Reverse;

/// How long after its grace the replaced pod is waited for.
const GRACE_MORE: SignedDuration = SignedDuration::from_mins(1);

/// The node that `pod_context` is kept back for.
pub(super) fn reserved_node(pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Option<ReservedNode> {
    let mut usable: Vec<(&Ledger, &Entry)> = usable(pod_context, world).collect();
    if !usable.iter().any(|(ledger, entry)| kept_for(ledger, entry, world.now()).is_some()) {
        return None;
    }
    // Room that is there already goes before room that will be.
    usable.sort_by_key(|(_, entry)| {
        let id = &entry.reservation.id;
        (entry.state == State::Occupied, entry.reservation.created(), &id.owner, &id.seat)
    });
    let mut rivals: Vec<&Pod> = world.waiting_in(&pod_context.pod.key.namespace).map(|pod| &**pod).collect();
    rivals.retain(|pod| is_rival(pod, pod_context.pod));
    rivals.sort_by_key(|pod| (Reverse(pod.spec.priority), pod.created, &pod.key));
    for rival in rivals {
        let rival = world.pod_context(rival);
        if let Some(index) = usable.iter().position(|(_, entry)| rival.may_use(&entry.reservation)) {
            usable.remove(index);
        }
    }
    let (ledger, entry) = usable.first()?;
    kept_for(ledger, entry, world.now())
}

/// The reservations that the pod may use and nobody has taken.
fn usable<'l>(
    pod_context: &'l PodContext<'_>,
    world: &'l Snapshot<'_>,
) -> impl Iterator<Item = (&'l Ledger, &'l Entry)> {
    let is_open = |entry: &Entry| matches!(entry.state, State::Occupied | State::Held | State::Short);
    world.reserved().flat_map(move |ledger| {
        let entries = ledger.entries.iter().filter(move |entry| is_open(entry));
        entries.filter(|entry| pod_context.may_use(&entry.reservation)).map(move |entry| (ledger, entry))
    })
}

/// Whether `pod` waits for the same scheduler, and its turn comes before that of `own`.
fn is_rival(pod: &Pod, own: &Pod) -> bool {
    let turn = |pod: &Pod| (Reverse(pod.spec.priority), pod.created, pod.key.clone());
    pod.uid != own.uid
        && pod.spec.scheduler_name == own.spec.scheduler_name
        && pod.spec.gates.is_empty()
        && turn(pod) < turn(own)
}

/// What a pod would wait for that has this reservation.
fn kept_for(ledger: &Ledger, entry: &Entry, now: Timestamp) -> Option<ReservedNode> {
    let node = ledger.node.name.clone();
    let replaced = entry.reservation.replaces().filter(|_| entry.state == State::Occupied);
    let after = replaced.map(|replaced| replaced.uid.clone());
    match entry.reservation.record()?.placement {
        Placement::Prefer => None,
        Placement::Require => Some(ReservedNode { node, after, is_required: true, until: None }),
        Placement::Wait => {
            let leaving = ledger.pods.iter().find(|pod| Some(&pod.uid) == after.as_ref())?;
            let until = leaving.gone_by()?.checked_add(GRACE_MORE).ok()?;
            (now < until).then_some(ReservedNode { node, after, is_required: false, until: Some(until) })
        }
    }
}

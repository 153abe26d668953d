//! The reserved node of a pod: placements `wait` and `require`. Entry point: [`reserved_node`].
//!
//! `wait` makes a pod wait while the replaced pod is being deleted, at most a minute longer than its grace period. `require` makes
//! it wait as long as the reservation exists. Each reservation makes one pod wait, the first in the order of the queue; other pods
//! of the owner are placed like any pod.

use crate::cluster::ledger::Entry;
use crate::cluster::{Ledger, PodContext, ReservationState, Snapshot};
use crate::framework::ReservedNode;
use crate::model::{Placement, Pod};
use jiff::{SignedDuration, Timestamp};
use std::cmp::Reverse;

/// How much longer than its grace period the replaced pod is waited for.
const EXTRA_GRACE: SignedDuration = SignedDuration::from_mins(1);

/// The node that the pod in `context` goes to or waits for; `None`: it is placed like any pod.
pub(super) fn reserved_node(context: &PodContext<'_>, world: &Snapshot<'_>) -> Option<ReservedNode> {
    let mut usable: Vec<(&Ledger, &Entry)> = usable(context, world).collect();
    if !usable.iter().any(|(ledger, entry)| reserved_node_of(ledger, entry, world.now()).is_some()) {
        return None;
    }
    // Reservations whose room is empty come before those whose replaced pod is still there.
    usable.sort_by_key(|(_, entry)| {
        let id = &entry.reservation.id;
        (entry.state == ReservationState::Occupied, entry.reservation.created(), &id.owner, &id.seat)
    });
    let mut earlier: Vec<&Pod> = world.waiting_in(&context.pod.key.namespace).map(|pod| &**pod).collect();
    earlier.retain(|pod| is_earlier(pod, context.pod));
    earlier.sort_by_key(|pod| (Reverse(pod.spec.priority), pod.created, &pod.key));
    for pod in earlier {
        let earlier_context = world.context(pod);
        if let Some(index) = usable.iter().position(|(_, entry)| earlier_context.may_use(&entry.reservation))
        {
            usable.remove(index);
        }
    }
    let (ledger, entry) = usable.first()?;
    reserved_node_of(ledger, entry, world.now())
}

/// The reservations that the pod may use and that no pod has taken.
fn usable<'l>(
    context: &'l PodContext<'_>,
    world: &'l Snapshot<'_>,
) -> impl Iterator<Item = (&'l Ledger, &'l Entry)> {
    let is_open = |entry: &Entry| {
        matches!(entry.state, ReservationState::Occupied | ReservationState::Held | ReservationState::Short)
    };
    world.reserved().flat_map(move |ledger| {
        let entries = ledger.entries.iter().filter(move |entry| is_open(entry));
        entries.filter(|entry| context.may_use(&entry.reservation)).map(move |entry| (ledger, entry))
    })
}

/// Whether `pod` waits for the same scheduler and comes before `own` in the queue.
fn is_earlier(pod: &Pod, own: &Pod) -> bool {
    let sort_key = |pod: &Pod| (Reverse(pod.spec.priority), pod.created, pod.key.clone());
    pod.uid != own.uid
        && pod.spec.scheduler_name == own.spec.scheduler_name
        && pod.spec.gates.is_empty()
        && sort_key(pod) < sort_key(own)
}

/// The reserved node of a pod that gets this reservation; `None` if the pod does not wait.
fn reserved_node_of(ledger: &Ledger, entry: &Entry, now: Timestamp) -> Option<ReservedNode> {
    let node = ledger.node.name.clone();
    let replaced = entry.reservation.replaces().filter(|_| entry.state == ReservationState::Occupied);
    let after = replaced.map(|replaced| replaced.uid.clone());
    match entry.reservation.record()?.placement {
        Placement::Prefer => None,
        Placement::Require => Some(ReservedNode { node, after, is_required: true, until: None }),
        Placement::Wait => {
            let leaving = ledger.pods.iter().find(|pod| Some(&pod.uid) == after.as_ref())?;
            let until = leaving.deletion_timestamp()?.checked_add(EXTRA_GRACE).ok()?;
            (now < until).then_some(ReservedNode { node, after, is_required: false, until: Some(until) })
        }
    }
}

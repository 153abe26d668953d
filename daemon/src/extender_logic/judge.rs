//! Whether what is kept leaves a node with enough for a pod that kube-scheduler would put there.

use common::cluster::ledger::{Entry, State};
use common::cluster::{Ledger, NodeId, PodContext, Snapshot};
use common::cycle;
use common::framework::{Admission, Filter as _, PreFilter as _, Verdict};
use common::model::{NodeName, ResourceName};
use common::plugins::reservation::Reservation;
use std::sync::Arc;

/// What a pod is told about every node but the one where it has to go.
pub(super) const ELSEWHERE: &str = "node(s) are not where the pod has its place";

/// Whether something on the node is kept, or will be as soon as a pod leaves.
pub(super) fn is_concerned(ledger: &Ledger) -> bool {
    ledger.entries.iter().any(is_open)
}

fn is_open(entry: &Entry) -> bool {
    // One that is taken counts as well: whoever took it may only be on its way.
    entry.state != State::Expired
}

/// The only node that the pod may have, if a reservation of its owner says so (placement `require`). `wait` is no more
/// than a preference here: kube-scheduler would not know what it waits for.
pub(super) fn reserved_node(pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Option<NodeName> {
    match Reservation.pre_filter(pod_context, world) {
        Admission::ReservedNode(reserved_node) if reserved_node.is_required => Some(reserved_node.node),
        _ => None,
    }
}

/// Why the node cannot have the pod.
///
/// As in the scheduler's own filters, it has to fit with and without the pods that are nominated there and are as important
/// as it: they were promised the room, and may also never come.
pub(super) fn refusal(pod_context: &PodContext<'_>, id: NodeId, world: &Snapshot<'_>) -> Option<String> {
    let nominated = cycle::nominated(pod_context, id, world);
    let expected = world.ledger(id).filter(|_| !nominated.is_empty()).and_then(|ledger| {
        let mut with = ledger.clone();
        for pod in nominated.iter().filter(|pod| !ledger.pods.iter().any(|there| there.uid == pod.uid)) {
            with.add(Arc::new(pod.bound(ledger.node.name.clone(), None, None)));
        }
        said(pod_context, id, &world.suppose(with))
    });
    expected.or_else(|| said(pod_context, id, world))
}

fn said(pod_context: &PodContext<'_>, id: NodeId, world: &Snapshot<'_>) -> Option<String> {
    let mut reasons: Vec<String> = Vec::new();
    if let Some(filter) = Reservation.prepare(pod_context, world)
        && let Verdict::Rejects(rejections) = filter(id)
    {
        reasons.extend(rejections.iter().map(|rejection| rejection.reason.to_string()));
    }
    let short = world.ledger(id).and_then(|ledger| short(pod_context, ledger));
    if let Some(resource) = short.filter(|_| reasons.is_empty()) {
        reasons.push(format!("Insufficient {resource}"));
    }
    (!reasons.is_empty()).then(|| reasons.join(", "))
}

/// Something that the node has too little of by our books, and that a reservation there is about.
///
/// The scheduler's own filters leave it to NodeResourcesFit to say that there is too little anyway. Here that has been
/// asked already, by somebody who may know of a pod that left and not of the room that is kept for its replacement; or
/// does not know of a pod that was let through after it.
fn short(pod_context: &PodContext<'_>, ledger: &Ledger) -> Option<ResourceName> {
    let room = ledger.room_for(pod_context);
    let keeps = |entry: &&Entry| {
        is_open(entry)
            && !pod_context.outranks(&entry.reservation, ledger)
            && !pod_context.may_use(&entry.reservation)
    };
    let is_kept = |resource: &ResourceName| {
        ledger.entries.iter().filter(keeps).any(|entry| entry.reservation.amount.get(resource) > 0)
    };
    let asks = pod_context.pod.spec.requests.incoming.iter().filter(|(_, asks)| *asks > 0);
    asks.map(|(resource, asks)| (asks > room.free(&resource), resource))
        .find(|(is_short, resource)| *is_short && is_kept(resource))
        .map(|(_, resource)| resource)
}

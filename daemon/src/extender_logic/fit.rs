//! Whether a pod of kube-scheduler fits a node beside the reservations there.

use common::api::extender::PRIORITY_MAX;
use common::cluster::ledger::Entry;
use common::cluster::{Ledger, NodeId, PodContext, ReservationState, Snapshot};
use common::cycle;
use common::framework::{Admission, Registry, Verdict};
use common::model::{NodeName, Pod, ResourceName};
use std::sync::Arc;

/// The reason on all other nodes when the pod may only have its reserved node.
pub(super) const NOT_RESERVED_NODE: &str = "node(s) are not where the pod has its place";

/// Whether the node has reservations that count now or once a pod leaves.
pub(super) fn has_reservations(ledger: &Ledger) -> bool {
    ledger.entries.iter().any(is_live)
}

fn is_live(entry: &Entry) -> bool {
    // A taken one counts as well: the pod that took it may only be assumed.
    entry.state != ReservationState::Expired
}

/// The only node that the pod may have, if a reservation of its owner has the placement `require`. `wait` is only a preference
/// here: kube-scheduler cannot wait for a node.
pub(super) fn reserved_node(
    context: &PodContext<'_>,
    world: &Snapshot<'_>,
    reservations: &Registry,
) -> Option<NodeName> {
    reservations.pre_filters.iter().find_map(|plugin| match plugin.pre_filter(context, world) {
        Admission::ReservedNode(reserved_node) if reserved_node.is_required => Some(reserved_node.node),
        _ => None,
    })
}

/// Why the pod does not fit the node; `None` if it fits.
///
/// As in kube-scheduler, it has to fit with and without the pods of the same or higher priority that are nominated there: they may
/// come or not.
pub(super) fn refusal(
    context: &PodContext<'_>,
    id: NodeId,
    world: &Snapshot<'_>,
    reservations: &Registry,
) -> Option<String> {
    let nominated = cycle::nominated(context, id, world);
    let with_nominated = world.ledger(id).filter(|_| !nominated.is_empty()).and_then(|ledger| {
        let mut with = ledger.clone();
        for pod in nominated.iter().filter(|pod| !ledger.pods.iter().any(|there| there.uid == pod.uid)) {
            with.add(Arc::new(pod.bound(ledger.node.name.clone(), None, None)));
        }
        refusal_in(context, id, &world.suppose(with), reservations)
    });
    with_nominated.or_else(|| refusal_in(context, id, world, reservations))
}

/// Why the pod does not fit the node as it is in `world`.
fn refusal_in(
    context: &PodContext<'_>,
    id: NodeId,
    world: &Snapshot<'_>,
    reservations: &Registry,
) -> Option<String> {
    let mut reasons: Vec<String> = Vec::new();
    for plugin in &reservations.filters {
        if let Some(filter) = plugin.prepare(context, world)
            && let Verdict::Rejects(rejections) = filter(id)
        {
            reasons.extend(rejections.iter().map(|rejection| rejection.reason.to_string()));
        }
    }
    let insufficient = world.ledger(id).and_then(|ledger| insufficient(context, ledger));
    if let Some(resource) = insufficient.filter(|_| reasons.is_empty()) {
        reasons.push(format!("Insufficient {resource}"));
    }
    (!reasons.is_empty()).then(|| reasons.join(", "))
}

/// A resource of which the node has too little for the pod by our ledger, and which a reservation there keeps.
///
/// In our own scheduler NodeResourcesFit rejects such a node. kube-scheduler has run that filter already, but it may know that a
/// pod left and not know the reservation for its replacement, or not know a pod that passed after it.
fn insufficient(context: &PodContext<'_>, ledger: &Ledger) -> Option<ResourceName> {
    let room = ledger.room_for(context);
    let keeps = |entry: &&Entry| {
        is_live(entry)
            && !context.outranks(&entry.reservation, ledger)
            && !context.may_use(&entry.reservation)
    };
    let is_kept = |resource: &ResourceName| {
        ledger.entries.iter().filter(keeps).any(|entry| entry.reservation.amount.get(resource) > 0)
    };
    let requests = context.pod.spec.requests.incoming.iter().filter(|(_, amount)| *amount > 0);
    requests
        .map(|(resource, amount)| (amount > room.free(&resource), resource))
        .find(|(is_short, resource)| *is_short && is_kept(resource))
        .map(|(_, resource)| resource)
}

/// Nodes with a reservation that the pod may use get the highest score, all others 0.
pub(super) fn prioritize(pod: &Pod, nodes: &[NodeName], world: &Snapshot<'_>) -> Vec<(NodeName, i64)> {
    let context = world.context(pod);
    let is_own = |name: &NodeName| {
        let ledger = world.find(name).and_then(|id| world.ledger(id));
        ledger.is_some_and(|ledger| ledger.room_for(&context).own.is_some())
    };
    nodes.iter().map(|name| (name.clone(), if is_own(name) { PRIORITY_MAX } else { 0 })).collect()
}

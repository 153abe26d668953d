//! Which changes can make enough room on a node for a pod that lacked it.

use super::{NodeResourcesFit, filter};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, Ledger, Snapshot};
use crate::framework::{EnqueueExtensions, QueueingHint};
use crate::model::{Node, Pod, ResourceName, Resources};
use std::borrow::Cow;

impl EnqueueExtensions for NodeResourcesFit {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const FREES: ActionType = ActionType::DELETE.or(ActionType::UPDATE_POD_SCALE_DOWN);
        const {
            &[
                ClusterEvent::new(EventResource::AssignedPod, FREES),
                ClusterEvent::new(
                    EventResource::Node,
                    ActionType::ADD.or(ActionType::UPDATE_NODE_ALLOCATABLE),
                ),
                ClusterEvent::new(EventResource::TargetPod, ActionType::UPDATE_POD_SCALE_DOWN),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, world: &Snapshot<'_>) -> QueueingHint {
        let requested = filter::requested(&pod.spec.requests.incoming, &self.ignored);
        QueueingHint::queue_if(match change.event.resource {
            EventResource::AssignedPod => {
                let ledger = change.node_name().and_then(|node| world.ledger(world.find(node)?));
                let frees_any = match change.pods() {
                    (Some(old), Some(new)) => {
                        let frees = |resource: &ResourceName| {
                            let of = |pod: &Pod| pod.spec.requests.counted().get(resource);
                            of(old) > of(new)
                        };
                        requested.iter().any(|(resource, _)| frees(resource))
                    }
                    _ => true,
                };
                frees_any
                    && ledger
                        .is_some_and(|ledger| fits(&requested, &ledger.node, &used_by_peers(pod, ledger)))
            }
            EventResource::Node => match change.nodes() {
                (old, Some(new)) => {
                    fits(&requested, new, &Resources::default()) && grows(&requested, old, new)
                }
                _ => true,
            },
            _ => true,
        })
    }
}

fn fits(requested: &[(ResourceName, i64)], node: &Node, used: &Resources) -> bool {
    let has = |(resource, asks): &(ResourceName, i64)| {
        *asks <= node.allocatable.get(resource).saturating_sub(used.get(resource))
    };
    node.problem.is_none() && requested.iter().all(has)
}

/// What the pods of a node use that the pod cannot preempt. While this leaves too little room, nothing helps the pod on this node.
fn used_by_peers<'l>(pod: &Pod, ledger: &'l Ledger) -> Cow<'l, Resources> {
    if !pod.spec.preempts || ledger.lowest_priority >= pod.spec.priority {
        return Cow::Borrowed(&ledger.used);
    }
    let peers = ledger.pods.iter().filter(|other| other.spec.priority >= pod.spec.priority);
    let mut used = Resources::default();
    peers.for_each(|peer| used.add_assign(peer.spec.requests.counted()));
    Cow::Owned(used)
}

/// Whether the node is new or has more than before of anything that is requested, or can be read again.
fn grows(requested: &[(ResourceName, i64)], old: Option<&Node>, new: &Node) -> bool {
    let Some(old) = old.filter(|old| old.problem.is_none()) else { return true };
    let grows =
        |(resource, _): &(ResourceName, i64)| new.allocatable.get(resource) > old.allocatable.get(resource);
    requested.iter().any(grows)
}

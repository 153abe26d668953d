//! Which changes can help a pod from which reservations keep room.

use super::{ReservationPlugin, is_own, numbers, ports};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, Ledger, Snapshot};
use crate::framework::{EnqueueExtensions, QueueingHint};
use crate::model::{Pod, ResourceName};

impl EnqueueExtensions for ReservationPlugin {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const NODE: ActionType =
            ActionType::ADD.or(ActionType::UPDATE_NODE_ALLOCATABLE).or(ActionType::UPDATE_NODE_ANNOTATION);
        const {
            &[
                ClusterEvent::new(EventResource::Node, NODE),
                // A pod that takes a seat may take less than the reservation kept.
                ClusterEvent::new(EventResource::AssignedPod, ActionType::ALL),
                ClusterEvent::new(EventResource::TargetPod, ActionType::UPDATE),
                ClusterEvent::new(EventResource::Reservation, ActionType::ALL),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, world: &Snapshot<'_>) -> QueueingHint {
        let node = change.node_name().filter(|_| change.event.resource != EventResource::TargetPod);
        let Some(node) = node else { return QueueingHint::Queue };
        let ledger = world.find(node).and_then(|id| world.ledger(id));
        QueueingHint::queue_if(ledger.is_some_and(|ledger| may_have_room(pod, ledger, world)))
    }
}

/// Whether the pod may fit beside the pods and reservations of the node. What preemption would make of them is not computed.
fn may_have_room(pod: &Pod, ledger: &Ledger, world: &Snapshot<'_>) -> bool {
    let (context, asks) = (world.context(pod), &pod.spec.requests.incoming);
    let room = ledger.room_for(&context);
    let fits =
        |(resource, asks): (ResourceName, i64)| asks <= 0 || numbers(&resource, asks, &room).short() == 0;
    let preempts = pod.spec.preempts && ledger.lowest_priority < pod.spec.priority;
    preempts
        || is_own(&context, ledger)
        || asks.iter().all(fits) && ports(&pod.spec.ports, ledger, &room).is_none()
}

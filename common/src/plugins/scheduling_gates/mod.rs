//! SchedulingGates: a pod with scheduling gates is not queued until all gates are removed.

#[cfg(test)]
mod tests;

use super::{Descriptor, implementations};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, Snapshot};
use crate::framework::{EnqueueExtensions, Plugin, PreEnqueue, QueueingHint, Reason, Rejection};
use crate::model::ExtensionPoint;
use crate::model::Pod;

pub struct SchedulingGates;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in(
        "SchedulingGates",
        &[ExtensionPoint::PreEnqueue],
        || implementations!(SchedulingGates => pre_enqueue, enqueue_extensions),
    )
    .upstream()
    .by_default(0)
}

impl Plugin for SchedulingGates {
    fn name(&self) -> &'static str {
        "SchedulingGates"
    }
}

impl PreEnqueue for SchedulingGates {
    fn check(&self, pod: &Pod) -> Option<Rejection> {
        let gates = &pod.spec.gates;
        (!gates.is_empty()).then(|| Rejection::new(self.name(), Reason::Gates(gates.clone())))
    }
}

impl EnqueueExtensions for SchedulingGates {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const { &[ClusterEvent::new(EventResource::TargetPod, ActionType::UPDATE_POD_SCHEDULING_GATES_ELIMINATED)] }
    }

    fn hint(&self, _pod: &Pod, _change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        QueueingHint::Queue
    }
}

//! NodeUnschedulable: rejects cordoned nodes for pods that do not tolerate the taint of a cordon.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, PodContext, Snapshot};
use crate::framework::{
    EnqueueExtensions, Filter, NodeFilter, Plugin, QueueingHint, Reason, Scope, Verdict, ledger_filter,
};
use crate::model::ids::Text;
use crate::model::taint::{Taint, TaintEffect};
use crate::model::{ExtensionPoint, Pod};
use std::sync::Arc;

/// The taint that the node controller adds to cordoned nodes. `spec.unschedulable` alone counts as that taint: the controller may
/// not have added it yet.
const CORDON: &str = "node.kubernetes.io/unschedulable";

pub struct NodeUnschedulable;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in("NodeUnschedulable", &[ExtensionPoint::PreFilter, ExtensionPoint::Filter], || {
        let plugin = Arc::new(NodeUnschedulable);
        Implementations {
            filter: Some(plugin.clone()),
            enqueue_extensions: Some(plugin),
            ..Implementations::default()
        }
    })
    .upstream()
    .by_default(0)
}

impl Plugin for NodeUnschedulable {
    fn name(&self) -> &'static str {
        "NodeUnschedulable"
    }
}

impl Filter for NodeUnschedulable {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let tolerated = tolerates_cordon(context.pod);
        ledger_filter(world, move |ledger| {
            if ledger.node.unschedulable && !tolerated {
                Verdict::rejects(self.name(), Reason::Unschedulable)
            } else {
                Verdict::Fits
            }
        })
    }
}

impl EnqueueExtensions for NodeUnschedulable {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const {
            &[
                ClusterEvent::new(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_TAINT)),
                ClusterEvent::new(EventResource::TargetPod, ActionType::UPDATE_POD_TOLERATION),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        QueueingHint::queue_if(match change.nodes() {
            (old, Some(new)) => !new.unschedulable && old.is_none_or(|old| old.unschedulable),
            _ => tolerates_cordon(pod),
        })
    }
}

fn tolerates_cordon(pod: &Pod) -> bool {
    let cordon = Taint { key: CORDON.into(), value: Text::default(), effect: TaintEffect::NoSchedule };
    pod.spec.tolerations.iter().any(|toleration| toleration.tolerates(&cordon))
}

//! NodeUnschedulable: rejects cordoned nodes for pods that do not tolerate the taint of a cordon.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{PodContext, Snapshot};
use crate::framework::{Filter, NodeFilter, Plugin, Reason, Scope, Verdict, ledger_filter};
use crate::model::ExtensionPoint;
use crate::model::ids::Text;
use crate::model::taint::{Taint, TaintEffect};
use std::sync::Arc;

/// The taint that the node controller adds to cordoned nodes. `spec.unschedulable` alone counts as that taint: the controller may
/// not have added it yet.
const CORDON: &str = "node.kubernetes.io/unschedulable";

pub struct NodeUnschedulable;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in("NodeUnschedulable", &[ExtensionPoint::PreFilter, ExtensionPoint::Filter], || {
        let plugin = Arc::new(NodeUnschedulable);
        Implementations { filter: Some(plugin), ..Implementations::default() }
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
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let cordon = Taint { key: CORDON.into(), value: Text::default(), effect: TaintEffect::NoSchedule };
        let tolerated =
            pod_context.pod.spec.tolerations.iter().any(|toleration| toleration.tolerates(&cordon));
        ledger_filter(world, move |ledger| {
            if ledger.node.unschedulable && !tolerated {
                Verdict::rejects(self.name(), Reason::Unschedulable)
            } else {
                Verdict::Fits
            }
        })
    }
}

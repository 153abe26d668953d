//! NodeUnschedulable: a cordoned node takes only pods that tolerate the cordon's taint.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{PodContext, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{Filter, NodeFilter, Plugin, Reason, Scope, Verdict, on_ledger};
use crate::model::ids::Text;
use crate::model::taint::{Effect, Taint};
use std::sync::Arc;

/// The taint that the node controller puts on cordoned nodes. The cordon itself counts as that taint, since the
/// controller may not have come round yet.
const CORDON: &str = "node.kubernetes.io/unschedulable";

/// The plugin.
pub struct NodeUnschedulable;

/// The plugin at its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    let plugin = Arc::new(NodeUnschedulable);
    Kit { filter: Some(plugin), ..Kit::default() }
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
        let cordon = Taint { key: CORDON.into(), value: Text::default(), effect: Effect::NoSchedule };
        let tolerated =
            pod_context.pod.spec.tolerations.iter().any(|toleration| toleration.tolerates(&cordon));
        on_ledger(world, move |ledger| {
            if ledger.node.unschedulable && !tolerated {
                Verdict::rejects(self.name(), Reason::Unschedulable)
            } else {
                Verdict::Fits
            }
        })
    }
}

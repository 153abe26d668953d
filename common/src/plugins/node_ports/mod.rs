//! NodePorts: no two pods of a node have the same port of it.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{PodContext, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{Filter, NodeFilter, Plugin, Reason, Scope, Verdict, on_ledger};
use crate::model::{HostPort, Pod};
use std::sync::Arc;

/// The plugin.
pub struct NodePorts;

/// The plugin at its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    Kit { filter: Some(Arc::new(NodePorts)), ..Kit::default() }
}

impl Plugin for NodePorts {
    fn name(&self) -> &'static str {
        "NodePorts"
    }
}

impl Filter for NodePorts {
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let wanted = &pod_context.pod.spec.ports;
        if wanted.is_empty() {
            return None;
        }
        on_ledger(world, |ledger| {
            let ports: Box<[HostPort]> =
                wanted.iter().filter(|port| is_taken(port, &ledger.pods)).cloned().collect();
            if ports.is_empty() {
                return Verdict::Fits;
            }
            Verdict::rejects(self.name(), Reason::Ports { ports, kept: Box::default() })
        })
    }
}

/// Whether one of these pods has the port, or one that cannot be had beside it.
pub(super) fn is_taken(port: &HostPort, pods: &[Arc<Pod>]) -> bool {
    pods.iter().any(|pod| pod.spec.ports.iter().any(|taken| taken.conflicts_with(port)))
}

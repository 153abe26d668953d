//! NodePorts: no two pods on a node may use the same host port.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, Ledger, PodContext, Snapshot};
use crate::framework::{
    EnqueueExtensions, Evidence, Filter, NodeFilter, Plugin, QueueingHint, Reason, Scope, Verdict,
    ledger_filter,
};
use crate::model::ExtensionPoint;
use crate::model::{HostPort, Pod};
use std::slice;
use std::sync::Arc;

pub struct NodePorts;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in("NodePorts", &[ExtensionPoint::PreFilter, ExtensionPoint::Filter], || {
        let plugin = Arc::new(NodePorts);
        Implementations {
            filter: Some(plugin.clone()),
            enqueue_extensions: Some(plugin),
            ..Implementations::default()
        }
    })
    .upstream()
    .by_default(0)
}

impl Plugin for NodePorts {
    fn name(&self) -> &'static str {
        "NodePorts"
    }
}

impl Filter for NodePorts {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let requested = &context.pod.spec.ports;
        if requested.is_empty() {
            return None;
        }
        ledger_filter(world, |ledger| {
            let ports: Box<[HostPort]> =
                requested.iter().filter(|port| is_in_use(port, &ledger.pods)).cloned().collect();
            if ports.is_empty() {
                return Verdict::Fits;
            }
            Verdict::rejects(self.name(), Reason::Ports { ports, blocked_by: Box::default() })
        })
    }

    fn evidence(
        &self,
        reason: Option<&Reason>,
        _context: &PodContext<'_>,
        ledger: &Ledger,
        _world: &Snapshot<'_>,
    ) -> Option<Evidence> {
        port_users(reason?, ledger)
    }
}

impl EnqueueExtensions for NodePorts {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const {
            &[
                ClusterEvent::new(EventResource::AssignedPod, ActionType::DELETE),
                ClusterEvent::new(EventResource::Node, ActionType::ADD),
            ]
        }
    }

    fn hint(&self, pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        let is_freed =
            |gone: &Arc<Pod>| pod.spec.ports.iter().any(|port| is_in_use(port, slice::from_ref(gone)));
        QueueingHint::queue_if(change.pods().0.is_none_or(is_freed))
    }
}

/// The ports of which `reason` speaks, each with the pod on the node that uses it.
pub(super) fn port_users(reason: &Reason, ledger: &Ledger) -> Option<Evidence> {
    let Reason::Ports { ports, .. } = reason else { return None };
    let user = |port: &HostPort| {
        let pod = ledger.pods.iter().find(|pod| pod.spec.ports.iter().any(|own| own.conflicts_with(port)));
        (port.clone(), pod.map(|pod| pod.key.clone()))
    };
    Some(Evidence::Ports(ports.iter().map(user).collect()))
}

/// Whether one of these pods uses the port, or one that conflicts with it.
pub(super) fn is_in_use(port: &HostPort, pods: &[Arc<Pod>]) -> bool {
    pods.iter().any(|pod| pod.spec.ports.iter().any(|used| used.conflicts_with(port)))
}

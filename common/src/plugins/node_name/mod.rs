//! NodeName: a pod with `spec.nodeName` fits that node only.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, PodContext, Snapshot};
use crate::framework::{
    Admission, EnqueueExtensions, Filter, NodeFilter, Plugin, PreFilter, QueueingHint, Reason, Verdict,
    ledger_filter,
};
use crate::model::{ExtensionPoint, Pod};
use std::sync::Arc;

pub struct NodeNamePlugin;

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in("NodeName", &[ExtensionPoint::PreFilter, ExtensionPoint::Filter], || {
        let plugin = Arc::new(NodeNamePlugin);
        Implementations {
            pre_filter: Some(plugin.clone()),
            filter: Some(plugin.clone()),
            enqueue_extensions: Some(plugin),
            ..Implementations::default()
        }
    })
    .upstream()
    .by_default(0)
}

impl Plugin for NodeNamePlugin {
    fn name(&self) -> &'static str {
        "NodeName"
    }
}

impl PreFilter for NodeNamePlugin {
    fn pre_filter(&self, context: &PodContext<'_>, _world: &Snapshot<'_>) -> Admission {
        match &context.pod.node {
            Some(named) => Admission::Only([named.clone()].into()),
            None => Admission::All,
        }
    }
}

impl Filter for NodeNamePlugin {
    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let named = context.pod.node.as_ref()?;
        ledger_filter(world, move |ledger| match &ledger.node.name {
            name if name == named => Verdict::Fits,
            _ => Verdict::rejects(self.name(), Reason::OtherNode),
        })
    }
}

impl EnqueueExtensions for NodeNamePlugin {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const { &[ClusterEvent::new(EventResource::Node, ActionType::ADD)] }
    }

    fn hint(&self, _pod: &Pod, _change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        QueueingHint::Queue
    }
}

//! NodeDeclaredFeatures: a pod that uses features which only some kubelets have fits nodes that declare these features.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{ActionType, ClusterChange, ClusterEvent, EventResource, PodContext, Snapshot};
use crate::framework::{
    BlockerClass, EnqueueExtensions, Filter, NodeFilter, Plugin, QueueingHint, RefusalCode, RefusalKind,
    Scope, StaticReason, Verdict, ledger_filter,
};
use crate::model::{ExtensionPoint, Pod};
use std::sync::Arc;

pub struct NodeDeclaredFeatures;

const MISSING: StaticReason = RefusalKind::unresolvable(RefusalCode::NodeFeatures, BlockerClass::Spec)
    .with_text("node(s) didn't match Pod's required features");

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in("NodeDeclaredFeatures", &[ExtensionPoint::PreFilter, ExtensionPoint::Filter], || {
        let plugin = Arc::new(NodeDeclaredFeatures);
        Implementations {
            filter: Some(plugin.clone()),
            enqueue_extensions: Some(plugin),
            ..Implementations::default()
        }
    })
    .upstream()
    .by_default(0)
}

impl Plugin for NodeDeclaredFeatures {
    fn name(&self) -> &'static str {
        "NodeDeclaredFeatures"
    }
}

impl Filter for NodeDeclaredFeatures {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let needs = &context.pod.spec.needs;
        if needs.is_empty() {
            return None;
        }
        ledger_filter(world, |ledger| {
            if ledger.node.declares(needs) {
                Verdict::Fits
            } else {
                Verdict::RejectsStatic { plugin: self.name(), reason: &MISSING }
            }
        })
    }
}

impl EnqueueExtensions for NodeDeclaredFeatures {
    fn events_to_register(&self) -> &'static [ClusterEvent] {
        const {
            &[
                ClusterEvent::new(
                    EventResource::Node,
                    ActionType::ADD.or(ActionType::UPDATE_NODE_DECLARED_FEATURE),
                ),
                ClusterEvent::new(EventResource::TargetPod, ActionType::UPDATE),
            ]
        }
    }

    fn hint(&self, _pod: &Pod, change: &ClusterChange, _world: &Snapshot<'_>) -> QueueingHint {
        QueueingHint::queue_if(match (change.pods(), change.nodes()) {
            ((Some(old), Some(new)), _) => old.spec.needs != new.spec.needs,
            (_, (Some(old), Some(new))) => old.features != new.features,
            _ => true,
        })
    }
}

//! NodeDeclaredFeatures: a pod that uses features which only some kubelets have fits nodes that declare these features.

#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{PodContext, Snapshot};
use crate::framework::{
    BlockerClass, Cure, Filter, NodeFilter, Plugin, RefusalCode, RefusalKind, Scope, StaticReason, Verdict,
    ledger_filter,
};
use crate::model::ExtensionPoint;
use std::sync::Arc;

pub struct NodeDeclaredFeatures;

const MISSING: StaticReason =
    RefusalKind::unresolvable(RefusalCode::NodeFeatures, BlockerClass::Spec, Cure::Node)
        .with_text("node(s) didn't match Pod's required features");

pub(super) fn descriptor() -> Descriptor {
    Descriptor::built_in("NodeDeclaredFeatures", &[ExtensionPoint::PreFilter, ExtensionPoint::Filter], || {
        Implementations { filter: Some(Arc::new(NodeDeclaredFeatures)), ..Implementations::default() }
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
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let needs = &pod_context.pod.spec.needs;
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

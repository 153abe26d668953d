//! NodeDeclaredFeatures: a pod that uses what only some kubelets can do goes where that is declared.

#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{PodContext, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{Cure, Filter, NodeFilter, Plugin, Reason, Scope, Verdict, on_ledger};
use std::sync::Arc;

/// The plugin.
pub struct NodeDeclaredFeatures;

const MISSING: &str = "node(s) didn't match Pod's required features";

/// The plugin at its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    Kit { filter: Some(Arc::new(NodeDeclaredFeatures)), ..Kit::default() }
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
        on_ledger(world, |ledger| {
            if ledger.node.declares(needs) {
                Verdict::Fits
            } else {
                Verdict::rejects(self.name(), Reason::said_for_good(MISSING, Cure::Node))
            }
        })
    }
}

//! NodeResourcesBalancedAllocation: a node is better if the pod evens out how much of each of its resources is used.

mod score;
#[cfg(test)]
mod tests;

use super::kit::Kit;
use super::node_resources::shares::{Scored, Weights};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::config::{BalancedAllocationArgs, PluginArgs};
use crate::framework::{Normalise, Plugin, Scope, Score, Scorer, score_ledger};
use std::sync::Arc;

/// The plugin, with the resources that it looks at.
#[derive(Clone, Debug)]
pub struct BalancedAllocation {
    weights: Weights,
}

/// The plugin at its extension points.
pub(super) fn kit(args: &PluginArgs) -> Kit {
    Kit { score: Some(Arc::new(BalancedAllocation::new(&args.balanced_allocation))), ..Kit::default() }
}

impl BalancedAllocation {
    fn new(args: &BalancedAllocationArgs) -> Self {
        Self { weights: Weights::new(&args.resources) }
    }
}

impl Plugin for BalancedAllocation {
    fn name(&self) -> &'static str {
        "NodeResourcesBalancedAllocation"
    }
}

impl Score for BalancedAllocation {
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    /// Pods that ask for nothing leave every balance as it is; scoring them would send all of them to one node.
    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let asks = pod_context.pod.spec.requests.counted();
        let scored = self.weights.asked(|resource| asks.get(resource));
        if !scored.iter().any(Scored::is_wanted) {
            return Ok(None);
        }
        let score = move |ledger: &Ledger| {
            let share = |one: &Scored| one.share(&ledger.node.allocatable, ledger.used.get(&one.resource));
            score::score(scored.iter().filter_map(share))
        };
        Ok(Some(score_ledger(world, Normalise::Already, score)))
    }
}

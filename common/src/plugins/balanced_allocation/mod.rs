//! NodeResourcesBalancedAllocation: a node scores higher if the pod makes the use of its resources more even.

mod score;
#[cfg(test)]
mod tests;

use super::node_resources::shares::{ScoredResource, Weights};
use super::{Descriptor, Implementations};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::config::BalancedAllocationArgs;
use crate::framework::{Normalise, Plugin, PluginError, Scope, Score, Scorer, ledger_scorer};
use crate::model::ExtensionPoint;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct BalancedAllocation {
    weights: Weights,
}

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args(
        "NodeResourcesBalancedAllocation",
        &[ExtensionPoint::PreScore, ExtensionPoint::Score],
        |args: BalancedAllocationArgs| Implementations {
            score: Some(Arc::new(BalancedAllocation::new(&args))),
            ..Implementations::default()
        },
    )
    .upstream()
    .by_default(1)
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
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    /// Pods without requests are not scored: they change no balance, and scores would send all of them to one node.
    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let asks = context.pod.spec.requests.counted();
        let scored = self.weights.for_pod(|resource| asks.get(resource));
        if !scored.iter().any(ScoredResource::is_requested) {
            return Ok(None);
        }
        let score = move |ledger: &Ledger| {
            let share =
                |one: &ScoredResource| one.share(&ledger.node.allocatable, ledger.used.get(&one.resource));
            score::score(scored.iter().filter_map(share))
        };
        Ok(Some(ledger_scorer(world, Normalise::NotNeeded, score)))
    }
}

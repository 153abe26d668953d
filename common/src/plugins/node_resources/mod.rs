//! NodeResourcesFit: a node has what the pod asks for left over from the pods that are there; how full it would be is
//! its score.

mod filter;
mod score;
pub(super) mod shares;
#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::config::{NodeResourcesFitArgs, PluginArgs, ScoringStrategy};
use crate::framework::{
    Filter, NodeFilter, Normalise, Plugin, Scope, Score, Scorer, Verdict, on_ledger, score_ledger,
};
use crate::model::ResourceName;
use shares::{Scored, Weights};
use std::sync::Arc;

/// The plugin, as it was told.
#[derive(Clone, Debug)]
pub struct NodeResourcesFit {
    ignored: filter::Ignored,
    strategy: ScoringStrategy,
    weights: Weights,
}

const NAME: &str = "NodeResourcesFit";

/// The plugin at its extension points.
pub(super) fn kit(args: &PluginArgs) -> Kit {
    let plugin = Arc::new(NodeResourcesFit::new(&args.node_resources_fit));
    Kit { filter: Some(plugin.clone()), score: Some(plugin), ..Kit::default() }
}

impl NodeResourcesFit {
    fn new(args: &NodeResourcesFitArgs) -> Self {
        Self {
            ignored: filter::Ignored::new(args),
            strategy: args.strategy.clone(),
            weights: Weights::new(&args.resources),
        }
    }
}

impl Default for NodeResourcesFit {
    fn default() -> Self {
        Self::new(&NodeResourcesFitArgs::default())
    }
}

impl Plugin for NodeResourcesFit {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl Filter for NodeResourcesFit {
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>> {
        let wanted = filter::wanted(&pod_context.pod.spec.requests.incoming, &self.ignored);
        on_ledger(world, move |ledger| Verdict::from_rejections(filter::rejections(&wanted, ledger)))
    }
}

impl Score for NodeResourcesFit {
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let requests = &pod_context.pod.spec.requests;
        let scored = self.weights.asked(|resource| requests.scored(resource));
        let score = move |ledger: &Ledger| {
            score::score(&self.strategy, scored.iter().filter_map(|one| share(one, ledger)))
        };
        Ok(Some(score_ledger(world, Normalise::Already, score)))
    }
}

/// Of cpu and memory every container is taken to want at least a little.
fn share(scored: &Scored, ledger: &Ledger) -> Option<shares::Share> {
    let used = match scored.resource {
        ResourceName::Cpu => ledger.used_non_zero.cpu,
        ResourceName::Memory => ledger.used_non_zero.memory,
        _ => ledger.used.get(&scored.resource),
    };
    scored.share(&ledger.node.allocatable, used)
}

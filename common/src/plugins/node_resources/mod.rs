//! NodeResourcesFit: the pods of a node leave enough free for the pod (filter); how full the node would be (score).

mod filter;
mod hint;
mod score;
pub(super) mod shares;
#[cfg(test)]
mod tests;

use super::{Descriptor, Implementations};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::config::{NodeResourcesFitArgs, ScoringStrategy};
use crate::framework::{
    Filter, NodeFilter, Normalise, Plugin, PluginError, Scope, Score, Scorer, Verdict, ledger_filter,
    ledger_scorer,
};
use crate::model::ExtensionPoint;
use crate::model::ResourceName;
use shares::{ScoredResource, Weights};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct NodeResourcesFit {
    ignored: filter::IgnoredResources,
    strategy: ScoringStrategy,
    weights: Weights,
}

const NAME: &str = "NodeResourcesFit";

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args(
        NAME,
        &[
            ExtensionPoint::PreFilter,
            ExtensionPoint::Filter,
            ExtensionPoint::PreScore,
            ExtensionPoint::Score,
            ExtensionPoint::PlacementScore,
        ],
        |args: NodeResourcesFitArgs| {
            let plugin = Arc::new(NodeResourcesFit::new(&args));
            Implementations {
                filter: Some(plugin.clone()),
                score: Some(plugin.clone()),
                enqueue_extensions: Some(plugin),
                ..Implementations::default()
            }
        },
    )
    .upstream()
    .by_default(1)
}

impl NodeResourcesFit {
    fn new(args: &NodeResourcesFitArgs) -> Self {
        Self {
            ignored: filter::IgnoredResources::new(args),
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
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let requested = filter::requested(&context.pod.spec.requests.incoming, &self.ignored);
        ledger_filter(world, move |ledger| Verdict::from_rejections(filter::rejections(&requested, ledger)))
    }
}

impl Score for NodeResourcesFit {
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, PluginError> {
        let requests = &context.pod.spec.requests;
        let scored = self.weights.for_pod(|resource| requests.scored(resource));
        let score = move |ledger: &Ledger| {
            score::score(&self.strategy, scored.iter().filter_map(|one| share(one, ledger)))
        };
        Ok(Some(ledger_scorer(world, Normalise::NotNeeded, score)))
    }
}

/// The share of a resource on the node. For cpu and memory, containers without requests count with kube-scheduler's small defaults.
fn share(scored: &ScoredResource, ledger: &Ledger) -> Option<shares::ResourceShare> {
    let used = match scored.resource {
        ResourceName::Cpu => ledger.used_non_zero.cpu,
        ResourceName::Memory => ledger.used_non_zero.memory,
        _ => ledger.used.get(&scored.resource),
    };
    scored.share(&ledger.node.allocatable, used)
}

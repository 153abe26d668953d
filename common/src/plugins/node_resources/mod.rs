//! NodeResourcesFit: a node has what the pod asks for left over from the pods that are there; emptier is better.

mod filter;
mod score;
#[cfg(test)]
mod tests;

use super::kit::Kit;
use crate::cluster::{Asker, NodeId, Snapshot};
use crate::config::PluginArgs;
use crate::framework::{
    Filter, NodeFilter, Normalise, Plugin, Scope, Score, Scorer, Verdict, on_ledger, score_ledger,
};
use std::sync::Arc;

/// The plugin, with the LeastAllocated strategy over cpu and memory.
pub struct NodeResourcesFit;

const NAME: &str = "NodeResourcesFit";

/// The plugin at its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    let plugin = Arc::new(NodeResourcesFit);
    Kit { filter: Some(plugin.clone()), score: Some(plugin), ..Kit::default() }
}

impl Plugin for NodeResourcesFit {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl Filter for NodeResourcesFit {
    fn scope(&self, _asker: &Asker<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>> {
        let asks = &asker.pod.spec.requests.incoming;
        on_ledger(world, move |ledger| Verdict::from_rejections(filter::rejections(asks, ledger)))
    }
}

impl Score for NodeResourcesFit {
    fn scope(&self, _asker: &Asker<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Node(0)
    }

    fn prepare<'c>(
        &'c self,
        asker: &'c Asker<'c>,
        world: &'c Snapshot<'c>,
        _feasible: &'c [NodeId],
    ) -> Result<Option<Scorer<'c>>, String> {
        let requests = &asker.pod.spec.requests;
        let score = move |ledger: &_| score::least_allocated(requests, ledger);
        Ok(Some(score_ledger(world, Normalise::Already, score)))
    }
}

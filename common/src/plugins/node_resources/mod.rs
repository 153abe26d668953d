//! NodeResourcesFit: a node has what the pod asks for left over from the pods that are there; emptier is better.

mod filter;
mod score;
#[cfg(test)]
mod tests;

use crate::cluster::{Asker, Snapshot};
use crate::framework::{Filter, NodeFilter, NodeScore, Score, Verdict};

/// The plugin, with the LeastAllocated strategy over cpu and memory.
pub struct NodeResourcesFit;

const NAME: &str = "NodeResourcesFit";

impl Filter for NodeResourcesFit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, _world: &'c Snapshot<'c>) -> NodeFilter<'c> {
        Box::new(|ledger| {
            let rejections = filter::rejections(&asker.pod.spec.requests.incoming, ledger);
            if rejections.is_empty() { Verdict::Fits } else { Verdict::Rejects(rejections) }
        })
    }
}

impl Score for NodeResourcesFit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, _world: &'c Snapshot<'c>) -> NodeScore<'c> {
        Box::new(|ledger| score::least_allocated(&asker.pod.spec.requests, ledger))
    }
}

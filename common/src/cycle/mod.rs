//! One pod, one snapshot, one decision, with its reasons.
//!
//! Knows nothing of: any particular plugin, the queue, the API server. Its callers have no opinion of their own: the
//! daemon's scheduler and `kubectl reserve explain`.

mod decision;
mod message;
mod scores;
#[cfg(test)]
mod tests;

pub use decision::{Decision, NodeTrace, Refusal, Trace};
pub use scores::{PluginScores, scores};

use crate::cluster::{Asker, Ledger, Snapshot};
use crate::framework::{NodeFilter, Registry, Rejection, Verdict};
use crate::model::Pod;
use crate::model::pod::Feature;

/// How many of a node's reasons are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Those of the first plugin that rejects: what a scheduler reports.
    First,
    /// Those of every plugin: what `explain` shows.
    All,
}

/// Decides where `pod` goes.
pub fn schedule(pod: &Pod, world: &Snapshot<'_>, registry: &Registry) -> Decision {
    if let Some(refusal) = refusal(pod, world, registry) {
        return Decision::Refused(refusal);
    }
    let asker = world.asker(pod);
    let trace = judge(&asker, world, registry, Depth::First);
    let feasible: Vec<&Ledger<'_>> = trace.feasible().map(|node| &world.nodes[node]).collect();
    match scores::best(&asker, world, registry, &feasible) {
        Some(ledger) => Decision::Place {
            node: ledger.node.name.clone(),
            seat: ledger.room_for(&asker).own.filter(|id| id.seat.is_some()).cloned(),
        },
        None => Decision::NoFit(trace),
    }
}

/// Asks all filters about all nodes.
pub fn judge(asker: &Asker<'_>, world: &Snapshot<'_>, registry: &Registry, depth: Depth) -> Trace {
    let filters: Vec<NodeFilter<'_>> =
        registry.filters().map(|plugin| plugin.prepare(asker, world)).collect();
    let nodes = world.nodes.iter().map(|ledger| NodeTrace {
        node: ledger.node.name.clone(),
        rejections: rejections(&filters, ledger, depth),
    });
    Trace { nodes: nodes.collect() }
}

/// Why `pod` is not to be placed at all, before any node is looked at.
pub fn refusal(pod: &Pod, world: &Snapshot<'_>, registry: &Registry) -> Option<Refusal> {
    if let Some(problem) = &pod.problem {
        return Some(Refusal::Unreadable(problem.clone()));
    }
    if pod.spec.features.contains(Feature::SchedulingGates) {
        return Some(Refusal::Gated);
    }
    let unserved = registry.unserved(pod.spec.features);
    if !unserved.is_empty() {
        return Some(Refusal::Unserved { features: unserved, nodes: world.nodes.len() });
    }
    match world.repelling_pod {
        // Its rule speaks about other pods, so no pod can be placed rightly without the plugin that reads it.
        Some(other) if !registry.serves(Feature::RequiredAntiAffinity) => {
            Some(Refusal::Repelled { by: other.clone(), nodes: world.nodes.len() })
        }
        _ => None,
    }
}

fn rejections(filters: &[NodeFilter<'_>], ledger: &Ledger<'_>, depth: Depth) -> Vec<Rejection> {
    let mut all = Vec::new();
    for filter in filters {
        if let Verdict::Rejects(rejections) = filter(ledger) {
            all.extend(rejections);
            if depth == Depth::First {
                break;
            }
        }
    }
    all
}

//! The questions that a plugin can answer. A plugin implements those it has an answer to.
//!
//! A plugin is asked in two steps. `prepare` runs once for a pod and computes whatever does not depend on the node;
//! it returns the per-node question as a closure, so that what was computed once lives, typed, for exactly one
//! cycle. The closure then runs once for each node, and must not depend on the order of nodes.
//!
//! Knows nothing of: any particular plugin, the queue, the API server.

mod registry;
mod verdict;

pub use registry::{Registry, Weighted};
pub use verdict::{Cure, Keeper, Numbers, Reason, Rejection, Verdict};

use crate::cluster::{Asker, Ledger, Snapshot};
use crate::model::pod::Feature;

/// Whether a node can have the pod.
pub type NodeFilter<'c> = Box<dyn Fn(&Ledger<'_>) -> Verdict + 'c>;

/// How well a node would suit the pod.
pub type NodeScore<'c> = Box<dyn Fn(&Ledger<'_>) -> i64 + 'c>;

/// The score of the best node, after normalising.
pub const SCORE_MAX: i64 = 100;

/// Keeps pods off nodes. All filters of a registry are asked in order; the first that rejects is reported.
pub trait Filter {
    /// The plugin's name, as in configurations.
    fn name(&self) -> &'static str;

    /// The parts of a pod's spec that this plugin understands. A pod that uses a part which no plugin of the
    /// registry understands is not placed at all, rather than placed wrongly.
    fn serves(&self) -> &'static [Feature] {
        &[]
    }

    /// Called once for each pod that is to be placed.
    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, world: &'c Snapshot<'c>) -> NodeFilter<'c>;
}

/// Orders the nodes that no filter rejected.
pub trait Score {
    /// The plugin's name, as in configurations.
    fn name(&self) -> &'static str;

    /// Called once for each pod that fits more than one node.
    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, world: &'c Snapshot<'c>) -> NodeScore<'c>;

    /// Brings the scores of all feasible nodes into 0 to [`SCORE_MAX`], best highest. By default they are there.
    fn normalise(&self, _scores: &mut [i64]) {}
}

//! The questions that a plugin can answer, in the order in which a pod meets them. A plugin implements those it has an
//! answer to, and nothing else.
//!
//! A plugin that looks at nodes is asked in two steps. `prepare` runs once for a pod and works out whatever does not
//! depend on the node; it returns the per-node question as a closure, so that what was worked out once lives, typed,
//! for exactly one cycle. The closure then runs for nodes in any order.
//!
//! Knows nothing of: any particular plugin, the queue, the API server.

mod binding;
mod filter;
mod histogram;
mod meter;
mod queue;
mod registry;
mod score;
mod trace;
mod verdict;

pub use binding::{Bind, Permission, Permit, PostBind, PreBind, Reserve, Reserved};
pub use filter::{
    Admission, Attempt, Filter, NodeFilter, PostFilter, PostFiltered, PreFilter, ReservedNode, Victims,
    on_ledger,
};
pub use histogram::histogram;
pub use meter::{Begun, Meter, Status};
pub use queue::{PreEnqueue, QueueSort, Queued, Turn};
pub use registry::{Registry, RegistryId, Weighted};
pub use score::{NodeScore, Normalise, PreScore, Rescale, SCORE_MAX, Score, Scorer, score_ledger};
pub use trace::{NodeTrace, Trace};
pub use verdict::{Cure, Keeper, Numbers, Phrase, Reason, Rejection, Rejections, Verdict};

/// What every plugin has.
pub trait Plugin: Send + Sync {
    /// Its name, as in configurations.
    fn name(&self) -> &'static str;
}

/// What a plugin's answer about a node follows from. Answers that follow from little are kept and used again for every
/// pod that asks for the same: the narrower, the faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// From the pod's spec, its priority, the books of the node itself, and this number, into which the plugin puts
    /// whatever else there is.
    Node(u64),
    /// From anything.
    Cluster,
}

//! The scheduling framework: one trait for each extension point, and the values that plugins return. A plugin implements the
//! traits of its extension points, and nothing else.
//!
//! Filter and Score plugins run in two steps. `prepare` runs once for a pod and computes what does not depend on the node; it
//! returns a closure that holds the result for this one cycle. The closure then runs for single nodes, in any order.
//!
//! Must not know: any particular plugin, the queue, the API server.

mod binding;
mod diagnosis;
mod error;
mod evidence;
mod filter;
mod histogram;
mod meter;
mod queue;
mod queueing_hint;
mod refusal;
mod registry;
mod score;
mod verdict;

pub use binding::{Bind, ClaimProgress, Permission, Permit, PostBind, PreBind, PreparedClaim, Reserve};
pub use diagnosis::{Diagnosis, NodeDiagnosis};
pub use error::{CycleError, PluginError};
pub use evidence::{Evidence, SpreadStatus, UnmetPodAffinity, UnmetRequirement};
pub use filter::{
    Admission, Attempt, Filter, NodeFilter, NodeVictims, PostFilter, PostFilterResult, PreFilter,
    ReservedNode, ledger_filter,
};
pub use histogram::histogram;
pub use meter::{Meter, StartTime, Status};
pub use queue::{PreEnqueue, QueueSort, QueueSortKey, QueuedPodInfo};
pub use queueing_hint::{EnqueueExtensions, QueueingHint};
pub use refusal::{BlockerClass, RefusalCode, RefusalKind, StaticReason};
pub use registry::{Registry, RegistryId, WeightedScore};
pub use score::{NodeScore, Normalise, PreScore, Rescale, SCORE_MAX, Score, Scorer, ledger_scorer};
pub use verdict::{BlockingReservation, Numbers, Reason, Rejection, Rejections, Verdict};

/// What every plugin has, whatever its extension points.
pub trait Plugin: Send + Sync {
    /// The name of the plugin in configuration files.
    fn name(&self) -> &'static str;
}

/// What a plugin's answer about a node depends on. Answers of scope `Node` are kept, and used for every pod of the same class:
/// that makes decisions fast. A scope that is too narrow makes decisions wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// On the pod's spec, its priority, the ledger of the node itself, and this number. Whatever else the answer depends on, the
    /// plugin hashes into the number.
    Node(u64),
    /// On anything in the snapshot.
    Cluster,
}

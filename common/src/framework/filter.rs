//! Which nodes can have the pod; and if none can, what would help.

use super::{Plugin, Reason, Rejection, Rejections, Scope, Trace, Verdict};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::model::Pod;
use crate::model::ids::{NodeName, Uid};
use crate::model::moment::Moment;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whether a node can have the pod.
pub type NodeFilter<'c> = Box<dyn Fn(NodeId) -> Verdict + 'c>;

/// Judges the pod before any node is looked at.
pub trait PreFilter: Plugin {
    /// Which nodes come into question.
    fn pre_filter(&self, pod_context: &PodContext<'_>, world: &Snapshot<'_>) -> Admission;
}

/// Which nodes come into question.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    /// All.
    All,
    /// Those with these names; there need not be such nodes.
    Only(BTreeSet<NodeName>),
    /// The one that is kept for it; what it waits for there.
    ReservedNode(ReservedNode),
    /// None, for these reasons, which hold for every node.
    Rejects(Vec<Rejection>),
    /// It cannot be said: something is wrong.
    Fails(String),
}

/// A node that is kept for a pod, so that it goes there or waits.
#[derive(Clone, Debug, PartialEq)]
pub struct ReservedNode {
    /// The node.
    pub node: NodeName,
    /// The pod that has to leave it first. If that alone would not help, the pod may as well go elsewhere.
    pub after: Option<Uid>,
    /// Whether it may go nowhere else, whatever the node says.
    pub is_required: bool,
    /// Until when it waits; `None` for as long as the node is kept.
    pub until: Option<Timestamp>,
}

/// Keeps pods off nodes. All filters of a registry are asked in order; the first that rejects is reported.
pub trait Filter: Plugin {
    /// What the answers for this pod follow from.
    fn scope(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Cluster
    }

    /// Nodes whose answers follow from more than the scope says.
    fn exceptions(&self, _pod_context: &PodContext<'_>, _world: &Snapshot<'_>) -> Vec<NodeId> {
        Vec::new()
    }

    /// Called once for each pod that is to be placed. `None` if no node can be rejected, whatever is supposed about
    /// its books later.
    fn prepare<'c>(
        &'c self,
        pod_context: &'c PodContext<'c>,
        world: &'c Snapshot<'c>,
    ) -> Option<NodeFilter<'c>>;
}

/// The filter that asks `ask` about the books of the node.
pub fn on_ledger<'c>(
    world: &'c Snapshot<'c>,
    ask: impl Fn(&Ledger) -> Verdict + 'c,
) -> Option<NodeFilter<'c>> {
    Some(Box::new(move |id| world.ledger(id).map_or(Verdict::Fits, &ask)))
}

/// A pod that no node could have.
pub struct Attempt<'c> {
    /// The pod with its owners.
    pub pod_context: &'c PodContext<'c>,
    /// Where it was looked for a place.
    pub world: &'c Snapshot<'c>,
    /// What every node said.
    pub trace: &'c Trace,
    /// What the filters would say about a node whose books were these: nothing if the pod would fit, an error if one of
    /// them could not say.
    pub refit: &'c dyn Fn(Ledger) -> Result<Rejections, String>,
}

/// Looks for help when no node can have the pod.
pub trait PostFilter: Plugin {
    /// What would help.
    fn post_filter(&self, attempt: &Attempt<'_>) -> PostFiltered;
}

/// What would help.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PostFiltered {
    /// The node that the pod is to have, once the victims are gone.
    pub nominated: Option<Victims>,
    /// Every node that would do.
    pub candidates: Vec<Victims>,
    /// Whether a node that the pod was nominated to before is no help either, so that this is to be taken back.
    pub takes_back: bool,
    /// What the event says about it; empty for nothing.
    pub message: String,
}

impl PostFiltered {
    /// Both together, in the order in which they were asked.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        let words = [self.message, other.message].into_iter().filter(|words| !words.is_empty());
        self.message = words.collect::<Vec<_>>().join(", ");
        self.candidates.extend(other.candidates);
        self.nominated = self.nominated.or(other.nominated);
        self.takes_back |= other.takes_back;
        self
    }
}

/// A node that would do without some of its pods.
#[derive(Clone, Debug, PartialEq)]
pub struct Victims {
    /// The node.
    pub node: NodeName,
    /// Who would have to go, the most important first.
    pub pods: Vec<Arc<Pod>>,
    /// How many of them a disruption budget protects.
    pub violations: usize,
}

impl Victims {
    /// The highest priority among them.
    pub fn highest_priority(&self) -> i32 {
        self.pods.iter().map(|pod| pod.spec.priority).max().unwrap_or(i32::MIN)
    }

    /// The sum of their priorities, each counted from the lowest there is: so one more is always worse.
    pub fn priority_sum(&self) -> i64 {
        self.pods.iter().map(|pod| i64::from(pod.spec.priority) - i64::from(i32::MIN)).sum()
    }

    /// When the first of those with the highest priority started; `None` if none of them has.
    pub fn earliest_start(&self) -> Option<Moment> {
        let highest = self.highest_priority();
        self.pods.iter().filter(|pod| pod.spec.priority == highest).filter_map(|pod| pod.started).min()
    }
}

impl Rejection {
    /// A rejection for `reason` alone.
    pub fn new(plugin: &'static str, reason: Reason) -> Self {
        let cure = reason.cure();
        Self { plugin, reason, cure }
    }
}

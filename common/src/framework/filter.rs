//! The extension points that decide which nodes fit a pod: PreFilter (once for a pod), Filter (once for each node), and
//! PostFilter when no node fits.

use super::{
    CycleError, Diagnosis, Evidence, Plugin, PluginError, Reason, Rejection, Rejections, Scope, Verdict,
};
use crate::cluster::{Ledger, NodeId, PodContext, Snapshot};
use crate::model::Pod;
use crate::model::ids::{NodeName, Uid};
use crate::model::moment::Moment;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The filter of one plugin, prepared for one pod: whether a node fits.
pub type NodeFilter<'c> = Box<dyn Fn(NodeId) -> Verdict + 'c>;

/// Runs once for a pod, before any node is filtered.
pub trait PreFilter: Plugin {
    /// Which nodes the filters are run on.
    fn pre_filter(&self, context: &PodContext<'_>, world: &Snapshot<'_>) -> Admission;
}

/// The answer of a PreFilter plugin: which nodes the filters are run on.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    All,
    /// Only nodes with these names; such nodes need not exist.
    Only(BTreeSet<NodeName>),
    /// All nodes; but one node is reserved for the pod, and the pod goes there or waits for it.
    ReservedNode(ReservedNode),
    /// No node. The reasons hold for every node.
    Rejects(Vec<Rejection>),
    Fails(PluginError),
}

/// A node that is reserved for a pod. The pod goes to this node, or waits for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReservedNode {
    pub node: NodeName,
    /// The replaced pod, which has to leave the node first. If the pod would not fit even without the replaced pod, it does not
    /// wait, unless `is_required` is set.
    pub after: Option<Uid>,
    /// true: the pod may go to no other node, even if it can never fit this one.
    pub is_required: bool,
    /// Until when the pod waits; `None`: as long as the reservation exists.
    pub until: Option<Timestamp>,
}

/// Rejects nodes for a pod. The filters of a registry run in order, and the rejections of the first that rejects are reported.
pub trait Filter: Plugin {
    /// What the verdicts for this pod depend on.
    fn scope(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Cluster
    }

    /// Nodes whose verdicts depend on more than the scope says.
    fn exceptions(&self, _context: &PodContext<'_>, _world: &Snapshot<'_>) -> Vec<NodeId> {
        Vec::new()
    }

    /// Called once for each pod that is to be placed. `None`: this plugin rejects no node for the pod, also not when the pod is
    /// filtered again with a changed ledger (nominated pods added, victims removed).
    fn prepare<'c>(&'c self, context: &'c PodContext<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>>;

    /// The particulars behind the verdict about a node: the filter rejected it for `reason`, or accepts it (`None`). Only `explain`
    /// asks, for the nodes that it shows, so it may cost more than the verdict.
    fn evidence(
        &self,
        _reason: Option<&Reason>,
        _context: &PodContext<'_>,
        _ledger: &Ledger,
        _world: &Snapshot<'_>,
    ) -> Option<Evidence> {
        None
    }
}

pub fn ledger_filter<'c>(
    world: &'c Snapshot<'c>,
    verdict: impl Fn(&Ledger) -> Verdict + 'c,
) -> Option<NodeFilter<'c>> {
    Some(Box::new(move |id| world.ledger(id).map_or(Verdict::Fits, &verdict)))
}

/// A scheduling attempt for which no node fits: the input of PostFilter.
pub struct Attempt<'c> {
    pub context: &'c PodContext<'c>,
    pub world: &'c Snapshot<'c>,
    pub diagnosis: &'c Diagnosis,
    /// Runs the filters with this ledger in place of the node's own. Empty: the pod would fit. An error: a filter failed.
    pub filter_with: &'c dyn Fn(Ledger) -> Result<Rejections, CycleError>,
}

/// Runs when no node fits the pod, and looks for a way to make one fit, such as preemption.
pub trait PostFilter: Plugin {
    /// Which node would fit the pod, and after the removal of which pods.
    fn post_filter(&self, attempt: &Attempt<'_>) -> PostFilterResult;

    /// The candidates of `result`, the best first, if `result` is of this plugin.
    fn candidates<'r>(&self, _result: &'r PostFilterResult) -> Vec<&'r NodeVictims> {
        Vec::new()
    }

    /// The result of this plugin after extenders have answered about its candidates: with those that they accept and the victims
    /// there, or with their error.
    fn revise(
        &self,
        result: PostFilterResult,
        _accepted: Result<Vec<NodeVictims>, String>,
    ) -> PostFilterResult {
        result
    }
}

/// The result of PostFilter: which nodes would fit the pod if some pods were removed from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PostFilterResult {
    /// The node to nominate the pod to, with the victims there.
    pub nominated: Option<NodeVictims>,
    /// Every node that would fit the pod after the removal of victims.
    pub candidates: Vec<NodeVictims>,
    /// true: an earlier nomination of the pod does not help either, and is to be removed.
    pub clears_nomination: bool,
    /// The text for the event; empty for none.
    pub message: String,
}

impl PostFilterResult {
    /// Merges the results of two plugins; `self` ran first.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        let messages = [self.message, other.message].into_iter().filter(|message| !message.is_empty());
        self.message = messages.collect::<Vec<_>>().join(", ");
        self.candidates.extend(other.candidates);
        self.nominated = self.nominated.or(other.nominated);
        self.clears_nomination |= other.clears_nomination;
        self
    }
}

/// A node that would fit the pod after the removal of these victims: a preemption candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeVictims {
    pub node: NodeName,
    /// The victims, the most important first.
    pub pods: Vec<Arc<Pod>>,
    /// How many of the victims a disruption budget protects.
    pub violations: usize,
}

impl NodeVictims {
    pub fn highest_priority(&self) -> i32 {
        self.pods.iter().map(|pod| pod.spec.priority).max().unwrap_or(i32::MIN)
    }

    /// The sum of the victims' priorities. Each is counted from `i32::MIN`, so that one more victim always makes the sum larger.
    pub fn priority_sum(&self) -> i64 {
        self.pods.iter().map(|pod| i64::from(pod.spec.priority) - i64::from(i32::MIN)).sum()
    }

    /// The earliest start among the victims of the highest priority; `None` if none of them has started.
    pub fn earliest_start(&self) -> Option<Moment> {
        let highest = self.highest_priority();
        self.pods.iter().filter(|pod| pod.spec.priority == highest).filter_map(|pod| pod.started).min()
    }
}

impl Rejection {
    /// The rejection by `plugin` for `reason`.
    pub fn new(plugin: &'static str, reason: impl Into<Reason>) -> Self {
        Self { plugin, reason: reason.into() }
    }
}

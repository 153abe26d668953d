//! Which nodes can have the pod; and if none can, what would help.

use super::{Plugin, Reason, Rejection, Scope, Trace, Verdict};
use crate::cluster::{Asker, Ledger, NodeId, Snapshot};
use crate::model::Pod;
use crate::model::ids::NodeName;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whether a node can have the pod.
pub type NodeFilter<'c> = Box<dyn Fn(NodeId) -> Verdict + 'c>;

/// Judges the pod before any node is looked at.
pub trait PreFilter: Plugin {
    /// Which nodes come into question.
    fn pre_filter(&self, asker: &Asker<'_>, world: &Snapshot<'_>) -> Admission;
}

/// Which nodes come into question.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    /// All.
    All,
    /// Those with these names; there need not be such nodes.
    Only(BTreeSet<NodeName>),
    /// None, for these reasons, which hold for every node.
    Rejects(Vec<Rejection>),
    /// It cannot be said: something is wrong.
    Fails(String),
}

/// Keeps pods off nodes. All filters of a registry are asked in order; the first that rejects is reported.
pub trait Filter: Plugin {
    /// What the answers for this pod follow from.
    fn scope(&self, _asker: &Asker<'_>, _world: &Snapshot<'_>) -> Scope {
        Scope::Cluster
    }

    /// Nodes whose answers follow from more than the scope says.
    fn exceptions(&self, _asker: &Asker<'_>, _world: &Snapshot<'_>) -> Vec<NodeId> {
        Vec::new()
    }

    /// Called once for each pod that is to be placed. `None` if no node can be rejected, whatever is supposed about
    /// its books later.
    fn prepare<'c>(&'c self, asker: &'c Asker<'c>, world: &'c Snapshot<'c>) -> Option<NodeFilter<'c>>;
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
    pub asker: &'c Asker<'c>,
    /// Where it was looked for a place.
    pub world: &'c Snapshot<'c>,
    /// What every node said.
    pub trace: &'c Trace,
    /// What the filters would say about a node whose books were these; empty if the pod would fit.
    pub refit: &'c dyn Fn(Ledger) -> Vec<Rejection>,
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
    /// What the event says about it; empty for nothing.
    pub message: String,
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

impl Rejection {
    /// A rejection for `reason` alone.
    pub fn new(plugin: &'static str, reason: Reason) -> Self {
        let cure = reason.cure();
        Self { plugin, reason, cure }
    }
}

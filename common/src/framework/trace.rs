//! What every node said about a pod.

use super::{Cure, Rejection, Rejections};
use crate::cluster::NodeId;
use std::collections::BTreeSet;

/// What every node said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// One entry for each node, in node order.
    pub nodes: Vec<NodeTrace>,
    /// Why the pod was rejected before any node was looked at; the nodes' entries repeat it.
    pub refused: Vec<Rejection>,
    /// The plugins that left nodes out before they were looked at.
    pub left_out_by: Vec<&'static str>,
}

/// What one node said.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeTrace {
    /// Which node, by its place: names are elsewhere in memory, and nobody asks for all of them.
    pub id: NodeId,
    /// Why not; empty when the pod fits.
    pub rejections: Rejections,
}

impl Trace {
    /// The places of the nodes that can have the pod, in node order.
    pub fn feasible(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().filter(|node| node.rejections.is_empty()).map(|node| node.id)
    }

    /// The plugins that rejected the pod, on a node or altogether.
    pub fn plugins(&self) -> BTreeSet<&'static str> {
        let rejections = self.nodes.iter().flat_map(|node| &node.rejections).chain(&self.refused);
        rejections.map(|rejection| rejection.plugin).filter(|plugin| !plugin.is_empty()).collect()
    }

    /// What could turn the decision.
    pub fn cures(&self) -> BTreeSet<Cure> {
        self.nodes.iter().flat_map(|node| &node.rejections).map(|rejection| rejection.cure).collect()
    }
}

impl NodeTrace {
    /// Whether the node would reject the pod even if all others left it, so that preempting them is no use.
    pub fn is_unresolvable(&self) -> bool {
        self.rejections.iter().any(|rejection| rejection.reason.is_unresolvable())
    }
}

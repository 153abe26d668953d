//! What a cycle comes to.

use crate::framework::{Cure, Rejection};
use crate::model::ReservationId;
use crate::model::ids::{NodeName, PodKey};
use crate::model::pod::Feature;
use std::collections::BTreeSet;

/// Where a pod goes, or why nowhere.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It goes to a node.
    Place {
        /// Which node.
        node: NodeName,
        /// The reservation that it takes there, if that has a seat.
        seat: Option<ReservationId>,
    },
    /// No node can have it.
    NoFit(Trace),
    /// It is not to be placed, whatever the nodes.
    Refused(Refusal),
}

/// What every node said.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// One entry for each node, in node order.
    pub nodes: Vec<NodeTrace>,
}

/// What one node said.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeTrace {
    /// Which node.
    pub node: NodeName,
    /// Why not; empty when the pod fits.
    pub rejections: Vec<Rejection>,
}

/// Why a pod is not to be placed at all.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Its amounts cannot be read.
    Unreadable(Box<str>),
    /// It has scheduling gates, and waits for whoever put them there.
    Gated,
    /// It uses something that is not served yet.
    Unserved {
        /// What it uses.
        features: Vec<Feature>,
        /// How many nodes there are.
        nodes: usize,
    },
    /// Another pod's rule about its neighbours is not served yet.
    Repelled {
        /// The other pod.
        by: PodKey,
        /// How many nodes there are.
        nodes: usize,
    },
}

impl Trace {
    /// The indices of the nodes that can have the pod.
    pub fn feasible(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().enumerate().filter(|(_, node)| node.rejections.is_empty()).map(|(index, _)| index)
    }

    /// What could turn the decision.
    pub fn cures(&self) -> BTreeSet<Cure> {
        self.nodes.iter().flat_map(|node| &node.rejections).map(|rejection| rejection.cure).collect()
    }
}

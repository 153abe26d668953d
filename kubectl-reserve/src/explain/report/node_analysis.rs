//! The results of all filters on all nodes for one pod, as shown to the user.

use super::{Fix, OwnerName, Preemption};
use crate::amount::shown;
use common::framework::{BlockerClass, Numbers};
use common::model::ResourceName;
use jiff::Timestamp;

/// The analysis of all nodes for a pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeAnalysis {
    pub nodes: usize,
    /// The nodes on which the pod fits.
    pub fits: Vec<String>,
    /// The node that the pod waits for, because room is reserved for it there.
    pub awaited_node: Option<AwaitedNode>,
    pub verdict: Vec<String>,
    /// The blocker on most nodes of the right kind.
    pub dominant: Option<DominantReason>,
    /// The nodes that do not fit, each in one group; the largest group first.
    pub groups: Vec<NodeGroup>,
    /// `pool` or `zone` if nodes are grouped by that; `None` if by blocker.
    pub grouped_by: Option<&'static str>,
    /// The nodes that come nearest to fitting, the nearest first.
    pub misses: Vec<Miss>,
    /// Changes that would help, the least harmful first.
    pub fixes: Vec<Fix>,
    pub more_fixes: usize,
    /// Whether preemption would help; `None` if it was not tried.
    pub preemption: Option<Preemption>,
    /// Differences from the scheduler's own message, and other remarks.
    pub notes: Vec<String>,
}

/// A node with a reservation for the pod, which the pod waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct AwaitedNode {
    /// The node's name.
    pub node: String,
    /// Why the pod does not fit there yet.
    pub because: String,
    /// How many seconds more the pod waits at most; `None`: as long as the reservation exists.
    pub for_at_most: Option<i64>,
}

/// The blocker on most nodes of the right kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DominantReason {
    pub code: String,
    pub label: String,
    /// How many nodes have the blocker.
    pub nodes: usize,
    /// How many nodes are of the right kind.
    pub of: usize,
    /// The nearest of these nodes and the amounts that it lacks, as text.
    pub nearest: Option<String>,
}

/// Nodes with the same blockers, or of the same pool or zone.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeGroup {
    /// What they have in common, for people.
    pub label: String,
    pub codes: Vec<String>,
    /// The nodes, the nearest first.
    pub nodes: Vec<String>,
    /// Particulars of some of the nodes; nodes with the same particulars are one member.
    pub members: Vec<Member>,
}

/// Nodes of a group with the same particulars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub nodes: Vec<String>,
    pub words: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Miss {
    pub name: String,
    /// How near it comes: 1 is the nearest.
    pub rank: usize,
    /// Why the pod does not fit there.
    pub blockers: Vec<Blocker>,
    /// The node's amounts of every resource that the pod requests.
    pub figures: Vec<Figure>,
    /// The reservations that hold resources of which the pod finds too little.
    pub reservations: Vec<BlockingReservation>,
}

/// A reason why the pod does not fit on a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocker {
    pub filter: &'static str,
    /// A stable word for programs.
    pub code: String,
    /// The class by which nodes are ranked.
    pub class: BlockerClass,
    /// The message of kube-scheduler for it.
    pub upstream: String,
    /// A few words for people.
    pub label: String,
    /// The particulars: which taint, label, port, volume or pod.
    pub evidence: Option<String>,
    /// The numbers, if the reason is an amount.
    pub figure: Option<Figure>,
}

/// The amounts of one resource on a node, beside the pod's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    pub resource: ResourceName,
    /// Requested, allocatable, used and reserved amounts.
    pub numbers: Numbers,
}

/// A reservation that holds resources of which the pod finds too little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockingReservation {
    /// Its name in the output of `list`: its seat, or the owner's UID.
    pub name: String,
    pub owner: Option<OwnerName>,
    /// What it holds of the resources that are short.
    pub amounts: Vec<(ResourceName, i64)>,
    /// When it expires; `None`: never.
    pub expires: Option<Timestamp>,
}

impl Figure {
    /// What is free; negative if more is used and reserved than is allocatable.
    pub fn free(&self) -> i64 {
        self.numbers.free()
    }

    /// What is missing for the pod; 0 if nothing is.
    pub fn short(&self) -> i64 {
        self.numbers.short()
    }

    /// An amount of the resource, as people write it.
    pub fn show(&self, amount: i64) -> String {
        shown(&self.resource, amount)
    }
}

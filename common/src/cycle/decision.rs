//! What a cycle comes to.

use crate::framework::{PostFiltered, Rejection, Rejections, Trace};
use crate::model::ReservationId;
use crate::model::ids::NodeName;
use crate::model::pod::Feature;
use crate::model::storage::VolumeChoice;
use jiff::Timestamp;

/// Where a pod goes, or why nowhere.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It goes to a node.
    Place {
        /// Which node.
        node: NodeName,
        /// The reservation that it takes there, if that has a seat.
        seat: Option<ReservationId>,
        /// What its claims get that have no volumes yet; to be carried out before it is bound.
        volumes: Vec<VolumeChoice>,
    },
    /// No node can have it.
    NoFit(Box<NoFit>),
    /// It waits for a node that is kept for it.
    Awaits(Box<Awaited>),
    /// It is not to be placed, whatever the nodes.
    Refused(Refusal),
    /// Something is wrong, so that it cannot be said where it goes.
    Failed(String),
}

/// Why no node can have a pod, and what would help.
#[derive(Clone, Debug, PartialEq)]
pub struct NoFit {
    /// What every node said.
    pub trace: Trace,
    /// What would help.
    pub help: PostFiltered,
}

/// The node that a pod waits for, and why it cannot have it yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Awaited {
    /// The node.
    pub node: NodeName,
    /// Why it cannot have it yet.
    pub rejections: Rejections,
    /// Until when it waits; `None` for as long as the node is kept.
    pub until: Option<Timestamp>,
}

/// Why a pod is not to be placed at all.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Its amounts cannot be read.
    Unreadable(Box<str>),
    /// Plugins keep it out of the queue, for these reasons; never empty. The first is the one that upstream names.
    Gated(Vec<Rejection>),
    /// It uses something that is not served yet.
    Unserved {
        /// What it uses.
        features: Vec<Feature>,
        /// How many nodes there are.
        nodes: usize,
    },
}

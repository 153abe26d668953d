//! What a cycle comes to.

use crate::framework::{PostFiltered, Rejection, Trace};
use crate::model::ReservationId;
use crate::model::ids::NodeName;
use crate::model::pod::Feature;

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
    NoFit(Box<NoFit>),
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

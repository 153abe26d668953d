//! The result of a scheduling cycle.

use crate::framework::{CycleError, Diagnosis, PostFilterResult, Rejection, Rejections};
use crate::model::{Claims, Feature, NodeName};
use jiff::Timestamp;

/// The result of a scheduling cycle for one pod.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// The pod goes to a node.
    Place {
        node: NodeName,
        /// What the pod takes there besides room.
        claims: Claims,
    },
    NoFit(Box<NoFit>),
    WaitForNode(Box<NodeWait>),
    /// The pod may not be scheduled, whatever the nodes.
    Refused(Refusal),
    Failed(CycleError),
}

/// Why no node fits a pod, and what PostFilter found.
#[derive(Clone, Debug, PartialEq)]
pub struct NoFit {
    pub diagnosis: Diagnosis,
    /// Which node would fit after preemption.
    pub post_filter: PostFilterResult,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NodeWait {
    pub node: NodeName,
    /// Why the pod does not fit the node yet.
    pub rejections: Rejections,
    /// Until when the pod waits; `None`: as long as the reservation exists.
    pub until: Option<Timestamp>,
}

/// Why a pod may not be scheduled, whatever the nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// The requests of the pod cannot be parsed.
    Unreadable(Box<str>),
    /// PreEnqueue plugins reject the pod, for these reasons; never empty. kube-scheduler reports the first.
    Gated(Vec<Rejection>),
    /// The pod uses features that this scheduler does not support.
    Unsupported {
        features: Vec<Feature>,
        /// The number of nodes in the cluster, for the message.
        nodes: usize,
    },
}

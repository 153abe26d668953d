//! The questions of kube-scheduler, and the answers to them.

use common::api::extender::{BindingQuestion, Victims};
use common::model::{NodeName, Pod};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A question of a scheduler to its extender.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Which of these nodes can have the pod?
    Filter {
        /// The pod.
        pod: Arc<Pod>,
        /// The nodes that can have it as far as the scheduler knows.
        nodes: Vec<NodeName>,
    },
    /// How good are these nodes for the pod?
    Prioritize {
        /// The pod.
        pod: Arc<Pod>,
        /// The nodes.
        nodes: Vec<NodeName>,
    },
    /// On which of these nodes would it help if the victims left?
    Preempt {
        /// The pod that they would leave for.
        pod: Arc<Pod>,
        /// The nodes with their victims.
        candidates: BTreeMap<NodeName, Victims>,
    },
    /// Bind a pod.
    Bind(BindingQuestion),
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The nodes that cannot have the pod, and why.
    Filtered(BTreeMap<NodeName, String>),
    /// A score for each node, 0 to 10.
    Prioritized(Vec<(NodeName, i64)>),
    /// The candidates that are left.
    Preempted(BTreeMap<NodeName, Victims>),
    /// Whether the pod is bound, or why not.
    Bound(Result<(), String>),
    /// It cannot be said at the moment, and why.
    Unavailable(&'static str),
}

impl Question {
    /// The pod, where it comes with the question.
    pub fn pod(&self) -> Option<&Arc<Pod>> {
        match self {
            Self::Filter { pod, .. } | Self::Prioritize { pod, .. } | Self::Preempt { pod, .. } => Some(pod),
            Self::Bind(_) => None,
        }
    }

    /// The binding, if it asks for one.
    pub fn binding(&self) -> Option<&BindingQuestion> {
        match self {
            Self::Bind(binding) => Some(binding),
            _ => None,
        }
    }
}

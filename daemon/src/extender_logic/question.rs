//! The questions of kube-scheduler to its extender, and the replies.

use common::api::extender::{ExtenderBindingArgs, Victims};
use common::model::{NodeName, Pod};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Verb `filter`: which of these nodes fit the pod?
    Filter {
        pod: Arc<Pod>,
        /// The nodes that passed the scheduler's own filters.
        nodes: Vec<NodeName>,
    },
    /// Verb `prioritize`: scores of these nodes for the pod.
    Prioritize {
        pod: Arc<Pod>,
        nodes: Vec<NodeName>,
    },
    /// Verb `preempt`: on which of these nodes would the pod fit without the victims?
    Preempt {
        pod: Arc<Pod>,
        candidates: BTreeMap<NodeName, Victims>,
    },
    Bind(ExtenderBindingArgs),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The nodes that do not fit, and why.
    Filtered(BTreeMap<NodeName, String>),
    /// A score for each node, 0 to 10.
    Prioritized(Vec<(NodeName, i64)>),
    Preempted(BTreeMap<NodeName, Victims>),
    /// The pod is bound, or the reason why not.
    Bound(Result<(), String>),
    /// There is no answer at the moment, and this is why.
    Unavailable(&'static str),
}

impl Question {
    /// The pod of the question; a binding has only its name.
    pub fn pod(&self) -> Option<&Arc<Pod>> {
        match self {
            Self::Filter { pod, .. } | Self::Prioritize { pod, .. } | Self::Preempt { pod, .. } => Some(pod),
            Self::Bind(_) => None,
        }
    }

    pub fn binding(&self) -> Option<&ExtenderBindingArgs> {
        match self {
            Self::Bind(binding) => Some(binding),
            _ => None,
        }
    }
}

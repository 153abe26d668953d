//! The words in which a scheduler says that a pod has no place: kube-scheduler's.

use super::{Refusal, Trace};
use std::collections::BTreeMap;
use std::fmt;

impl Trace {
    /// `0/N nodes are available: …`, each reason with the number of nodes that gave it.
    pub fn message(&self) -> String {
        if self.nodes.is_empty() {
            return "no nodes available to schedule pods".into();
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for rejection in self.nodes.iter().flat_map(|node| &node.rejections) {
            *counts.entry(rejection.reason.to_string()).or_default() += 1;
        }
        // Sorted as text, number first, because upstream does.
        let mut reasons: Vec<String> =
            counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        reasons.sort();
        format!("0/{} nodes are available: {}.", self.nodes.len(), reasons.join(", "))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(problem) => write!(f, "the pod's requests cannot be read: {problem}"),
            Self::Gated => f.write_str("Scheduling is blocked due to non-empty scheduling gates"),
            Self::Unserved { features, nodes } => {
                let fields: Vec<&str> = features.iter().map(|feature| feature.field()).collect();
                let fields = fields.join(", ");
                write!(
                    f,
                    "0/{nodes} nodes are available: the pod uses what this scheduler does not serve yet: {fields}."
                )
            }
            Self::Repelled { nodes, .. } => write!(
                f,
                "0/{nodes} nodes are available: pods with required anti-affinity are running, which this scheduler \
                 does not serve yet."
            ),
        }
    }
}

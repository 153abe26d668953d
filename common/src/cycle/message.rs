//! The words in which a scheduler says that a pod has no place: kube-scheduler's.

use super::{Awaited, NoFit, Refusal};
use crate::framework::{Reason, Trace, histogram};
use std::fmt;

impl NoFit {
    /// `0/N nodes are available: …`, each reason with the number of nodes that gave it; then what would help.
    pub fn message(&self) -> String {
        let mut message = message(&self.trace);
        if !self.help.message.is_empty() {
            message.push(' ');
            message.push_str(&self.help.message);
        }
        message
    }
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons: Vec<String> = self.rejections.iter().map(|one| one.reason.to_string()).collect();
        reasons.sort();
        write!(f, "waiting for node {}, which is kept for the pod: {}.", self.node, reasons.join(", "))
    }
}

/// `0/N nodes are available: …`.
pub fn message(trace: &Trace) -> String {
    let nodes = trace.nodes.len();
    if nodes == 0 {
        return "no nodes available to schedule pods".into();
    }
    if !trace.refused.is_empty() {
        let words: Vec<String> = trace.refused.iter().map(|one| one.reason.to_string()).collect();
        return format!("0/{nodes} nodes are available: {}.", words.join(", "));
    }
    let reasons = histogram(trace.nodes.iter().flat_map(|node| &node.rejections));
    format!("0/{nodes} nodes are available: {reasons}.")
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(problem) => write!(f, "the pod's requests cannot be read: {problem}"),
            Self::Gated(rejections) => match rejections.first().map(|rejection| &rejection.reason) {
                // In the words of the API server, which writes this condition when the pod is created.
                Some(Reason::Gates(_)) | None => {
                    f.write_str("Scheduling is blocked due to non-empty scheduling gates")
                }
                Some(reason) => reason.fmt(f),
            },
            Self::Unserved { features, nodes } => {
                let fields: Vec<&str> = features.iter().map(|feature| feature.field()).collect();
                let fields = fields.join(", ");
                write!(
                    f,
                    "0/{nodes} nodes are available: the pod uses what this scheduler does not serve yet: {fields}."
                )
            }
        }
    }
}

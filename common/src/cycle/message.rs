//! The messages for pods that were not placed, with the texts of kube-scheduler.

use super::{NoFit, NodeWait, Refusal};
use crate::framework::{Diagnosis, Reason, histogram};
use std::fmt;

impl NoFit {
    /// `0/N nodes are available: …`, each reason with its number of nodes; then the message of PostFilter.
    pub fn message(&self) -> String {
        let mut message = message(&self.diagnosis);
        if !self.post_filter.message.is_empty() {
            message.push(' ');
            message.push_str(&self.post_filter.message);
        }
        message
    }
}

impl fmt::Display for NodeWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons: Vec<String> = self.rejections.iter().map(|one| one.reason.to_string()).collect();
        reasons.sort();
        write!(f, "waiting for node {}, which is kept for the pod: {}.", self.node, reasons.join(", "))
    }
}

/// `0/N nodes are available: …`.
pub fn message(diagnosis: &Diagnosis) -> String {
    let nodes = diagnosis.nodes.len();
    if nodes == 0 {
        return "no nodes available to schedule pods".into();
    }
    if !diagnosis.pre_filter_rejections.is_empty() {
        let reasons: Vec<String> =
            diagnosis.pre_filter_rejections.iter().map(|one| one.reason.to_string()).collect();
        return format!("0/{nodes} nodes are available: {}.", reasons.join(", "));
    }
    let reasons = histogram(diagnosis.nodes.iter().flat_map(|node| &node.rejections));
    format!("0/{nodes} nodes are available: {reasons}.")
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(problem) => write!(f, "the pod's requests cannot be read: {problem}"),
            Self::Gated(rejections) => match rejections.first().map(|rejection| &rejection.reason) {
                // The text of the API server, which writes this condition when the pod is created.
                Some(Reason::Gates(_)) | None => {
                    f.write_str("Scheduling is blocked due to non-empty scheduling gates")
                }
                Some(reason) => reason.fmt(f),
            },
            Self::Unsupported { features, nodes } => {
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

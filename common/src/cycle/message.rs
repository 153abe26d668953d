//! The words in which a scheduler says that a pod has no place: kube-scheduler's.

use super::{NoFit, Refusal};
use crate::framework::{Reason, Rejection, Trace};
use std::collections::BTreeMap;
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

/// Each reason with how often it was given. Sorted as text, number first, because upstream does.
pub fn histogram<'r>(rejections: impl Iterator<Item = &'r Rejection>) -> String {
    let mut kinds: Vec<(&Rejection, usize)> = Vec::new();
    for rejection in rejections {
        // Nodes mostly say the same as the one before.
        match kinds.iter_mut().rev().find(|(known, _)| known.reason.reads_like(&rejection.reason)) {
            Some((_, count)) => *count += 1,
            None => kinds.push((rejection, 1)),
        }
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (rejection, count) in kinds {
        *counts.entry(rejection.reason.to_string()).or_default() += count;
    }
    let mut reasons: Vec<String> =
        counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    reasons.sort();
    reasons.join(", ")
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

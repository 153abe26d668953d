//! Counts equal rejection reasons, for the message of an event.

use super::Rejection;
use std::collections::BTreeMap;

/// `<count> <reason>` for each reason, joined with commas. Sorted as text with the number first, as kube-scheduler does.
pub fn histogram<'r>(rejections: impl Iterator<Item = &'r Rejection>) -> String {
    let mut groups: Vec<(&Rejection, usize)> = Vec::new();
    for rejection in rejections {
        // Most nodes have the reason of the node before, so the search starts with the newest group.
        match groups.iter_mut().rev().find(|(first, _)| first.reason.has_same_text(&rejection.reason)) {
            Some((_, count)) => *count += 1,
            None => groups.push((rejection, 1)),
        }
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (rejection, count) in groups {
        *counts.entry(rejection.reason.to_string()).or_default() += count;
    }
    let mut reasons: Vec<String> =
        counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    reasons.sort();
    reasons.join(", ")
}

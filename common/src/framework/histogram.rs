//! Many rejections in few words.

use super::Rejection;
use std::collections::BTreeMap;

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

//! The candidates of a preemption, for extenders that are asked about them.

use crate::framework::{NodeVictims, PostFilterResult, Registry};

/// The candidates of `result` that extenders are asked about: the best first, at most `most`.
pub fn preemption_candidates<'r>(
    result: &'r PostFilterResult,
    most: usize,
    registry: &Registry,
) -> Vec<&'r NodeVictims> {
    let mut candidates = registry.post_filters.iter().map(|plugin| plugin.candidates(result));
    let mut candidates = candidates.find(|candidates| !candidates.is_empty()).unwrap_or_default();
    candidates.truncate(most);
    candidates
}

/// The result after extenders have answered: with the candidates that they accept and the victims there, or with their error.
pub fn revise_preemption(
    result: PostFilterResult,
    accepted: Result<Vec<NodeVictims>, String>,
    registry: &Registry,
) -> PostFilterResult {
    match registry.post_filters.iter().find(|plugin| !plugin.candidates(&result).is_empty()) {
        Some(plugin) => plugin.revise(result, accepted),
        None => result,
    }
}

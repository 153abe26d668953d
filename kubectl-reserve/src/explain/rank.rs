//! Ranks the nodes that do not fit. Nodes that can never fit come last; then fewer classes of blockers come first, then what is
//! cheaper to change, then smaller missing amounts.

use super::judge::{ClassifiedRejection, NodeResult};
use common::framework::{BlockerClass, RefusalCode};

/// The nodes that do not fit, as indices into `results`, the nearest first. `cost` says how much it costs to change what keeps the pod
/// off the node; higher is worse.
pub(super) fn order(results: &[NodeResult], cost: &dyn Fn(&NodeResult) -> u32) -> Vec<usize> {
    let mut blocked: Vec<usize> =
        results.iter().enumerate().filter(|(_, result)| !result.fits()).map(|(index, _)| index).collect();
    blocked.sort_by_cached_key(|index| {
        let result = &results[*index];
        let classes = result.classes();
        (
            classes.contains(&BlockerClass::Never),
            classes.len(),
            cost(result),
            missing(result),
            result.name.clone(),
        )
    });
    blocked
}

/// How much it usually costs to change what keeps the pod off the node: as far as that is known without a search for fixes.
pub(super) fn usual_cost(result: &NodeResult) -> u32 {
    let cost = |blocker: &ClassifiedRejection| match (blocker.kind.class, blocker.kind.code) {
        (_, RefusalCode::Cordoned) => 0,
        (_, RefusalCode::Taint | RefusalCode::NodeAffinity) => 1,
        (BlockerClass::Hold, _) => 2,
        (BlockerClass::Room, _) => 3,
        _ => 4,
    };
    result.blockers.iter().map(cost).max().unwrap_or_default()
}

/// How much is missing, in thousandths of what the pod asks for, all resources together.
pub(super) fn missing(result: &NodeResult) -> i64 {
    if result.figures.is_empty() {
        return i64::MAX;
    }
    let share = |short: i64, asks: i64| short.saturating_mul(1000) / asks.max(1);
    result.lacking().map(|one| share(one.short(), one.numbers.asks)).fold(0, i64::saturating_add)
}

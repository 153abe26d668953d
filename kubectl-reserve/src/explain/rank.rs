//! Ranks the nodes that do not fit. Nodes that can never fit come last; then fewer classes of blockers come first, then cheaper
//! fixes, then smaller missing amounts.

use super::judge::NodeResult;
use common::cluster::NodeId;
use common::framework::BlockerClass;

/// The nodes that do not fit, as indices into `results`, the nearest first. `cost` is the cost of a node's cheapest fix; higher is
/// worse.
pub(super) fn order(results: &[NodeResult], cost: &dyn Fn(NodeId) -> u32) -> Vec<usize> {
    let mut blocked: Vec<usize> =
        results.iter().enumerate().filter(|(_, result)| !result.fits()).map(|(index, _)| index).collect();
    blocked.sort_by_cached_key(|index| {
        let result = &results[*index];
        let classes = result.classes();
        (
            classes.contains(&BlockerClass::Never),
            classes.len(),
            cost(result.id),
            missing(result),
            result.name.clone(),
        )
    });
    blocked
}

/// How much is missing, in thousandths of what the pod asks for, all resources together.
pub(super) fn missing(result: &NodeResult) -> i64 {
    if result.figures.is_empty() {
        return i64::MAX;
    }
    let share = |short: i64, asks: i64| short.saturating_mul(1000) / asks.max(1);
    result.lacking().map(|one| share(one.short(), one.numbers.asks)).fold(0, i64::saturating_add)
}

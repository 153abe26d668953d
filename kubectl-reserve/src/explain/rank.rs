//! Which nodes come nearest: those that could never have the pod last, then the fewer sorts of things in the way, the cheaper
//! to cure, the less is missing.

use super::judge::View;
use super::kind::Class;
use common::cluster::NodeId;

/// The nodes that cannot have the pod, as indices into `views`, the nearest first. `cost` is what the cheapest cure of a node
/// costs, the higher the worse.
pub(super) fn order(views: &[View], cost: &dyn Fn(NodeId) -> u32) -> Vec<usize> {
    let mut blocked: Vec<usize> =
        views.iter().enumerate().filter(|(_, view)| !view.fits()).map(|(index, _)| index).collect();
    blocked.sort_by_cached_key(|index| {
        let view = &views[*index];
        let classes = view.classes();
        (classes.contains(&Class::Never), classes.len(), cost(view.id), missing(view), view.name.clone())
    });
    blocked
}

/// How much is missing, in thousandths of what the pod asks for, all resources together.
pub(super) fn missing(view: &View) -> i64 {
    let share = |short: i64, asks: i64| short.saturating_mul(1000) / asks.max(1);
    view.lacking().map(|one| share(one.short(), one.numbers.asks)).fold(0, i64::saturating_add)
}

//! Which of several pods a disruption budget protects, if they left one after the other.

use crate::model::{DisruptionBudget, Pod};
use std::sync::Arc;

/// The pods whose leaving would break a budget, and the others, both in their order. Each that leaves is counted in every
/// budget up to the first that it breaks.
pub(super) fn split(pods: Vec<Arc<Pod>>, budgets: &[&DisruptionBudget]) -> (Vec<Arc<Pod>>, Vec<Arc<Pod>>) {
    let mut allowed: Vec<i32> = budgets.iter().map(|budget| budget.disruptions_allowed).collect();
    pods.into_iter().partition(|pod| breaks(pod, budgets, &mut allowed))
}

fn breaks(pod: &Pod, budgets: &[&DisruptionBudget], allowed: &mut [i32]) -> bool {
    for (budget, allowed) in budgets.iter().zip(allowed) {
        if protects(budget, pod) {
            *allowed = allowed.wrapping_sub(1);
            if *allowed < 0 {
                return true;
            }
        }
    }
    false
}

/// A budget without a selector protects nobody, and neither does one that selects everything. Who is counted as taken away
/// already is not counted again.
fn protects(budget: &DisruptionBudget, pod: &Pod) -> bool {
    budget.meta.namespace == pod.key.namespace
        && !pod.labels.is_empty()
        && budget
            .selector
            .as_ref()
            .is_some_and(|selector| !selector.is_empty() && selector.matches(&pod.labels))
        && !budget.has_disrupted(&pod.key.name)
}

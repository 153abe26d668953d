//! Which of several victims a disruption budget protects, if they are removed one after the other.

use crate::model::{DisruptionBudget, Pod};
use std::sync::Arc;

/// First the pods whose removal would violate a budget, then the others, both in their order. Each removal is counted in every
/// budget of the pod up to the first that it violates, as kube-scheduler does.
pub(super) fn split_by_budget(
    pods: Vec<Arc<Pod>>,
    budgets: &[&DisruptionBudget],
) -> (Vec<Arc<Pod>>, Vec<Arc<Pod>>) {
    let mut allowed: Vec<i32> = budgets.iter().map(|budget| budget.disruptions_allowed).collect();
    pods.into_iter().partition(|pod| violates(pod, budgets, &mut allowed))
}

fn violates(pod: &Pod, budgets: &[&DisruptionBudget], allowed: &mut [i32]) -> bool {
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

/// Whether the removal of the pod counts in the budget. A budget without a selector, or with an empty one, protects no pod. A pod
/// that is listed in `disruptedPods` was counted already.
fn protects(budget: &DisruptionBudget, pod: &Pod) -> bool {
    budget.meta.namespace == pod.key.namespace
        && !pod.labels.is_empty()
        && budget
            .selector
            .as_ref()
            .is_some_and(|selector| !selector.is_empty() && selector.matches(&pod.labels))
        && !budget.has_disrupted(&pod.key.name)
}

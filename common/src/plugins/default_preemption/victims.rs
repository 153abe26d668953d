//! Who would have to leave one node for a pod to fit there.

use super::budgets::split;
use crate::cluster::Ledger;
use crate::framework::{Attempt, Rejections, Victims};
use crate::model::{DisruptionBudget, Pod};
use std::cmp::Reverse;
use std::sync::Arc;

/// What came of trying a node.
pub(super) enum Found {
    /// It would do without these.
    Candidate(Victims),
    /// Nobody there is less important than the pod.
    Nobody,
    /// It would not do, even if all that are less important left.
    Useless(Rejections),
}

/// Lets all go that are less important than the pod, and then as many as possible stay, the most important first; but
/// before them those that a disruption budget protects.
///
/// What is reserved follows from the books: what is kept for a pod as important as this one, or more, stays kept, and
/// what is kept for a less important one gives way.
pub(super) fn victims(
    attempt: &Attempt<'_>,
    ledger: &Ledger,
    budgets: &[&DisruptionBudget],
) -> Result<Found, String> {
    let priority = attempt.pod_context.pod.spec.priority;
    if ledger.lowest_priority >= priority {
        return Ok(Found::Nobody);
    }
    let lower = ledger.pods.iter().filter(|pod| pod.spec.priority < priority);
    let mut potential: Vec<Arc<Pod>> = lower.cloned().collect();
    let mut left = ledger.clone();
    for pod in &potential {
        left.remove(&pod.uid);
    }
    let rejections = (attempt.refit)(left.clone())?;
    if !rejections.is_empty() {
        return Ok(Found::Useless(rejections));
    }
    potential.sort_by_key(|pod| importance(pod));
    let (protected, others) = split(potential, budgets);
    let mut pods = reprieve(attempt, &mut left, protected);
    let violations = pods.len();
    pods.extend(reprieve(attempt, &mut left, others));
    pods.sort_by_key(|pod| importance(pod));
    if pods.is_empty() {
        return Err(format!("expected at least one victim pod on node \"{}\"", ledger.node.name));
    }
    Ok(Found::Candidate(Victims { node: ledger.node.name.clone(), pods, violations }))
}

/// Lets each of `pods` stay with whom the pod still fits, and returns the others.
fn reprieve(attempt: &Attempt<'_>, left: &mut Ledger, pods: Vec<Arc<Pod>>) -> Vec<Arc<Pod>> {
    let mut victims = Vec::new();
    for pod in pods {
        let mut with = left.clone();
        with.add(Arc::clone(&pod));
        // Whoever cannot say whether it fits is not believed to say yes.
        match (attempt.refit)(with.clone()) {
            Ok(rejections) if rejections.is_empty() => *left = with,
            _ => victims.push(pod),
        }
    }
    victims
}

/// Sorts the more important first: the higher priority, then who has been running for longer.
fn importance(pod: &Pod) -> impl Ord + use<> {
    (Reverse(pod.spec.priority), pod.started.is_none(), pod.started)
}

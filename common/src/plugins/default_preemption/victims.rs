//! The dry run on one node: which pods would have to be removed for a pod to fit. Entry point: [`select_victims`].

use super::budgets::split_by_budget;
use crate::cluster::Ledger;
use crate::framework::{Attempt, NodeVictims, Rejections};
use crate::model::{DisruptionBudget, Pod};
use std::cmp::Reverse;
use std::sync::Arc;

pub(super) enum NodeDryRun {
    /// The pod would fit without these victims.
    Candidate(NodeVictims),
    /// No pod there has a lower priority.
    NoVictims,
    /// The pod would not fit even without all pods of a lower priority.
    NoFit(Rejections),
}

/// Removes all pods of a lower priority, and then adds as many of them back as possible: first those that a disruption budget
/// protects, then the others, the most important first.
///
/// Reservations need no special treatment here: the filters read them from the ledger. A reservation of the same or a higher
/// priority keeps its room, one of a lower priority yields.
pub(super) fn select_victims(
    attempt: &Attempt<'_>,
    ledger: &Ledger,
    budgets: &[&DisruptionBudget],
) -> Result<NodeDryRun, String> {
    let priority = attempt.context.pod.spec.priority;
    if ledger.lowest_priority >= priority {
        return Ok(NodeDryRun::NoVictims);
    }
    let lower = ledger.pods.iter().filter(|pod| pod.spec.priority < priority);
    let mut potential: Vec<Arc<Pod>> = lower.cloned().collect();
    let mut remaining = ledger.clone();
    for pod in &potential {
        remaining.remove(&pod.uid);
    }
    let rejections = (attempt.filter_with)(remaining.clone())?;
    if !rejections.is_empty() {
        return Ok(NodeDryRun::NoFit(rejections));
    }
    potential.sort_by_key(|pod| importance(pod));
    let (protected, others) = split_by_budget(potential, budgets);
    let mut pods = reprieve(attempt, &mut remaining, protected);
    let violations = pods.len();
    pods.extend(reprieve(attempt, &mut remaining, others));
    pods.sort_by_key(|pod| importance(pod));
    if pods.is_empty() {
        return Err(format!("expected at least one victim pod on node \"{}\"", ledger.node.name));
    }
    Ok(NodeDryRun::Candidate(NodeVictims { node: ledger.node.name.clone(), pods, violations }))
}

/// Adds each of `pods` back with which the preemptor still fits, and returns the others.
fn reprieve(attempt: &Attempt<'_>, remaining: &mut Ledger, pods: Vec<Arc<Pod>>) -> Vec<Arc<Pod>> {
    let mut victims = Vec::new();
    for pod in pods {
        let mut with = remaining.clone();
        with.add(Arc::clone(&pod));
        // A filter that fails counts as one that rejects.
        match (attempt.filter_with)(with.clone()) {
            Ok(rejections) if rejections.is_empty() => *remaining = with,
            _ => victims.push(pod),
        }
    }
    victims
}

/// The sort key by importance, the most important first: the higher priority, then the earlier start.
fn importance(pod: &Pod) -> impl Ord + use<> {
    (Reverse(pod.spec.priority), pod.started.is_none(), pod.started)
}

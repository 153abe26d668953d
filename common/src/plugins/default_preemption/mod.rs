//! DefaultPreemption: when no node fits the pod, looks for the node where the fewest and least important pods have to be removed.
//!
//! It only decides; the daemon removes the victims. The daemon also keeps the pod out of the queue until its preemption is over,
//! which is a PreEnqueue plugin in kube-scheduler.

mod budgets;
#[cfg(test)]
mod tests;
mod victims;

use super::{Descriptor, Implementations};
use crate::config::DefaultPreemptionArgs;
use crate::framework::{
    Attempt, BlockerClass, NodeVictims, Plugin, PostFilter, PostFilterResult, RefusalCode, RefusalKind,
    Rejection, StaticReason, histogram,
};
use crate::model::DisruptionBudget;
use crate::model::{CatalogKind, ExtensionPoint};
use std::cmp::Reverse;
use std::sync::Arc;
use victims::{NodeDryRun, select_victims};

/// The plugin. kube-scheduler dry-runs only as many nodes as its arguments say, starting at a random one. We dry-run all nodes
/// where preemption could help, so the arguments have no effect.
pub struct DefaultPreemption;

const NAME: &str = "DefaultPreemption";
const NO_VICTIMS: StaticReason = RefusalKind::unresolvable(RefusalCode::Plugin, BlockerClass::Placement)
    .with_text("No preemption victims found for incoming pod");
const NOT_HELPFUL: StaticReason = RefusalKind::unresolvable(RefusalCode::Plugin, BlockerClass::Spec)
    .with_text("Preemption is not helpful for scheduling");

pub(super) fn descriptor() -> Descriptor {
    Descriptor::with_args(
        NAME,
        &[ExtensionPoint::PreEnqueue, ExtensionPoint::PostFilter, ExtensionPoint::PodGroupPostFilter],
        |_args: DefaultPreemptionArgs| Implementations {
            post_filter: Some(Arc::new(DefaultPreemption)),
            ..Implementations::default()
        },
    )
    .upstream()
    .by_default(0)
    .watches(&[CatalogKind::PodDisruptionBudget])
}

impl Plugin for DefaultPreemption {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PostFilter for DefaultPreemption {
    fn post_filter(&self, attempt: &Attempt<'_>) -> PostFilterResult {
        if let Some(reason) = ineligible(attempt) {
            return result_with(reason);
        }
        let mut results = dry_run_all(attempt);
        if !results.candidates.is_empty() {
            return select_candidate(results.candidates);
        }
        let (message, clears_nomination) = match results.errors.is_empty() {
            false => (aggregate(&mut results.errors), false),
            true => (no_candidates(attempt, &results.rejections), true),
        };
        PostFilterResult { clears_nomination, ..result_with(&message) }
    }

    fn candidates<'r>(&self, result: &'r PostFilterResult) -> Vec<&'r NodeVictims> {
        let is_ours = result.candidates.iter().any(|candidate| Some(candidate) == result.nominated.as_ref());
        let mut candidates: Vec<&NodeVictims> = result.candidates.iter().filter(|_| is_ours).collect();
        candidates.sort_by_key(|candidate| rank(candidate));
        candidates
    }

    fn revise(
        &self,
        mut result: PostFilterResult,
        accepted: Result<Vec<NodeVictims>, String>,
    ) -> PostFilterResult {
        let before = select_candidate(std::mem::take(&mut result.candidates)).message;
        // The message may begin with those of other PostFilter plugins; these stay.
        let others = result.message.strip_suffix(&before).unwrap_or_default();
        let revised = accepted.map_or_else(|error| result_with(&error), select_candidate);
        let message = format!("{others}{}", revised.message);
        PostFilterResult { message, clears_nomination: result.clears_nomination, ..revised }
    }
}

/// Nominates the best candidate, if there is one.
fn select_candidate(candidates: Vec<NodeVictims>) -> PostFilterResult {
    let Some(best) = candidates.iter().min_by_key(|candidate| rank(candidate)).cloned() else {
        return result_with("no candidate node for preemption");
    };
    let (node, count) = (&best.node, best.pods.len());
    let message = format!("found a potential placement for pod on node {node}, preempting {count} victims");
    PostFilterResult { nominated: Some(best), candidates, ..result_with(&message) }
}

/// A result with this message and nothing else.
fn result_with(message: &str) -> PostFilterResult {
    PostFilterResult { message: format!("preemption: {message}"), ..PostFilterResult::default() }
}

fn ineligible(attempt: &Attempt<'_>) -> Option<&'static str> {
    let pod = attempt.context.pod;
    if !pod.spec.preempts {
        return Some("not eligible due to preemptionPolicy=Never.");
    }
    let nominated_node = attempt.world.find(pod.nominated_node.as_deref()?)?;
    let nominated_node = attempt.diagnosis.nodes.iter().find(|node| node.id == nominated_node)?;
    // Victims are being removed there already. If the pod can never fit that node, it may preempt elsewhere.
    let ledger = attempt.world.ledger(nominated_node.id).filter(|_| !nominated_node.is_unresolvable())?;
    let is_leaving = |priority: i32, is_victim: bool| is_victim && priority < pod.spec.priority;
    let leaving = ledger.pods.iter().any(|other| is_leaving(other.spec.priority, other.is_victim()));
    leaving.then_some("not eligible due to a terminating pod on the nominated node.")
}

#[derive(Default)]
struct DryRunResults {
    /// The nodes that would fit the pod without their victims, in node order.
    candidates: Vec<NodeVictims>,
    /// Why other nodes would not fit the pod.
    rejections: Vec<Rejection>,
    errors: Vec<String>,
}

fn dry_run_all(attempt: &Attempt<'_>) -> DryRunResults {
    let budgets: Vec<&DisruptionBudget> = attempt.world.catalog().budgets.iter().collect();
    let mut results = DryRunResults::default();
    for node in attempt.diagnosis.nodes.iter().filter(|node| !node.is_unresolvable()) {
        let Some(ledger) = attempt.world.ledger(node.id) else { continue };
        match select_victims(attempt, ledger, &budgets) {
            Ok(NodeDryRun::Candidate(candidate)) => results.candidates.push(candidate),
            Ok(NodeDryRun::NoVictims) => {
                results.rejections.push(Rejection::new(NAME, NO_VICTIMS));
            }
            Ok(NodeDryRun::NoFit(rejections)) => results.rejections.extend(rejections),
            Err(error) => results.errors.push(error),
        }
    }
    results
}

/// The sort key of a candidate; the smallest is the best. In this order: few violated budgets, a low highest priority, a low sum of
/// priorities, few victims, and a late earliest start among the victims of the highest priority (not started counts as now). Of
/// equal keys the first in node order is taken.
fn rank(candidate: &NodeVictims) -> impl Ord + use<> {
    let start = candidate.earliest_start();
    (
        candidate.violations,
        candidate.highest_priority(),
        candidate.priority_sum(),
        candidate.pods.len(),
        Reverse((start.is_none(), start)),
    )
}

/// The message when there is no candidate. Nodes without a dry run are counted too.
fn no_candidates(attempt: &Attempt<'_>, rejections: &[Rejection]) -> String {
    let nodes = attempt.diagnosis.nodes.len();
    let without_dry_run = attempt.diagnosis.nodes.iter().filter(|node| node.is_unresolvable()).count();
    let not_helpful = Rejection::new(NAME, NOT_HELPFUL);
    let all = rejections.iter().chain(std::iter::repeat_n(&not_helpful, without_dry_run));
    format!("0/{nodes} nodes are available: {}.", histogram(all))
}

/// The errors as Kubernetes' `Aggregate` prints them, each once.
fn aggregate(errors: &mut Vec<String>) -> String {
    let mut seen = std::collections::BTreeSet::new();
    errors.retain(|error| seen.insert(error.clone()));
    match &errors[..] {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

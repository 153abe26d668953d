//! DefaultPreemption: when no node can have the pod, looks for the node where the fewest and least important others
//! would have to go for it.
//!
//! Only decides: whoever asked carries it out. That a pod waits until its own preemption is over (upstream's PreEnqueue)
//! is for the one that does.

mod budgets;
#[cfg(test)]
mod tests;
mod victims;

use super::kit::Kit;
use crate::config::PluginArgs;
use crate::framework::{
    Attempt, Cure, Plugin, PostFilter, PostFiltered, Reason, Rejection, Victims, histogram,
};
use crate::model::DisruptionBudget;
use std::cmp::Reverse;
use std::sync::Arc;
use victims::{Found, victims};

/// The plugin. Upstream dry-runs only as many nodes as its arguments say, from a random one on; we dry-run all that have
/// victims, so that the arguments make no difference.
pub struct DefaultPreemption;

const NAME: &str = "DefaultPreemption";

/// The plugin at its extension points.
pub(super) fn kit(_args: &PluginArgs) -> Kit {
    Kit { post_filter: Some(Arc::new(DefaultPreemption)), ..Kit::default() }
}

impl Plugin for DefaultPreemption {
    fn name(&self) -> &'static str {
        NAME
    }
}

impl PostFilter for DefaultPreemption {
    fn post_filter(&self, attempt: &Attempt<'_>) -> PostFiltered {
        if let Some(why) = ineligible(attempt) {
            return failed(why);
        }
        let mut run = dry_run(attempt);
        if !run.candidates.is_empty() {
            return choose(run.candidates);
        }
        let (why, takes_back) = match run.errors.is_empty() {
            false => (aggregate(&mut run.errors), false),
            true => (no_candidates(attempt, &run.rejections), true),
        };
        PostFiltered { takes_back, ..failed(&why) }
    }
}

/// The best of these candidates is what would help, if there is any.
fn choose(candidates: Vec<Victims>) -> PostFiltered {
    let Some(best) = candidates.iter().min_by_key(|candidate| rank(candidate)).cloned() else {
        return failed("no candidate node for preemption");
    };
    let (node, count) = (&best.node, best.pods.len());
    let words = format!("found a potential placement for pod on node {node}, preempting {count} victims");
    PostFiltered { nominated: Some(best), candidates, ..failed(&words) }
}

fn failed(why: &str) -> PostFiltered {
    PostFiltered { message: format!("preemption: {why}"), ..PostFiltered::default() }
}

/// The candidates of `help` that others have to agree to, the best first and at most so many; none if it is not from here.
pub fn candidates(help: &PostFiltered, most: usize) -> Vec<&Victims> {
    let is_ours = help.candidates.iter().any(|candidate| Some(candidate) == help.nominated.as_ref());
    let mut candidates: Vec<&Victims> = help.candidates.iter().filter(|_| is_ours).collect();
    candidates.sort_by_key(|candidate| rank(candidate));
    candidates.truncate(most);
    candidates
}

/// The same help, after others have said which candidates are left and who has to go there, or why they could not say.
pub fn revise(mut help: PostFiltered, left: Result<Vec<Victims>, String>) -> PostFiltered {
    let before = choose(std::mem::take(&mut help.candidates)).message;
    // Whoever spoke before goes on to do so.
    let others = help.message.strip_suffix(&before).unwrap_or_default();
    let revised = left.map_or_else(|why| failed(&why), choose);
    let message = format!("{others}{}", revised.message);
    PostFiltered { message, takes_back: help.takes_back, ..revised }
}

/// Why the pod may not make others go.
fn ineligible(attempt: &Attempt<'_>) -> Option<&'static str> {
    let pod = attempt.pod_context.pod;
    if !pod.spec.preempts {
        return Some("not eligible due to preemptionPolicy=Never.");
    }
    let nominated_node = attempt.world.find(pod.nominated.as_deref()?)?;
    let nominated_node = attempt.trace.nodes.iter().find(|node| node.id == nominated_node)?;
    // Room is being made for it there already. If that has become pointless, it may look elsewhere.
    let ledger = attempt.world.ledger(nominated_node.id).filter(|_| !nominated_node.is_unresolvable())?;
    let is_leaving = |priority: i32, is_victim: bool| is_victim && priority < pod.spec.priority;
    let leaving = ledger.pods.iter().any(|other| is_leaving(other.spec.priority, other.is_victim()));
    leaving.then_some("not eligible due to a terminating pod on the nominated node.")
}

/// What came of trying every node.
#[derive(Default)]
struct DryRun {
    /// Those that would do, in node order.
    candidates: Vec<Victims>,
    /// What those say that would not do.
    rejections: Vec<Rejection>,
    errors: Vec<String>,
}

fn dry_run(attempt: &Attempt<'_>) -> DryRun {
    let budgets: Vec<&DisruptionBudget> = attempt.world.catalog().budgets.iter().collect();
    let mut run = DryRun::default();
    for node in attempt.trace.nodes.iter().filter(|node| !node.is_unresolvable()) {
        let Some(ledger) = attempt.world.ledger(node.id) else { continue };
        match victims(attempt, ledger, &budgets) {
            Ok(Found::Candidate(candidate)) => run.candidates.push(candidate),
            Ok(Found::Nobody) => {
                let words = "No preemption victims found for incoming pod";
                run.rejections.push(Rejection::new(NAME, Reason::said_for_good(words, Cure::Pods)));
            }
            Ok(Found::Useless(rejections)) => run.rejections.extend(rejections),
            Err(why) => run.errors.push(why),
        }
    }
    run
}

/// The smaller the better: few budgets broken, a low highest priority, a low sum of priorities, few victims, and a late
/// start of the first of those with the highest priority. One that has not started yet starts now. Of equals the first
/// in node order is taken.
fn rank(candidate: &Victims) -> impl Ord + use<> {
    let start = candidate.earliest_start();
    (
        candidate.violations,
        candidate.highest_priority(),
        candidate.priority_sum(),
        candidate.pods.len(),
        Reverse((start.is_none(), start)),
    )
}

/// What is said when no node would do. Nodes that were not even tried are counted too.
fn no_candidates(attempt: &Attempt<'_>, rejections: &[Rejection]) -> String {
    let nodes = attempt.trace.nodes.len();
    let untried = attempt.trace.nodes.iter().filter(|node| node.is_unresolvable()).count();
    let words = "Preemption is not helpful for scheduling";
    let useless = Rejection::new(NAME, Reason::said_for_good(words, Cure::Node));
    let all = rejections.iter().chain(std::iter::repeat_n(&useless, untried));
    format!("0/{nodes} nodes are available: {}.", histogram(all))
}

/// Several errors as Go joins them, each once.
fn aggregate(errors: &mut Vec<String>) -> String {
    let mut seen = std::collections::BTreeSet::new();
    errors.retain(|error| seen.insert(error.clone()));
    match &errors[..] {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

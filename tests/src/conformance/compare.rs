//! Finds where two outcomes of one case differ. What upstream leaves to chance, and what we mean to do differently, is
//! compared as sets: see `docs/conformance.md`.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use jiff::Timestamp;

use super::format::{Candidate, NodeOutcome, Outcome, Preemption};

/// What upstream says of a node that it left out because the pod names another, and what NodeName itself says of it.
const LEFT_OUT: &str = "node(s) didn't satisfy plugin(s) [NodeName]";
const OTHER_NODE: &str = "node(s) didn't match the requested node name";

/// One thing that the two sides say differently.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// About what.
    pub what: String,
    /// What the core says.
    pub core: String,
    /// What the oracle says.
    pub oracle: String,
}

/// All differences between what the core and the oracle say about a case.
pub fn differences(core: &Outcome, oracle: &Outcome) -> Vec<Difference> {
    let mut found = Found::default();
    found.unless_equal("error", &core.error, &oracle.error);
    found.unless_equal("preEnqueue", &core.pre_enqueue, &oracle.pre_enqueue);
    found.unless_equal("preFilter", &core.pre_filter, &oracle.pre_filter);
    let names = |outcome: &Outcome| outcome.nodes.iter().map(|node| node.node.clone()).collect::<Vec<_>>();
    found.unless_equal("nodes", &names(core), &names(oracle));
    let left_out = oracle.excluded_by == ["NodeName"] && core.excluded_by.is_empty();
    for (ours, theirs) in core.nodes.iter().zip(&oracle.nodes) {
        found.node(ours, &if left_out { named(theirs) } else { theirs.clone() });
    }
    found.unless_equal("best", &core.best, &oracle.best);
    found.chosen(core, oracle);
    found.unless_equal("message", &message(core, false), &message(oracle, left_out));
    found.preemption(core.preemption.as_ref(), oracle.preemption.as_ref());
    found.0
}

/// A node that was left out, as the plugin by itself would have rejected it.
fn named(node: &NodeOutcome) -> NodeOutcome {
    let mut node = node.clone();
    if let Some(rejection) = node.rejection.as_mut().filter(|rejection| rejection.reasons == [LEFT_OUT]) {
        rejection.plugin = "NodeName".to_owned();
        rejection.reasons = vec![OTHER_NODE.to_owned()];
    }
    node
}

/// The message without the name of the nominated node, which is chance among equals.
fn message(outcome: &Outcome, left_out: bool) -> Option<String> {
    let mut message = outcome.message.clone()?;
    if let Some(node) = outcome.preemption.as_ref().and_then(|preemption| preemption.nominated.as_ref()) {
        message = message.replace(&format!("for pod on node {node}, "), "for pod on node …, ");
    }
    Some(if left_out { reworded(&message) } else { message })
}

/// The reasons are sorted as text, so that another wording can put them into another order.
fn reworded(message: &str) -> String {
    let Some((head, rest)) = message.split_once(": ") else { return message.to_owned() };
    let (reasons, tail) = match rest.split_once(". ") {
        Some((reasons, tail)) => (reasons, format!(". {tail}")),
        None => (rest.trim_end_matches('.'), ".".to_owned()),
    };
    let mut reasons: Vec<String> =
        reasons.split(", ").map(|reason| reason.replace(LEFT_OUT, OTHER_NODE)).collect();
    reasons.sort();
    format!("{head}: {}{tail}", reasons.join(", "))
}

#[derive(Default)]
struct Found(Vec<Difference>);

impl Found {
    fn unless_equal<T: PartialEq + Debug>(&mut self, what: &str, core: &T, oracle: &T) {
        if core != oracle {
            self.add(what, format!("{core:?}"), format!("{oracle:?}"));
        }
    }

    fn add(&mut self, what: &str, core: String, oracle: String) {
        self.0.push(Difference { what: what.to_owned(), core, oracle });
    }

    fn node(&mut self, core: &NodeOutcome, oracle: &NodeOutcome) {
        let of = |part: &str| format!("{part} of {}", oracle.node);
        self.unless_equal(&of("rejection"), &core.rejection, &oracle.rejection);
        self.unless_equal(&of("filters"), &core.filters, &oracle.filters);
        self.unless_equal(&of("scores"), &core.scores, &oracle.scores);
        self.unless_equal(&of("total"), &core.total, &oracle.total);
    }

    /// Either side may take any of the best nodes.
    fn chosen(&mut self, core: &Outcome, oracle: &Outcome) {
        let allowed = |host: &Option<String>, best: &[String]| match host {
            Some(host) => best.contains(host),
            None => best.is_empty(),
        };
        if !allowed(&core.host, &oracle.best) || !allowed(&oracle.host, &core.best) {
            self.unless_equal("host", &core.host, &oracle.host);
        }
    }

    /// Candidates are compared one by one; of those that are alike any may be nominated.
    fn preemption(&mut self, core: Option<&Preemption>, oracle: Option<&Preemption>) {
        let (Some(ours), Some(theirs)) = (core, oracle) else {
            return self.unless_equal("preemption", &core, &oracle);
        };
        let nodes: BTreeSet<&String> = ours.candidates.keys().chain(theirs.candidates.keys()).collect();
        for node in nodes {
            let (core, oracle) = (ours.candidates.get(node), theirs.candidates.get(node));
            self.unless_equal(&format!("candidate {node}"), &core, &oracle);
        }
        let best = best(&theirs.candidates);
        let allowed = |nominated: &Option<String>| match nominated {
            Some(node) => best.contains(node.as_str()),
            None => best.is_empty(),
        };
        if !allowed(&ours.nominated) || !allowed(&theirs.nominated) {
            let oracle = format!("{:?} of {best:?}", theirs.nominated);
            self.add("nominated", format!("{:?}", ours.nominated), oracle);
        }
    }
}

/// The candidates that upstream's ranking leaves equal: it takes any of them.
pub(super) fn best(candidates: &BTreeMap<String, Candidate>) -> BTreeSet<&str> {
    let highest = candidates.values().map(rank).max();
    let best = candidates.iter().filter(|(_, candidate)| Some(rank(candidate)) == highest);
    best.map(|(node, _)| node.as_str()).collect()
}

/// Greater is better: few budgets broken, a low highest priority, a low sum of priorities, few victims, and a late start of
/// the first of those with the highest priority. One that has not started yet starts now.
fn rank(candidate: &Candidate) -> (Reverse<(i64, i64, i64, usize)>, Timestamp) {
    let cost =
        (candidate.violations, candidate.highest_priority, candidate.priority_sum, candidate.victims.len());
    (Reverse(cost), candidate.earliest_start.unwrap_or(Timestamp::MAX))
}

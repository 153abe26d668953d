//! Finds the differences between two outcomes of one case ([`differences`]). What upstream leaves to chance, and what we decide
//! differently on purpose, is compared as sets: see `docs/conformance.md`.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use jiff::Timestamp;

use super::format::{Candidate, CaseOutcome, NodeOutcome, Preemption};

/// One value that differs between the two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The part of the outcome, such as `scores of node-01`.
    pub what: String,
    /// The core's value.
    pub core: String,
    /// The oracle's value.
    pub oracle: String,
}

/// All differences between the core's and the oracle's outcome of a case.
pub fn differences(core: &CaseOutcome, oracle: &CaseOutcome) -> Vec<Difference> {
    let mut found = Differences::default();
    found.unless_equal("error", &core.error, &oracle.error);
    found.unless_equal("preEnqueue", &core.pre_enqueue, &oracle.pre_enqueue);
    found.unless_equal("preFilter", &core.pre_filter, &oracle.pre_filter);
    let names =
        |outcome: &CaseOutcome| outcome.nodes.iter().map(|node| node.node.clone()).collect::<Vec<_>>();
    found.unless_equal("nodes", &names(core), &names(oracle));
    found.unless_equal("excludedBy", &core.excluded_by, &oracle.excluded_by);
    for (ours, theirs) in core.nodes.iter().zip(&oracle.nodes) {
        found.node(ours, theirs);
    }
    found.unless_equal("best", &core.best, &oracle.best);
    found.chosen(core, oracle);
    found.unless_equal("message", &message(core), &message(oracle));
    found.preemption(core.preemption.as_ref(), oracle.preemption.as_ref());
    let plugins: BTreeSet<&String> = core.hints.keys().chain(oracle.hints.keys()).collect();
    for plugin in plugins {
        let (ours, theirs) = (core.hints.get(plugin), oracle.hints.get(plugin));
        found.unless_equal(&format!("hint of {plugin}"), &ours, &theirs);
    }
    found.0
}

/// The message without the name of the nominated node, which is random among equal candidates.
fn message(outcome: &CaseOutcome) -> Option<String> {
    let message = outcome.message.clone()?;
    let Some(node) = outcome.preemption.as_ref().and_then(|preemption| preemption.nominated.as_ref()) else {
        return Some(message);
    };
    Some(message.replace(&format!("for pod on node {node}, "), "for pod on node …, "))
}

#[derive(Default)]
struct Differences(Vec<Difference>);

impl Differences {
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
    fn chosen(&mut self, core: &CaseOutcome, oracle: &CaseOutcome) {
        let allowed = |host: &Option<String>, best: &[String]| match host {
            Some(host) => best.contains(host),
            None => best.is_empty(),
        };
        if !allowed(&core.host, &oracle.best) || !allowed(&oracle.host, &core.best) {
            self.unless_equal("host", &core.host, &oracle.host);
        }
    }

    /// Candidates are compared one by one; any of the best ones may be nominated.
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

/// The best candidates by upstream's ranking. Upstream nominates any of them.
pub(super) fn best(candidates: &BTreeMap<String, Candidate>) -> BTreeSet<&str> {
    let highest = candidates.values().map(rank).max();
    let best = candidates.iter().filter(|(_, candidate)| Some(rank(candidate)) == highest);
    best.map(|(node, _)| node.as_str()).collect()
}

/// Greater is better: few violated disruption budgets, a low highest priority, a low sum of priorities, few victims, and a late
/// start of the earliest victim with the highest priority. A victim that has not started yet counts as started now.
fn rank(candidate: &Candidate) -> (Reverse<(i64, i64, i64, usize)>, Timestamp) {
    let cost =
        (candidate.violations, candidate.highest_priority, candidate.priority_sum, candidate.victims.len());
    (Reverse(cost), candidate.earliest_start.unwrap_or(Timestamp::MAX))
}

//! Counts in how many cases each plugin passed, rejected or scored nodes, so that a run without differences also shows what it
//! covered.

use std::collections::BTreeMap;
use std::fmt;

use super::compare::best;
use super::format::{Candidate, CaseOutcome, NodeOutcome};

/// Counts over all cases of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// All cases.
    pub cases: u64,
    /// Cases in which a node was found.
    pub placed: u64,
    /// Cases in which a scheduling gate rejected the pod.
    pub gated: u64,
    /// Cases in which nominated pods changed the verdict about a node.
    pub nominated: u64,
    /// Cases with preemption.
    pub preemption: PreemptionCounts,
    /// Each plugin by name.
    pub plugins: BTreeMap<String, PluginCounts>,
}

/// The cases in which a plugin did something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PluginCounts {
    /// It let a node pass.
    pub passed: u64,
    /// It rejected a node.
    pub rejected: u64,
    /// It gave two nodes different scores.
    pub scored: u64,
    /// It would have a pod tried again after a change.
    pub queued: u64,
    /// It would not.
    pub skipped: u64,
}

/// The cases in which preemption had a certain result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PreemptionCounts {
    /// There was a candidate.
    pub found: u64,
    /// There were several candidates.
    pub several: u64,
    /// Some candidates were better than others.
    pub ranked: u64,
    /// A candidate violated a disruption budget.
    pub violating: u64,
    /// A candidate had several victims.
    pub victims: u64,
}

impl PreemptionCounts {
    fn add(&mut self, candidates: &BTreeMap<String, Candidate>) {
        let best = best(candidates).len();
        self.found += u64::from(best > 0);
        self.several += u64::from(candidates.len() > 1);
        self.ranked += u64::from(best < candidates.len());
        self.violating += u64::from(candidates.values().any(|one| one.violations > 0));
        self.victims += u64::from(candidates.values().any(|one| one.victims.len() > 1));
    }
}

impl Tally {
    /// A tally with all these plugins, even those that are never counted.
    pub fn new(plugins: &[String]) -> Self {
        let plugins = plugins.iter().map(|name| (name.clone(), PluginCounts::default())).collect();
        Self { plugins, ..Self::default() }
    }

    /// Adds a case, whose outcome has every filter's verdict.
    pub fn add(&mut self, outcome: &CaseOutcome) {
        self.cases += 1;
        self.placed += u64::from(!outcome.best.is_empty());
        self.gated += u64::from(!outcome.pre_enqueue.is_empty());
        self.nominated += u64::from(outcome.pre_filter.is_none() && outcome.nodes.iter().any(nominated));
        if let Some(preemption) = &outcome.preemption {
            self.preemption.add(&preemption.candidates);
        }
        for (name, counts) in &mut self.plugins {
            counts.add(name, outcome);
        }
    }

    /// Adds the hints about a change.
    pub fn add_hints(&mut self, hints: &BTreeMap<String, bool>) {
        for (plugin, queues) in hints {
            let counts = self.plugins.entry(plugin.clone()).or_default();
            counts.queued += u64::from(*queues);
            counts.skipped += u64::from(!queues);
        }
    }

    /// The plugins that gave hints, and always the same.
    pub fn one_sided(&self) -> Vec<&str> {
        let is_one_sided = |counts: &PluginCounts| (counts.queued == 0) != (counts.skipped == 0);
        let plugins = self.plugins.iter().filter(|(_, counts)| is_one_sided(counts));
        plugins.map(|(name, _)| name.as_str()).collect()
    }

    /// A count as a share of all cases, in per mille.
    pub fn per_mille(&self, count: u64) -> u64 {
        count * 1000 / self.cases.max(1)
    }

    /// The counts that do not belong to one plugin, each with its label.
    fn others(&self) -> [(&'static str, u64); 8] {
        [
            ("some node was found", self.placed),
            ("a gate held the pod back", self.gated),
            ("nominated pods changed a verdict", self.nominated),
            ("preemption: some candidate", self.preemption.found),
            ("preemption: several candidates", self.preemption.several),
            ("preemption: some better than others", self.preemption.ranked),
            ("preemption: budgets broken", self.preemption.violating),
            ("preemption: several victims", self.preemption.victims),
        ]
    }
}

impl PluginCounts {
    fn add(&mut self, name: &str, outcome: &CaseOutcome) {
        let rejects = |node: &&NodeOutcome| node.filters.iter().any(|filter| filter.plugin == *name);
        let rejected = match &outcome.pre_filter {
            Some(verdict) if verdict.plugin == *name => outcome.nodes.len(),
            _ => outcome.nodes.iter().filter(rejects).count(),
        };
        self.rejected += u64::from(rejected > 0);
        self.passed += u64::from(rejected < outcome.nodes.len());
        let mut scores = outcome.nodes.iter().filter_map(|node| node.scores.get(name));
        let first = scores.next();
        self.scored += u64::from(scores.any(|score| Some(score) != first));
    }
}

/// Whether the node is rejected, and without nominated pods would not be rejected or be rejected by another filter.
fn nominated(node: &NodeOutcome) -> bool {
    let looked_at = node.rejection.as_ref().filter(|rejection| !rejection.plugin.is_empty());
    looked_at.is_some_and(|rejection| node.filters.first() != Some(rejection))
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |count: u64| {
            let share = self.per_mille(count);
            format!("{}.{} %", share / 10, share % 10)
        };
        writeln!(
            f,
            "{:<34} {:>8} {:>9} {:>8} {:>8} {:>8}",
            "in so many cases the plugin", "passed", "rejected", "scored", "queued", "skipped"
        )?;
        for (name, counts) in &self.plugins {
            let [passed, rejected, scored] = [counts.passed, counts.rejected, counts.scored].map(share);
            let PluginCounts { queued, skipped, .. } = counts;
            writeln!(f, "{name:<34} {passed:>8} {rejected:>9} {scored:>8} {queued:>8} {skipped:>8}")?;
        }
        for (what, count) in self.others() {
            writeln!(f, "{what:<34} {:>8}", share(count))?;
        }
        Ok(())
    }
}

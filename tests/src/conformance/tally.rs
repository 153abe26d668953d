//! Counts how often each plugin had a say, so that a run without differences also says what it was about.

use std::collections::BTreeMap;
use std::fmt;

use super::format::{NodeOutcome, Outcome, Verdict};

/// Counts over all cases of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How many cases.
    pub cases: u64,
    /// How many of them found a node.
    pub placed: u64,
    /// Each plugin by name.
    pub plugins: BTreeMap<String, Said>,
}

/// In how many cases a plugin said something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// It let some node pass.
    pub passed: u64,
    /// It rejected some node.
    pub rejected: u64,
    /// It liked some node better than another.
    pub scored: u64,
}

impl Tally {
    /// For `plugins`, even if none of them ever says anything.
    pub fn new(plugins: &[String]) -> Self {
        let plugins = plugins.iter().map(|name| (name.clone(), Said::default())).collect();
        Self { plugins, ..Self::default() }
    }

    /// Adds a case; its outcome holds every filter's verdict.
    pub fn add(&mut self, outcome: &Outcome) {
        self.cases += 1;
        self.placed += u64::from(!outcome.best.is_empty());
        for (name, said) in &mut self.plugins {
            let rejects = |node: &&NodeOutcome| node.filters.iter().any(|filter| filter.plugin == *name);
            let refuses = |verdict: &Verdict| verdict.plugin == *name;
            let rejected = match &outcome.pre_filter {
                Some(verdict) if refuses(verdict) => outcome.nodes.len(),
                _ => outcome.nodes.iter().filter(rejects).count(),
            };
            said.rejected += u64::from(rejected > 0);
            said.passed += u64::from(rejected < outcome.nodes.len());
            let mut scores = outcome.nodes.iter().filter_map(|node| node.scores.get(name));
            let first = scores.next();
            said.scored += u64::from(scores.any(|score| Some(score) != first));
        }
    }

    /// A count as a share of all cases, in per mille.
    pub fn per_mille(&self, count: u64) -> u64 {
        count * 1000 / self.cases.max(1)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |count: u64| {
            let share = self.per_mille(count);
            format!("{}.{} %", share / 10, share % 10)
        };
        writeln!(
            f,
            "{:<34} {:>8} {:>9} {:>8}",
            "in so many cases the plugin", "passed", "rejected", "scored"
        )?;
        for (name, said) in &self.plugins {
            let [passed, rejected, scored] = [said.passed, said.rejected, said.scored].map(share);
            writeln!(f, "{name:<34} {passed:>8} {rejected:>9} {scored:>8}")?;
        }
        writeln!(f, "{:<34} {:>8}", "some node was found", share(self.placed))
    }
}

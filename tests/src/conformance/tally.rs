//! Counts how often each plugin had a say, so that a run without differences also says what it was about.

use std::collections::BTreeMap;
use std::fmt;

use super::compare::best;
use super::format::{Candidate, NodeOutcome, Outcome};

/// Counts over all cases of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How many cases.
    pub cases: u64,
    /// How many of them found a node.
    pub placed: u64,
    /// A gate kept the pod from being looked at.
    pub gated: u64,
    /// Pods that are nominated changed what is said of some node.
    pub nominated: u64,
    /// What preemption came to.
    pub preemption: Preempted,
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

/// In how many cases preemption came to something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preempted {
    /// Some node would do.
    pub found: u64,
    /// Several would do.
    pub several: u64,
    /// One of several was better than the others.
    pub ranked: u64,
    /// Some node would do only if a disruption budget was broken.
    pub violating: u64,
    /// Some node would do only without more than one of its pods.
    pub victims: u64,
}

impl Preempted {
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
    /// For `plugins`, even if none of them ever says anything.
    pub fn new(plugins: &[String]) -> Self {
        let plugins = plugins.iter().map(|name| (name.clone(), Said::default())).collect();
        Self { plugins, ..Self::default() }
    }

    /// Adds a case; its outcome holds every filter's verdict.
    pub fn add(&mut self, outcome: &Outcome) {
        self.cases += 1;
        self.placed += u64::from(!outcome.best.is_empty());
        self.gated += u64::from(!outcome.pre_enqueue.is_empty());
        self.nominated += u64::from(outcome.pre_filter.is_none() && outcome.nodes.iter().any(nominated));
        if let Some(preemption) = &outcome.preemption {
            self.preemption.add(&preemption.candidates);
        }
        for (name, said) in &mut self.plugins {
            said.add(name, outcome);
        }
    }

    /// A count as a share of all cases, in per mille.
    pub fn per_mille(&self, count: u64) -> u64 {
        count * 1000 / self.cases.max(1)
    }

    /// The counts that are not about one plugin, each with its name.
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

impl Said {
    fn add(&mut self, name: &str, outcome: &Outcome) {
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

/// Whether the node is rejected, and without nominated pods would not be, or by another.
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
            "{:<34} {:>8} {:>9} {:>8}",
            "in so many cases the plugin", "passed", "rejected", "scored"
        )?;
        for (name, said) in &self.plugins {
            let [passed, rejected, scored] = [said.passed, said.rejected, said.scored].map(share);
            writeln!(f, "{name:<34} {passed:>8} {rejected:>9} {scored:>8}")?;
        }
        for (what, count) in self.others() {
            writeln!(f, "{what:<34} {:>8}", share(count))?;
        }
        Ok(())
    }
}

//! How often each rule was asked, and with what result. A rule that is never asked, or mostly excused, shows nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How often one rule was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// There was something to judge.
    pub checked: u64,
    /// Of these: what happened breaks the rule as it is written, and the checker has worked out that whoever did it could not know.
    pub excused: u64,
    /// The moment came that the rule is about, and there was nothing to judge.
    pub vacuous: u64,
}

/// The counts of all rules, by the name of the rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<&'static str, Count>);

/// Of so many checks of a rule at most one may be excused.
const EXCUSED_ONE_IN: u64 = 50;

impl Counts {
    fn of(&mut self, rule: &'static str) -> &mut Count {
        self.0.entry(rule).or_default()
    }

    /// The rule was asked.
    pub fn check(&mut self, rule: &'static str) {
        self.of(rule).checked += 1;
    }

    /// The answer to a question that was counted before is excused.
    pub fn excuse(&mut self, rule: &'static str) {
        self.of(rule).excused += 1;
    }

    /// There was nothing to ask.
    pub fn skip(&mut self, rule: &'static str) {
        self.of(rule).vacuous += 1;
    }

    /// Adds the counts of another simulation.
    pub fn add(&mut self, other: &Self) {
        for (rule, more) in &other.0 {
            let count = self.of(rule);
            count.checked += more.checked;
            count.excused += more.excused;
            count.vacuous += more.vacuous;
        }
    }

    /// The count of one rule.
    pub fn get(&self, rule: &str) -> Count {
        self.0.get(rule).copied().unwrap_or_default()
    }

    /// The counts of these rules, and of all others that were asked, one line each.
    pub fn table(&self, rules: &[&'static str]) -> String {
        let mut names: Vec<&str> = rules.to_vec();
        names.extend(self.0.keys().filter(|name| !rules.contains(name)));
        let mut text = format!("{:<12} {:>14} {:>10} {:>14}\n", "rule", "checked", "excused", "vacuous");
        for name in names {
            let Count { checked, excused, vacuous } = self.get(name);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<12} {checked:>14} {excused:>10} {vacuous:>14}");
        }
        text
    }

    /// What is wrong with the counts of these rules: one was never asked, or too often excused.
    pub fn faults(&self, rules: &[&'static str]) -> Vec<String> {
        let fault = |rule: &&'static str| {
            let Count { checked, excused, .. } = self.get(rule);
            match checked {
                0 => Some(format!("{rule} was never checked")),
                _ if excused.saturating_mul(EXCUSED_ONE_IN) > checked => Some(format!(
                    "{rule} was excused in {excused} of {checked} checks, more than one in {EXCUSED_ONE_IN}"
                )),
                _ => None,
            }
        };
        rules.iter().filter_map(fault).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_is_never_asked_or_too_often_excused_is_a_fault() {
        let mut counts = Counts::default();
        for _ in 0..100 {
            counts.check("I1");
            counts.check("I2");
        }
        (0..2).for_each(|_| counts.excuse("I1"));
        (0..3).for_each(|_| counts.excuse("I2"));
        counts.skip("I3");
        let faults = counts.faults(&["I1", "I2", "I3"]);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].starts_with("I2 was excused in 3 of 100"), "{faults:?}");
        assert_eq!(faults[1], "I3 was never checked");
    }

    #[test]
    fn sums_are_of_all() {
        let (mut one, mut other) = (Counts::default(), Counts::default());
        one.check("I1");
        other.check("I1");
        other.excuse("I1");
        other.skip("I5");
        one.add(&other);
        assert_eq!(one.get("I1"), Count { checked: 2, excused: 1, vacuous: 0 });
        assert_eq!(one.get("I5").vacuous, 1);
        assert!(one.table(&["I1", "I4"]).contains("I4"), "a rule without a count is in the table");
    }
}

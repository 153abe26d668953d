//! Counts how often each rule was checked, and with what result. A rule that is never checked, or mostly excused, proves nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The counts of one rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The rule applied, and was checked.
    pub checked: u64,
    /// Of these: the rule was broken, but right on the state that the writer knew when it decided.
    pub excused: u64,
    /// The rule could have applied, and there was nothing to check.
    pub vacuous: u64,
}

/// The counts of all rules, by the name of the rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<&'static str, Count>);

/// At most one of so many checks of a rule may be excused.
const EXCUSED_ONE_IN: u64 = 50;

impl Counts {
    fn of(&mut self, rule: &'static str) -> &mut Count {
        self.0.entry(rule).or_default()
    }

    /// Counts a check.
    pub fn check(&mut self, rule: &'static str) {
        self.of(rule).checked += 1;
    }

    /// Counts an excuse, after the check itself was counted.
    pub fn excuse(&mut self, rule: &'static str) {
        self.of(rule).excused += 1;
    }

    /// Counts that there was nothing to check.
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

    /// A table of these rules, and of all other rules that have counts, one line each.
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

    /// The rules of these that were never checked or excused too often.
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

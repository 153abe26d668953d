//! Which changes of disruption budgets would allow an eviction that they forbid. Each is tried on the numbers of the budget, and left
//! out if the API server would still refuse the eviction after it. Entry point: [`changes`].

use super::{Budget, forbid};

/// A change after which the eviction is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BudgetChange {
    /// A field of the budget's spec gets another value, which is JSON.
    Set { budget: String, field: &'static str, value: String },
    /// These budgets are deleted, because only one budget may select a pod.
    Delete(Vec<String>),
}

/// The changes that would allow the eviction of a pod which all `budgets` select, the mildest first.
pub(super) fn changes(budgets: &[Budget], is_ready: bool) -> Vec<BudgetChange> {
    match budgets {
        [] => Vec::new(),
        [budget] => {
            [other_number(budget, is_ready), always_allow(budget, is_ready)].into_iter().flatten().collect()
        }
        several => delete_others(several, is_ready).into_iter().collect(),
    }
}

/// The least change of `minAvailable` or `maxUnavailable`, whichever the budget has.
fn other_number(budget: &Budget, is_ready: bool) -> Option<BudgetChange> {
    let is_max = budget.rule.starts_with(MAX_UNAVAILABLE);
    let is_allowed = |needs: i64| !forbid(&[budget.needing(needs)], is_ready);
    // No number allows more than to need no pod at all.
    let needs = (0..=budget.needs.min(budget.has)).rev().find(|needs| is_allowed(*needs))?;
    let (field, number) = match is_max {
        true => (MAX_UNAVAILABLE, budget.expected.saturating_sub(needs)),
        false => (MIN_AVAILABLE, needs),
    };
    Some(BudgetChange::Set { budget: budget.name.clone(), field, value: number.to_string() })
}

/// Pods that are not ready may always be evicted.
fn always_allow(budget: &Budget, is_ready: bool) -> Option<BudgetChange> {
    let changed = Budget { allows_unhealthy: true, ..budget.clone() };
    (!forbid(&[changed], is_ready)).then(|| BudgetChange::Set {
        budget: budget.name.clone(),
        field: "unhealthyPodEvictionPolicy",
        value: "\"AlwaysAllow\"".to_owned(),
    })
}

/// All budgets are deleted but one that allows the eviction now.
fn delete_others(budgets: &[Budget], is_ready: bool) -> Option<BudgetChange> {
    let kept = budgets.iter().position(|budget| !forbid(std::slice::from_ref(budget), is_ready))?;
    let others = budgets.iter().enumerate().filter(|(at, _)| *at != kept);
    Some(BudgetChange::Delete(others.map(|(_, budget)| budget.name.clone()).collect()))
}

const MAX_UNAVAILABLE: &str = "maxUnavailable";
const MIN_AVAILABLE: &str = "minAvailable";

impl Budget {
    /// The budget as it would be if so many of its pods had to be healthy.
    fn needing(&self, needs: i64) -> Self {
        Self { needs, allowed: (self.has - needs).max(0), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::budget;
    use super::{BudgetChange, changes};
    use serde_json::json;

    fn set(field: &'static str, value: &str) -> BudgetChange {
        BudgetChange::Set { budget: "db".to_owned(), field, value: value.to_owned() }
    }

    /// Less than what is healthy now has to be enough, however many pods are expected.
    #[test]
    fn the_number_allows_the_eviction_with_the_pods_that_are_healthy_now() {
        for (rule, numbers, is_ready, expected) in [
            (json!({ "minAvailable": 30 }), (30, 27, 30), true, set("minAvailable", "26")),
            (json!({ "minAvailable": 30 }), (30, 30, 30), true, set("minAvailable", "29")),
            (json!({ "minAvailable": "100%" }), (30, 27, 30), true, set("minAvailable", "26")),
            (json!({ "minAvailable": 1 }), (1, 1, 1), true, set("minAvailable", "0")),
            (json!({ "maxUnavailable": 0 }), (30, 27, 30), true, set("maxUnavailable", "4")),
            (json!({ "maxUnavailable": 0 }), (3, 3, 3), true, set("maxUnavailable", "1")),
            // A pod that is not ready may go if the others are as many as needed.
            (json!({ "minAvailable": 30 }), (30, 27, 30), false, set("minAvailable", "27")),
        ] {
            let found = changes(&[budget(&rule, numbers)], is_ready);
            assert_eq!(found.first(), Some(&expected), "{rule} {numbers:?}");
        }
    }

    #[test]
    fn where_no_number_helps_none_is_named() {
        let none_is_healthy = budget(&json!({ "minAvailable": 3 }), (3, 0, 3));
        let always = set("unhealthyPodEvictionPolicy", "\"AlwaysAllow\"");
        assert_eq!(changes(std::slice::from_ref(&none_is_healthy), false), [always]);
        assert_eq!(changes(&[none_is_healthy], true), []);
    }

    #[test]
    fn of_several_budgets_one_that_allows_it_stays() {
        let fine =
            || super::Budget { name: "fine".into(), ..budget(&json!({ "maxUnavailable": 1 }), (2, 3, 3)) };
        let never =
            || super::Budget { name: "never".into(), ..budget(&json!({ "maxUnavailable": 0 }), (3, 3, 3)) };
        let delete =
            |names: &[&str]| BudgetChange::Delete(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(changes(&[never(), fine()], true), [delete(&["never"])]);
        assert_eq!(changes(&[fine(), never(), fine()], true), [delete(&["never", "fine"])]);
        assert_eq!(changes(&[never(), never()], true), []);
    }
}

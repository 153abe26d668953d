//! What disruption budgets say about one pod: which forbid it to go, for now or for ever, and who would have to get well.

use common::api;
use common::model::labels::Labels;
use common::model::selector::Selector;
use serde::Deserialize;
use serde_json::Value;

/// A PodDisruptionBudget, as far as people want to know it.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `minAvailable: 2` or `maxUnavailable: 10%`, as it was written.
    pub rule: String,
    /// How many of its pods must be healthy.
    pub needs: i64,
    /// How many are.
    pub has: i64,
    /// How many there are to be.
    pub expected: i64,
    /// How many may go now.
    pub allowed: i64,
    /// Whether pods that are not ready may go whatever the budget.
    pub lets_unhealthy_go: bool,
    selector: Option<Selector>,
}

/// A refusal for the sake of a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocked {
    /// The budgets that the pod is under.
    pub budgets: Vec<Budget>,
    /// What the server said.
    pub message: String,
    /// The pods of these budgets that are not ready.
    pub unhealthy: Vec<String>,
    /// Why waiting will not help, if it will not.
    pub never: Option<Never>,
}

/// Why a budget can never allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {
    /// It needs as many healthy pods as there are to be.
    NeedsAll,
    /// The pod is under more than one, which the API server does not support.
    Several,
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct BudgetWire {
    metadata: MetaWire,
    spec: SpecWire,
    status: StatusWire,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct MetaWire {
    namespace: String,
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct SpecWire {
    min_available: Option<Value>,
    max_unavailable: Option<Value>,
    unhealthy_pod_eviction_policy: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct StatusWire {
    desired_healthy: i64,
    current_healthy: i64,
    expected_pods: i64,
    disruptions_allowed: i64,
}

impl Budget {
    /// Reads a PodDisruptionBudget. None that cannot be read protects anybody.
    pub fn read(json: &str) -> Option<Self> {
        let BudgetWire { metadata, spec, status } = serde_json::from_str(json).ok()?;
        let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let rule = match (&spec.max_unavailable, &spec.min_available) {
            (Some(value), _) => format!("maxUnavailable {}", said(value)),
            (None, Some(value)) => format!("minAvailable {}", said(value)),
            (None, None) => "no rule".to_owned(),
        };
        Some(Self {
            namespace: metadata.namespace,
            name: metadata.name,
            rule,
            needs: status.desired_healthy,
            has: status.current_healthy,
            expected: status.expected_pods,
            allowed: status.disruptions_allowed,
            lets_unhealthy_go: spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow"),
            selector: api::budget::budget(json).ok()?.selector,
        })
    }

    /// Whether a pod with these labels, in its namespace, is one of its pods.
    pub fn protects(&self, labels: &Labels) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.matches(labels))
    }

    /// Whether it can allow nothing for as long as it and the number of pods stay what they are.
    pub fn is_for_ever(&self) -> bool {
        self.expected > 0 && self.needs >= self.expected
    }
}

impl Blocked {
    /// What a refusal in the words of `message` means, given the budgets of the pod and its pods that are not ready.
    pub fn new(budgets: Vec<Budget>, unhealthy: Vec<String>, message: String) -> Self {
        let never = match &budgets[..] {
            [_, _, ..] => Some(Never::Several),
            [budget] if budget.is_for_ever() => Some(Never::NeedsAll),
            _ => None,
        };
        Self { budgets, message, unhealthy, never }
    }
}

#[cfg(test)]
mod tests {
    use super::{Blocked, Budget, Never};
    use common::model::labels::Labels;
    use serde_json::{Value, json};

    fn budget(rule: &Value, (needs, has, expected): (i64, i64, i64)) -> Budget {
        let mut spec = json!({ "selector": { "matchLabels": { "app": "db" } } });
        spec.as_object_mut().unwrap().extend(rule.as_object().unwrap().clone());
        let status = json!({ "desiredHealthy": needs, "currentHealthy": has, "expectedPods": expected,
                             "disruptionsAllowed": (has - needs).max(0) });
        let json =
            json!({ "metadata": { "namespace": "default", "name": "db" }, "spec": spec, "status": status });
        Budget::read(&json.to_string()).unwrap()
    }

    #[test]
    fn a_budget_that_needs_every_pod_is_recognised() {
        let cases = [
            (json!({ "maxUnavailable": 0 }), (3, 3, 3), "maxUnavailable 0", true),
            (json!({ "maxUnavailable": "0%" }), (3, 3, 3), "maxUnavailable 0%", true),
            (json!({ "minAvailable": 1 }), (1, 1, 1), "minAvailable 1", true),
            (json!({ "minAvailable": 5 }), (5, 3, 3), "minAvailable 5", true),
            (json!({ "minAvailable": "90%" }), (3, 3, 3), "minAvailable 90%", true),
            (json!({ "maxUnavailable": 1 }), (2, 2, 3), "maxUnavailable 1", false),
            (json!({ "minAvailable": 2 }), (2, 3, 3), "minAvailable 2", false),
            // Not yet looked at by its controller.
            (json!({ "maxUnavailable": 1 }), (0, 0, 0), "maxUnavailable 1", false),
        ];
        for (rule, numbers, said, is_for_ever) in cases {
            let budget = budget(&rule, numbers);
            assert_eq!((&*budget.rule, budget.is_for_ever()), (said, is_for_ever));
        }
    }

    #[test]
    fn a_budget_protects_its_own() {
        let budget = budget(&json!({ "maxUnavailable": 1 }), (2, 3, 3));
        assert!(budget.protects(&Labels::new([("app", "db"), ("x", "y")])));
        assert!(!budget.protects(&Labels::new([("app", "web")])));
    }

    #[test]
    fn two_budgets_are_one_too_many() {
        let fine = || budget(&json!({ "maxUnavailable": 1 }), (2, 2, 3));
        let why = |budgets| Blocked::new(budgets, vec![], String::new()).never;
        assert_eq!(why(vec![fine(), fine()]), Some(Never::Several));
        assert_eq!(why(vec![fine()]), None);
        assert_eq!(why(vec![budget(&json!({ "maxUnavailable": 0 }), (3, 3, 3))]), Some(Never::NeedsAll));
        assert_eq!(why(vec![]), None, "who may not read budgets waits");
    }
}

//! PodDisruptionBudgets and one pod: which budgets forbid its eviction, whether waiting helps, and which pods are not healthy.

mod changes;

pub use changes::BudgetChange;

use common::api;
use common::model::labels::Labels;
use common::model::selector::Selector;
use serde::Deserialize;
use serde_json::Value;

/// A PodDisruptionBudget, as far as it is shown to users.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    pub namespace: String,
    pub name: String,
    /// `minAvailable: 2` or `maxUnavailable: 10%`, as it was written.
    pub rule: String,
    /// `desiredHealthy`: how many of its pods must be healthy.
    pub needs: i64,
    /// `currentHealthy`: how many of its pods are healthy.
    pub has: i64,
    /// `expectedPods`: how many pods the budget covers.
    pub expected: i64,
    /// `disruptionsAllowed`: how many pods may be evicted now.
    pub allowed: i64,
    /// Whether pods that are not ready may always be evicted (`unhealthyPodEvictionPolicy: AlwaysAllow`).
    pub allows_unhealthy: bool,
    selector: Option<Selector>,
}

/// An eviction that the API server refused because of a budget.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockedEviction {
    /// The budgets whose selector matches the pod.
    pub budgets: Vec<Budget>,
    pub message: String,
    /// The pods of these budgets that are not ready.
    pub unhealthy: Vec<String>,
    /// Whether the pod is ready.
    pub is_ready: bool,
    /// The reason why waiting does not help; `None` if it may help.
    pub permanent: Option<PermanentReason>,
}

/// Why a budget can never allow the eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermanentReason {
    /// The budget needs as many healthy pods as it covers.
    NeedsAll,
    /// More than one budget selects the pod, which the API server does not support.
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
    /// Decodes a PodDisruptionBudget; `None` if it is malformed.
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
            allows_unhealthy: spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow"),
            selector: api::budget::budget(json).ok()?.selector,
        })
    }

    /// Whether the selector matches these labels. The caller checks the namespace.
    pub fn protects(&self, labels: &Labels) -> bool {
        self.selector.as_ref().is_some_and(|selector| selector.matches(labels))
    }

    /// Whether the API server would refuse an eviction now. A pod that is not ready may go if the others are enough.
    fn forbids(&self, is_ready: bool) -> bool {
        let is_spare = self.allows_unhealthy || (self.needs > 0 && self.has >= self.needs);
        self.allowed <= 0 && (is_ready || !is_spare)
    }

    /// Whether the budget allows no disruption at all, unless the budget or the number of pods changes.
    pub fn is_for_ever(&self) -> bool {
        self.expected > 0 && self.needs >= self.expected
    }
}

/// Whether these budgets, which all select the pod, forbid its eviction now.
pub fn forbid(budgets: &[Budget], is_ready: bool) -> bool {
    budgets.len() > 1 || budgets.iter().any(|budget| budget.forbids(is_ready))
}

impl BlockedEviction {
    /// A refusal with the server's `message`, by these budgets, with the pods of theirs that are not ready.
    pub fn new(budgets: Vec<Budget>, unhealthy: Vec<String>, is_ready: bool, message: String) -> Self {
        let permanent = match &budgets[..] {
            [_, _, ..] => Some(PermanentReason::Several),
            [budget] if budget.is_for_ever() => Some(PermanentReason::NeedsAll),
            _ => None,
        };
        Self { budgets, message, unhealthy, is_ready, permanent }
    }

    /// The changes of the budgets after which the API server would allow the eviction, the mildest first.
    pub fn changes(&self) -> Vec<BudgetChange> {
        changes::changes(&self.budgets, self.is_ready)
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockedEviction, Budget, PermanentReason, forbid};
    use common::model::labels::Labels;
    use serde_json::{Value, json};

    pub(super) fn budget(rule: &Value, (needs, has, expected): (i64, i64, i64)) -> Budget {
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
            // The disruption controller has not filled in the status yet.
            (json!({ "maxUnavailable": 1 }), (0, 0, 0), "maxUnavailable 1", false),
        ];
        for (rule, numbers, said, is_for_ever) in cases {
            let budget = budget(&rule, numbers);
            assert_eq!((&*budget.rule, budget.is_for_ever()), (said, is_for_ever));
        }
    }

    #[test]
    fn an_eviction_is_forbidden_as_the_api_server_forbids_it() {
        let one = |needs, has, is_ready| {
            forbid(&[budget(&json!({ "minAvailable": 2 }), (needs, has, 3))], is_ready)
        };
        assert!(one(2, 2, true) && !one(2, 3, true), "the last healthy one stays");
        assert!(!one(2, 2, false) && one(2, 1, false), "one that is not ready goes if the others are enough");
        assert!(one(0, 0, false), "the status was not filled in yet");
        let mut always = budget(&json!({ "minAvailable": 2 }), (2, 1, 3));
        always.allows_unhealthy = true;
        assert!(forbid(std::slice::from_ref(&always), true) && !forbid(std::slice::from_ref(&always), false));
        let fine = || budget(&json!({ "maxUnavailable": 1 }), (2, 3, 3));
        assert!(!forbid(&[], true) && !forbid(&[fine()], true) && forbid(&[fine(), fine()], true));
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
        let why = |budgets| BlockedEviction::new(budgets, vec![], true, String::new()).permanent;
        assert_eq!(why(vec![fine(), fine()]), Some(PermanentReason::Several));
        assert_eq!(why(vec![fine()]), None);
        assert_eq!(
            why(vec![budget(&json!({ "maxUnavailable": 0 }), (3, 3, 3))]),
            Some(PermanentReason::NeedsAll)
        );
        assert_eq!(why(vec![]), None, "who may not read budgets waits");
    }
}

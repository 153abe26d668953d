//! A PodDisruptionBudget: how many of the pods that it selects may be evicted.

use super::{ObjectMeta, Pod, Selector, Text};

#[derive(Clone, Debug, PartialEq)]
pub struct DisruptionBudget {
    pub meta: ObjectMeta,
    /// The pods of its own namespace that it protects. `None` if the selector is missing or invalid: it then protects no pod.
    pub selector: Option<Selector>,
    /// How many more of these pods may be evicted now (`status.disruptionsAllowed`).
    pub disruptions_allowed: i32,
    /// Names of pods whose eviction was granted but that still exist (`status.disruptedPods`), sorted.
    pub disrupted_pods: Box<[Text]>,
}

impl DisruptionBudget {
    /// Whether the API server checks this budget before it evicts `pod`. An empty selector matches every pod here; in preemption it
    /// matches none.
    pub fn protects(&self, pod: &Pod) -> bool {
        let selects = |selector: &Selector| selector.matches(&pod.labels);
        self.meta.namespace == pod.key.namespace && self.selector.as_ref().is_some_and(selects)
    }

    /// Whether the eviction of the pod called `name` was already granted.
    pub fn has_disrupted(&self, name: &str) -> bool {
        self.disrupted_pods.binary_search_by(|pod| (**pod).cmp(name)).is_ok()
    }
}

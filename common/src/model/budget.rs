//! A disruption budget: how many of some pods may be taken away.

use super::ids::Text;
use super::object::Meta;
use super::pod::Pod;
use super::selector::Selector;

/// A PodDisruptionBudget.
#[derive(Clone, Debug, PartialEq)]
pub struct DisruptionBudget {
    /// Its name, and what else identifies it.
    pub meta: Meta,
    /// The pods that it protects, in its own namespace; none if it does not say, or says it wrongly.
    pub selector: Option<Selector>,
    /// How many more of them may be taken away.
    pub disruptions_allowed: i32,
    /// The pods that are already counted as taken away although they are still there, sorted by name.
    pub disrupted: Box<[Text]>,
}

impl DisruptionBudget {
    /// Whether the API server asks it before it evicts `pod`. Unlike in preemption, an empty selector means every pod.
    pub fn is_asked_about(&self, pod: &Pod) -> bool {
        let selects = |selector: &Selector| selector.matches(&pod.labels);
        self.meta.namespace == pod.key.namespace && self.selector.as_ref().is_some_and(selects)
    }

    /// Whether the pod called `name` is already counted as taken away.
    pub fn has_disrupted(&self, name: &str) -> bool {
        self.disrupted.binary_search_by(|pod| (**pod).cmp(name)).is_ok()
    }
}

//! Label selectors of pods and of namespaces.

use super::ids::Text;
use super::labels::Labels;
use super::requirement::{Operator, Requirement};

/// A label selector: all its requirements must hold. A selector without requirements matches everything. `None` in place of a
/// selector matches nothing: see [`selects`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selector {
    requirements: Box<[Requirement]>,
}

/// Whether a selector that may be missing matches `labels`. A missing selector matches nothing.
pub fn selects(selector: Option<&Selector>, labels: &Labels) -> bool {
    selector.is_some_and(|selector| selector.matches(labels))
}

impl Selector {
    pub fn new(requirements: impl IntoIterator<Item = Requirement>) -> Self {
        let mut sorted: Vec<Requirement> = requirements.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        Self { requirements: sorted.into() }
    }

    /// A selector that requires exactly these values of labels, as a Service does.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::new(pairs.into_iter().map(|(key, value)| equals(key, value)))
    }

    pub fn matches(&self, labels: &Labels) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(labels))
    }

    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The requirements, sorted.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    pub fn and(&self, other: &Selector) -> Selector {
        Self::new(self.requirements.iter().chain(&other.requirements).cloned())
    }

    pub fn and_label(&self, key: &str, value: &str) -> Selector {
        Self::new(self.requirements.iter().cloned().chain([equals(key, value)]))
    }
}

fn equals(key: &str, value: &str) -> Requirement {
    Requirement { key: key.into(), operator: Operator::In, values: Box::new([Text::from(value)]) }
}

#[cfg(test)]
mod tests;

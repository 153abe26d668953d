//! Label selectors: which pods, or which namespaces, somebody means.

use super::ids::Text;
use super::labels::Labels;
use super::requirement::{Operator, Requirement};

/// A label selector: all its requirements must hold. One without requirements matches everything; `None` in place of
/// a selector matches nothing, which [`selects`] knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selector {
    requirements: Box<[Requirement]>,
}

/// Whether a selector that may be missing matches `labels`: a missing one matches nothing.
pub fn selects(selector: Option<&Selector>, labels: &Labels) -> bool {
    selector.is_some_and(|selector| selector.matches(labels))
}

impl Selector {
    /// A selector of these requirements.
    pub fn new(requirements: impl IntoIterator<Item = Requirement>) -> Self {
        let mut sorted: Vec<Requirement> = requirements.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        Self { requirements: sorted.into() }
    }

    /// A selector of labels with exactly these values, which is how a Service selects.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::new(pairs.into_iter().map(|(key, value)| equals(key, value)))
    }

    /// Whether `labels` meet all requirements.
    pub fn matches(&self, labels: &Labels) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(labels))
    }

    /// Whether it requires nothing.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// What it requires, sorted.
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// What both match.
    pub fn and(&self, other: &Selector) -> Selector {
        Self::new(self.requirements.iter().chain(&other.requirements).cloned())
    }

    /// What it matches of what also has the label `key=value`.
    pub fn and_label(&self, key: &str, value: &str) -> Selector {
        Self::new(self.requirements.iter().cloned().chain([equals(key, value)]))
    }
}

fn equals(key: &str, value: &str) -> Requirement {
    Requirement { key: key.into(), operator: Operator::In, values: Box::new([Text::from(value)]) }
}

#[cfg(test)]
mod tests;

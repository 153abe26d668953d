//! Which pods an affinity term matches.

use crate::cluster::{Ledger, PerDomain, Snapshot};
use crate::model::{Labels, Pod, PodAffinityTerm, Selector, Text, selects};

/// A term of the pod to be placed, with its namespace selector resolved to names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TermMatcher {
    namespaces: Namespaces,
    selector: Option<Selector>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Namespaces {
    All,
    /// Sorted names.
    Only(Box<[Text]>),
}

/// The number of pods in each domain that match all of these terms at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TermPodsPerDomain {
    pub(super) key: Text,
    pub(super) all_of: Box<[TermMatcher]>,
}

/// What terms of other pods can match of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PodAttributes {
    pub(super) namespace: Text,
    pub(super) labels: Labels,
    pub(super) namespace_labels: Labels,
}

impl TermMatcher {
    pub(super) fn new(pod: &Pod, term: &PodAffinityTerm, world: &Snapshot<'_>) -> Self {
        let namespaces = match &term.namespace_selector {
            Some(selector) if selector.is_empty() => Namespaces::All,
            Some(selector) => {
                let all = world.catalog().namespaces.iter();
                let matching = all.filter(|namespace| selector.matches(&namespace.labels));
                let names = matching.map(|namespace| namespace.meta.name.clone());
                only(names.chain(term.namespaces.iter().cloned()))
            }
            None if term.namespaces.is_empty() => only([pod.key.namespace.clone()]),
            None => only(term.namespaces.iter().cloned()),
        };
        Self { namespaces, selector: term.selector.clone() }
    }

    pub(super) fn matches(&self, pod: &Pod) -> bool {
        let is_there = match &self.namespaces {
            Namespaces::All => true,
            Namespaces::Only(names) => names.binary_search(&pod.key.namespace).is_ok(),
        };
        is_there && selects(self.selector.as_ref(), &pod.labels)
    }
}

fn only(names: impl IntoIterator<Item = Text>) -> Namespaces {
    let mut names: Vec<Text> = names.into_iter().collect();
    names.sort_unstable();
    names.dedup();
    Namespaces::Only(names.into())
}

impl TermPodsPerDomain {
    pub(super) fn new(term: &PodAffinityTerm, all_of: &[TermMatcher]) -> Self {
        Self { key: term.topology_key.clone(), all_of: all_of.into() }
    }
}

impl PerDomain for TermPodsPerDomain {
    fn key(&self) -> &Text {
        &self.key
    }

    fn read(&self, ledger: &Ledger) -> Option<u32> {
        let matches_all = |pod: &Pod| self.all_of.iter().all(|matcher| matcher.matches(pod));
        let count = ledger.pods.iter().filter(|pod| matches_all(pod)).count();
        Some(u32::try_from(count).unwrap_or(u32::MAX))
    }
}

impl PodAttributes {
    pub(super) fn is_matched_by(&self, owner: &Pod, term: &PodAffinityTerm) -> bool {
        let is_own = || term.namespaces.is_empty() && owner.key.namespace == self.namespace;
        let is_there = match &term.namespace_selector {
            None => is_own() || term.namespaces.contains(&self.namespace),
            Some(selector) => {
                term.namespaces.contains(&self.namespace) || selector.matches(&self.namespace_labels)
            }
        };
        is_there && selects(term.selector.as_ref(), &self.labels)
    }
}

//! Which pods an affinity term means.

use crate::cluster::{Ledger, PerDomain, Snapshot};
use crate::model::Pod;
use crate::model::affinity::PodTerm;
use crate::model::ids::Text;
use crate::model::labels::Labels;
use crate::model::selector::{Selector, selects};

/// The pods that a term of the pod to be placed means, its namespaces looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Meant {
    namespaces: Namespaces,
    selector: Option<Selector>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Namespaces {
    All,
    /// Sorted.
    Only(Box<[Text]>),
}

/// How many pods in each domain are meant by all of some terms at once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Near {
    pub(super) key: Text,
    pub(super) all_of: Box<[Meant]>,
}

/// What terms of other pods can know of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Face {
    pub(super) namespace: Text,
    pub(super) labels: Labels,
    pub(super) namespace_labels: Labels,
}

impl Meant {
    /// The pods that `term` of `pod` means.
    pub(super) fn new(pod: &Pod, term: &PodTerm, world: &Snapshot<'_>) -> Self {
        let namespaces = match &term.namespace_selector {
            Some(selector) if selector.is_empty() => Namespaces::All,
            Some(selector) => {
                let known = world.catalog().namespaces.iter();
                let meant = known.filter(|namespace| selector.matches(&namespace.labels));
                let names = meant.map(|namespace| namespace.meta.name.clone());
                only(names.chain(term.namespaces.iter().cloned()))
            }
            None if term.namespaces.is_empty() => only([pod.key.namespace.clone()]),
            None => only(term.namespaces.iter().cloned()),
        };
        Self { namespaces, selector: term.selector.clone() }
    }

    /// Whether it means this pod.
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

impl Near {
    pub(super) fn new(term: &PodTerm, all_of: &[Meant]) -> Self {
        Self { key: term.topology_key.clone(), all_of: all_of.into() }
    }
}

impl PerDomain for Near {
    fn key(&self) -> &Text {
        &self.key
    }

    fn read(&self, ledger: &Ledger) -> Option<u32> {
        let is_meant = |pod: &Pod| self.all_of.iter().all(|meant| meant.matches(pod));
        let count = ledger.pods.iter().filter(|pod| is_meant(pod)).count();
        Some(u32::try_from(count).unwrap_or(u32::MAX))
    }
}

impl Face {
    /// Whether `term` of `owner` means the pod with this face.
    pub(super) fn is_meant(&self, owner: &Pod, term: &PodTerm) -> bool {
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

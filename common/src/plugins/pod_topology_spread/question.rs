//! What is counted: pods of a kind, on nodes that come into question for the pod.

use super::constraint::Constraint;
use crate::cluster::{Ledger, PerDomain, PerNode};
use crate::model::ids::Text;
use crate::model::pod::PodSpec;
use crate::model::selector::{Selector, selects};
use crate::model::{Node, Pod};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How many pods of a kind there are on a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kin {
    namespace: Text,
    /// Which pods; `None` matches none.
    selector: Option<Selector>,
}

/// How many there are in each domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spread {
    kin: Kin,
    key: Text,
    /// The labels that a node must have to be counted.
    keys: Box<[Text]>,
    /// The nodes that count.
    of: Nodes,
}

/// Which nodes count for a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Nodes {
    All,
    Some { spec: SameSpec, by_affinity: bool, by_taints: bool },
}

/// A spec by its place in memory: pods of one template share one.
#[derive(Clone, Debug)]
struct SameSpec(Arc<PodSpec>);

impl Kin {
    pub(super) fn new(pod: &Pod, constraint: &Constraint) -> Self {
        Self { namespace: pod.key.namespace.clone(), selector: constraint.selector.clone() }
    }

    /// Pods that are on their way out are not counted, and a selector that asks for nothing counts none.
    fn count(&self, ledger: &Ledger) -> u32 {
        let Some(selector) = self.selector.as_ref().filter(|selector| !selector.is_empty()) else { return 0 };
        let is_kin = |pod: &&Arc<Pod>| {
            !pod.deleting && pod.key.namespace == self.namespace && selector.matches(&pod.labels)
        };
        u32::try_from(ledger.pods.iter().filter(is_kin).count()).unwrap_or(u32::MAX)
    }

    /// The pods that make a difference when they come or leave. As upstream, these are more than those that are
    /// counted: also pods on their way out, and all pods if the selector asks for nothing.
    fn moved(&self, ledger: &Ledger) -> i64 {
        let matches = |pod: &&Arc<Pod>| {
            pod.key.namespace == self.namespace && selects(self.selector.as_ref(), &pod.labels)
        };
        i64::try_from(ledger.pods.iter().filter(matches).count()).unwrap_or(i64::MAX)
    }
}

impl Spread {
    /// The count that matters for a constraint of the pod. `keys` are the labels that a node must have.
    pub(super) fn new(pod: &Pod, constraint: &Constraint, keys: &[Text]) -> Self {
        let spec = &pod.spec;
        let affinity = spec.affinity.as_deref().and_then(|affinity| affinity.node.as_ref());
        let is_choosy = spec.node_selector.is_some() || affinity.is_some_and(|node| node.required.is_some());
        let by_affinity = constraint.honours_affinity && is_choosy;
        let by_taints = constraint.honours_taints;
        let of = if by_affinity || by_taints {
            Nodes::Some { spec: SameSpec(Arc::clone(spec)), by_affinity, by_taints }
        } else {
            Nodes::All
        };
        Self { kin: Kin::new(pod, constraint), key: constraint.key.clone(), keys: keys.into(), of }
    }

    fn counts_on(&self, node: &Node) -> bool {
        self.keys.iter().all(|key| node.labels.has(key)) && self.of.include(node)
    }
}

impl Nodes {
    fn include(&self, node: &Node) -> bool {
        match self {
            Self::All => true,
            Self::Some { spec: SameSpec(spec), by_affinity, by_taints } => {
                (!by_affinity || wants(spec, node)) && (!by_taints || tolerates(spec, node))
            }
        }
    }
}

/// Whether the node has what the pod's node selector and required node affinity ask for.
fn wants(spec: &PodSpec, node: &Node) -> bool {
    let selected = spec
        .node_selector
        .as_ref()
        .is_none_or(|wanted| wanted.iter().all(|(key, value)| node.labels.get(key) == Some(value)));
    let affinity = spec.affinity.as_deref().and_then(|affinity| affinity.node.as_ref());
    let required = affinity.and_then(|affinity| affinity.required.as_ref());
    selected && required.is_none_or(|required| required.matches(&node.labels, node.name.as_str()))
}

/// Whether the pod tolerates all taints that keep pods off the node.
fn tolerates(spec: &PodSpec, node: &Node) -> bool {
    let mut repelling = node.taints.iter().filter(|taint| taint.effect.repels());
    repelling.all(|taint| spec.tolerations.iter().any(|toleration| toleration.tolerates(taint)))
}

impl PerNode for Kin {
    type Value = u32;

    fn read(&self, ledger: &Ledger) -> u32 {
        self.count(ledger)
    }
}

impl PerDomain for Spread {
    fn key(&self) -> &Text {
        &self.key
    }

    fn read(&self, ledger: &Ledger) -> Option<u32> {
        self.counts_on(&ledger.node).then(|| self.kin.count(ledger))
    }

    fn difference(&self, believed: &Ledger, supposed: &Ledger) -> i64 {
        if !self.counts_on(&believed.node) {
            return 0;
        }
        self.kin.moved(supposed) - self.kin.moved(believed)
    }
}

impl PartialEq for SameSpec {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SameSpec {}

impl Hash for SameSpec {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

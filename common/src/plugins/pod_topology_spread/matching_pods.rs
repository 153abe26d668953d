//! Counts the pods that match a constraint: on each node, and in each domain over the nodes that count.

use super::constraint::Constraint;
use crate::cluster::{Ledger, PerDomain, PerNode};
use crate::model::{ByAddress, Node, Pod, PodSpec, Selector, Text, selects};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SpreadPodsPerNode {
    namespace: Text,
    selector: Option<Selector>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SpreadPodsPerDomain {
    per_node: SpreadPodsPerNode,
    key: Text,
    /// The topology keys that a node must have to count.
    keys: Box<[Text]>,
    nodes: CountedNodes,
}

/// Which nodes count, by `nodeAffinityPolicy` and `nodeTaintsPolicy`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum CountedNodes {
    All,
    /// Pods of one template share one spec.
    Some {
        spec: ByAddress<PodSpec>,
        by_affinity: bool,
        by_taints: bool,
    },
}

impl SpreadPodsPerNode {
    pub(super) fn new(pod: &Pod, constraint: &Constraint) -> Self {
        Self { namespace: pod.key.namespace.clone(), selector: constraint.selector.clone() }
    }

    /// The number of matching pods. Pods that are being deleted do not count, and an empty selector matches no pod.
    fn count(&self, ledger: &Ledger) -> u32 {
        let Some(selector) = self.selector.as_ref().filter(|selector| !selector.is_empty()) else { return 0 };
        let is_matching = |pod: &&Arc<Pod>| {
            !pod.deleting && pod.key.namespace == self.namespace && selector.matches(&pod.labels)
        };
        u32::try_from(ledger.pods.iter().filter(is_matching).count()).unwrap_or(u32::MAX)
    }

    /// The number of pods that change the count when they are added to or removed from a supposed ledger. As in kube-scheduler,
    /// these are more than [`Self::count`] counts: also pods that are being deleted, and all pods for an empty selector.
    fn count_supposed(&self, ledger: &Ledger) -> i64 {
        let matches = |pod: &&Arc<Pod>| {
            pod.key.namespace == self.namespace && selects(self.selector.as_ref(), &pod.labels)
        };
        i64::try_from(ledger.pods.iter().filter(matches).count()).unwrap_or(i64::MAX)
    }
}

impl SpreadPodsPerDomain {
    /// The counts for a constraint of the pod. `keys` are the topology keys that a node must have.
    pub(super) fn new(pod: &Pod, constraint: &Constraint, keys: &[Text]) -> Self {
        let spec = &pod.spec;
        let affinity = spec.affinity.as_deref().and_then(|affinity| affinity.node.as_ref());
        let restricts_nodes =
            spec.node_selector.is_some() || affinity.is_some_and(|node| node.required.is_some());
        let by_affinity = constraint.honours_affinity && restricts_nodes;
        let by_taints = constraint.honours_taints;
        let nodes = if by_affinity || by_taints {
            CountedNodes::Some { spec: ByAddress(Arc::clone(spec)), by_affinity, by_taints }
        } else {
            CountedNodes::All
        };
        Self {
            per_node: SpreadPodsPerNode::new(pod, constraint),
            key: constraint.key.clone(),
            keys: keys.into(),
            nodes,
        }
    }

    fn counts_on(&self, node: &Node) -> bool {
        self.keys.iter().all(|key| node.labels.has(key)) && self.nodes.include(node)
    }
}

impl CountedNodes {
    fn include(&self, node: &Node) -> bool {
        match self {
            Self::All => true,
            Self::Some { spec: ByAddress(spec), by_affinity, by_taints } => {
                (!by_affinity || matches_affinity(spec, node)) && (!by_taints || tolerates(spec, node))
            }
        }
    }
}

/// Whether the node matches the pod's node selector and required node affinity.
fn matches_affinity(spec: &PodSpec, node: &Node) -> bool {
    let is_selected = spec
        .node_selector
        .as_ref()
        .is_none_or(|wanted| wanted.iter().all(|(key, value)| node.labels.get(key) == Some(value)));
    let affinity = spec.affinity.as_deref().and_then(|affinity| affinity.node.as_ref());
    let required = affinity.and_then(|affinity| affinity.required.as_ref());
    is_selected && required.is_none_or(|required| required.matches(&node.labels, node.name.as_str()))
}

/// Whether the pod tolerates all taints of the node with `NoSchedule` or `NoExecute`.
fn tolerates(spec: &PodSpec, node: &Node) -> bool {
    let mut repelling = node.taints.iter().filter(|taint| taint.effect.repels());
    repelling.all(|taint| spec.tolerations.iter().any(|toleration| toleration.tolerates(taint)))
}

impl PerNode for SpreadPodsPerNode {
    type Value = u32;

    fn read(&self, ledger: &Ledger) -> u32 {
        self.count(ledger)
    }
}

impl PerDomain for SpreadPodsPerDomain {
    fn key(&self) -> &Text {
        &self.key
    }

    fn read(&self, ledger: &Ledger) -> Option<u32> {
        self.counts_on(&ledger.node).then(|| self.per_node.count(ledger))
    }

    fn difference(&self, believed: &Ledger, supposed: &Ledger) -> i64 {
        if !self.counts_on(&believed.node) {
            return 0;
        }
        self.per_node.count_supposed(supposed) - self.per_node.count_supposed(believed)
    }
}

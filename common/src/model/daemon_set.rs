//! The pods that the DaemonSet controller makes, and the nodes that it makes them for. Entry point: [`DaemonTemplate::makes`].
//!
//! The controller makes one pod for each node that the template fits. It ties the pod to the node by a required node affinity with
//! `matchFields: metadata.name`, and adds some tolerations of its own. Any user who may create pods can write an owner reference to
//! a DaemonSet; such a pod counts as a pod of the DaemonSet only if the controller would have made the same pod.

use super::affinity::{
    NODE_NAME_FIELD, NodeSelector, NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm,
};
use super::ids::NodeName;
use super::node::Node;
use super::pod::{Pod, PodSpec};
use super::selector::Selector;
use super::taint::{Taint, TaintEffect};
use std::sync::Arc;

/// The label by which the controller distinguishes pods of an old template from pods of the current one.
const REVISION_LABEL: &str = "controller-revision-hash";

/// The taints that the controller makes every pod of a DaemonSet tolerate.
const TOLERATED: [(&str, TaintEffect); 6] = [
    ("node.kubernetes.io/not-ready", TaintEffect::NoExecute),
    ("node.kubernetes.io/unreachable", TaintEffect::NoExecute),
    ("node.kubernetes.io/disk-pressure", TaintEffect::NoSchedule),
    ("node.kubernetes.io/memory-pressure", TaintEffect::NoSchedule),
    ("node.kubernetes.io/pid-pressure", TaintEffect::NoSchedule),
    ("node.kubernetes.io/unschedulable", TaintEffect::NoSchedule),
];

/// One more taint that the controller makes pods with `hostNetwork: true` tolerate.
const TOLERATED_ON_HOST_NETWORK: (&str, TaintEffect) =
    ("node.kubernetes.io/network-unavailable", TaintEffect::NoSchedule);

/// The fields of a DaemonSet that describe the pods that its controller makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonTemplate {
    pub selector: Selector,
    pub spec: Arc<PodSpec>,
    /// The only node that gets a pod, if the template names a node (`spec.nodeName`).
    pub node: Option<NodeName>,
    /// Whether the pods use the network of their node (`spec.hostNetwork`).
    pub on_host_network: bool,
    /// Whether a pod of a new template is made before the old pod of the node is gone (`maxSurge`).
    pub surges: bool,
}

impl DaemonTemplate {
    /// Whether the controller would have made `pod` for `node`. `others` are the pods on that node that claim the same
    /// DaemonSet, with those that are being deleted.
    pub fn makes<'p>(&self, pod: &Pod, node: &Node, others: impl Iterator<Item = &'p Pod>) -> bool {
        is_tied_to(pod, &node.name)
            && self.selector.matches(&pod.labels)
            && self.fits(node)
            && self.requests_at_least(pod)
            && self.allows_beside(pod, others)
    }

    /// Whether the controller makes a pod for `node`.
    fn fits(&self, node: &Node) -> bool {
        let labels = self.spec.node_selector.iter().flat_map(|labels| labels.iter());
        self.node.as_ref().is_none_or(|only| *only == node.name)
            && labels.into_iter().all(|(key, value)| node.labels.get(key) == Some(value))
            && required(&self.spec).is_none_or(|all| all.matches(&node.labels, node.name.as_str()))
            && node.taints.iter().filter(|taint| taint.effect.repels()).all(|taint| self.tolerates(taint))
    }

    fn tolerates(&self, taint: &Taint) -> bool {
        let is = |(key, effect): (&str, TaintEffect)| *taint.key == *key && taint.effect == effect;
        self.spec.tolerations.iter().any(|toleration| toleration.tolerates(taint))
            || TOLERATED.into_iter().any(is)
            || (self.on_host_network && is(TOLERATED_ON_HOST_NETWORK))
    }

    /// Whether the template requests at least as much of each resource as `pod` does.
    fn requests_at_least(&self, pod: &Pod) -> bool {
        let most = &self.spec.requests.incoming;
        pod.spec.requests.incoming.iter().all(|(resource, amount)| amount <= most.get(&resource))
    }

    /// The controller keeps one pod on a node. There are two only while it replaces the pod by a pod of a new template, and only if
    /// the DaemonSet allows that (`maxSurge`).
    fn allows_beside<'p>(&self, pod: &Pod, mut others: impl Iterator<Item = &'p Pod>) -> bool {
        let revision = |of: &Pod| of.labels.get(REVISION_LABEL).map(str::to_owned);
        match (others.next(), others.next()) {
            (None, _) => true,
            (Some(old), None) => self.surges && revision(pod).is_some() && revision(old) != revision(pod),
            (Some(_), Some(_)) => false,
        }
    }
}

/// Whether a required node affinity lets `pod` run on the node called `name` and on no other node.
fn is_tied_to(pod: &Pod, name: &NodeName) -> bool {
    let is_name = |field: &NodeSelectorRequirement| {
        &*field.key == NODE_NAME_FIELD
            && field.operator == NodeSelectorOperator::In
            && matches!(&*field.values, [only] if **only == *name.as_str())
    };
    let is_tied = |term: &NodeSelectorTerm| term.fields().iter().any(is_name);
    required(&pod.spec).is_some_and(|all| !all.terms.is_empty() && all.terms.iter().all(is_tied))
}

fn required(spec: &PodSpec) -> Option<&NodeSelector> {
    spec.affinity.as_ref()?.node.as_ref()?.required.as_ref()
}

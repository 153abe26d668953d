//! The pods that the controller of a DaemonSet makes, and the nodes that it makes them for.
//!
//! The controller makes one pod for each node that the template fits. It ties the pod to the node by a required node affinity with
//! `matchFields: metadata.name`, and adds some tolerations of its own. Anybody who may make pods can write an owner reference to a
//! DaemonSet; such a pod counts as a pod of the DaemonSet only if the controller would have made it like that.

use super::affinity::{NODE_NAME_FIELD, NodeOperator, NodeRequirement, NodeSelector, NodeTerm};
use super::ids::NodeName;
use super::node::Node;
use super::pod::{Pod, PodSpec};
use super::selector::Selector;
use super::taint::{Effect, Taint};
use std::sync::Arc;

/// The label by which the controller tells pods of an old template from pods of the current one.
const REVISION_LABEL: &str = "controller-revision-hash";

/// The taints that the controller makes every pod of a DaemonSet tolerate.
const TOLERATED: [(&str, Effect); 6] = [
    ("node.kubernetes.io/not-ready", Effect::NoExecute),
    ("node.kubernetes.io/unreachable", Effect::NoExecute),
    ("node.kubernetes.io/disk-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/memory-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/pid-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/unschedulable", Effect::NoSchedule),
];

/// The taint that the controller makes pods with `hostNetwork: true` tolerate, too.
const TOLERATED_ON_HOST_NETWORK: (&str, Effect) =
    ("node.kubernetes.io/network-unavailable", Effect::NoSchedule);

/// What a DaemonSet says about the pods that its controller makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DaemonTemplate {
    /// The pods that the DaemonSet selects.
    pub selector: Selector,
    /// The spec of the template.
    pub spec: Arc<PodSpec>,
    /// The only node that pods are made for, if the template names one (`spec.nodeName`).
    pub node: Option<NodeName>,
    /// Whether the pods use the network of their node (`spec.hostNetwork`).
    pub on_host_network: bool,
    /// Whether a pod of a new template is made before the old pod of the node leaves (`maxSurge`).
    pub surges: bool,
}

impl DaemonTemplate {
    /// Whether the controller would have made `pod` for `node`. `others` are the pods on that node that claim the same
    /// DaemonSet and are not being deleted.
    pub fn makes<'p>(&self, pod: &Pod, node: &Node, others: impl Iterator<Item = &'p Pod>) -> bool {
        is_tied_to(pod, &node.name)
            && self.selector.matches(&pod.labels)
            && self.fits(node)
            && self.asks_as_much_as(pod)
            && self.is_wanted_beside(pod, others)
    }

    /// Whether the controller makes a pod for `node`.
    fn fits(&self, node: &Node) -> bool {
        let labels = self.spec.node_selector.iter().flat_map(|wanted| wanted.iter());
        self.node.as_ref().is_none_or(|only| *only == node.name)
            && labels.into_iter().all(|(key, value)| node.labels.get(key) == Some(value))
            && required(&self.spec).is_none_or(|all| all.matches(&node.labels, node.name.as_str()))
            && node.taints.iter().filter(|taint| taint.effect.repels()).all(|taint| self.tolerates(taint))
    }

    fn tolerates(&self, taint: &Taint) -> bool {
        let is = |(key, effect): (&str, Effect)| *taint.key == *key && taint.effect == effect;
        self.spec.tolerations.iter().any(|toleration| toleration.tolerates(taint))
            || TOLERATED.into_iter().any(is)
            || (self.on_host_network && is(TOLERATED_ON_HOST_NETWORK))
    }

    /// Whether `pod` asks for no more than the template does.
    fn asks_as_much_as(&self, pod: &Pod) -> bool {
        let most = &self.spec.requests.incoming;
        pod.spec.requests.incoming.iter().all(|(resource, amount)| amount <= most.get(&resource))
    }

    /// The controller keeps one pod on a node. Only while it replaces that pod by one of a new template, and only if the
    /// DaemonSet allows it, there are two.
    fn is_wanted_beside<'p>(&self, pod: &Pod, mut others: impl Iterator<Item = &'p Pod>) -> bool {
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
    let is_name = |field: &NodeRequirement| {
        &*field.key == NODE_NAME_FIELD
            && field.operator == NodeOperator::In
            && matches!(&*field.values, [only] if **only == *name.as_str())
    };
    let is_tied = |term: &NodeTerm| term.fields().iter().any(is_name);
    required(&pod.spec).is_some_and(|all| !all.terms.is_empty() && all.terms.iter().all(is_tied))
}

fn required(spec: &PodSpec) -> Option<&NodeSelector> {
    spec.affinity.as_ref()?.node.as_ref()?.required.as_ref()
}

//! Why nodes do not fit a pod.

use super::{Reason, Rejection, Rejections};
use crate::cluster::NodeId;
use std::collections::BTreeSet;

/// Why each node fits a pod or does not, as kube-scheduler's `Diagnosis`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// One entry for each node, in node order.
    pub nodes: Vec<NodeDiagnosis>,
    /// Why PreFilter rejected the pod for all nodes; the entries of `nodes` repeat these rejections.
    pub pre_filter_rejections: Vec<Rejection>,
    pub excluded_by: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NodeDiagnosis {
    /// The id of the node. The name is not stored here: few readers need the names of all nodes.
    pub id: NodeId,
    /// Why the pod does not fit; empty when it fits.
    pub rejections: Rejections,
}

impl Diagnosis {
    /// The ids of the nodes that fit the pod, in node order.
    pub fn feasible(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.iter().filter(|node| node.rejections.is_empty()).map(|node| node.id)
    }

    /// The plugins that rejected the pod on a node, or for all nodes, or excluded nodes.
    pub fn plugins(&self) -> BTreeSet<&'static str> {
        let mut plugins: BTreeSet<&'static str> = self.excluded_by.iter().copied().collect();
        let rejections = self.nodes.iter().flat_map(|node| &node.rejections);
        for rejection in rejections.chain(&self.pre_filter_rejections) {
            match &rejection.reason {
                Reason::NoNodeAllowed(several) => plugins.extend(several.iter().copied()),
                _ if rejection.plugin.is_empty() => {}
                _ => drop(plugins.insert(rejection.plugin)),
            }
        }
        plugins
    }
}

impl NodeDiagnosis {
    /// Whether the pod would not fit even if all other pods left the node, so that preemption does not help.
    pub fn is_unresolvable(&self) -> bool {
        self.rejections.iter().any(|rejection| rejection.reason.is_unresolvable())
    }
}

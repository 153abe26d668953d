//! The state of a cluster at one moment: pods, nodes and owners. Rules about a moment are functions of it; it may be the actual
//! state or the state that a daemon knew.

use super::owners::Owners;
use common::model::ids::NodeName;
use common::model::{Node, Pod, Reservation, Uid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The cluster at one moment.
#[derive(Clone, Debug, Default)]
pub struct ClusterState {
    /// All pods, by UID.
    pub pods: BTreeMap<Uid, Arc<Pod>>,
    /// All nodes, by name.
    pub nodes: BTreeMap<NodeName, Arc<Node>>,
    /// All workloads.
    pub owners: Owners,
}

impl ClusterState {
    /// The pods that count on a node.
    pub fn counted(&self, node: &NodeName) -> impl Iterator<Item = &Arc<Pod>> {
        self.pods.values().filter(move |pod| pod.is_counted() && pod.node.as_ref() == Some(node))
    }

    /// Whether `pod` may use a reservation.
    pub fn may_use(&self, pod: &Pod, reservation: &Reservation) -> bool {
        let record = reservation.record();
        if let Some(owner) = record.map(|record| &record.owner).filter(|owner| &*owner.kind == "Pod") {
            let same = (&owner.namespace, &owner.name) == (&pod.key.namespace, &pod.key.name);
            return pod.controller.is_none() && same;
        }
        let replaced = reservation.replaces().map(|replaced| &*replaced.name);
        pod.uid == reservation.id.owner || self.owners.owns(&reservation.id.owner, pod, replaced)
    }
}

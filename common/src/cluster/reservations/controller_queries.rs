//! What the controller reads to make, extend and release reservations: ledgers, what changed since it last looked, and which pods
//! may get automatic reservations. Decisions read a [`crate::cluster::Snapshot`] instead.

use crate::cluster::Cluster;
use crate::cluster::{Ledger, NodeId, Owners, PodContext};
use crate::model::{NodeName, Pod, PodKey, Uid};
use jiff::Timestamp;
use std::sync::Arc;

impl Cluster {
    pub fn version(&self) -> u64 {
        self.nodes.version()
    }

    /// The ids whose ledgers changed after `version`, including ids that are unused now.
    pub fn changed_since(&self, version: u64) -> impl Iterator<Item = NodeId> {
        self.nodes.changed_since(version)
    }

    pub fn ledger(&self, id: NodeId) -> Option<&Ledger> {
        self.nodes.get(id)
    }

    pub fn ledger_of(&self, name: &NodeName) -> Option<&Ledger> {
        self.nodes.get(self.nodes.id(name)?)
    }

    pub fn has_reservations(&self) -> bool {
        !self.reserved.is_empty()
    }

    pub fn reserved(&self) -> impl Iterator<Item = &Ledger> {
        self.reserved.iter().filter_map(|id| self.nodes.get(*id))
    }

    pub fn ledgers_of(&self, owner: &Uid) -> impl Iterator<Item = &Ledger> {
        self.reservation_index.of(owner).filter_map(|id| self.nodes.get(id))
    }

    /// The pods that may get automatic reservations: they are on nodes, and are being deleted or have `reserve/keep` themselves.
    pub fn reservation_candidates(&self) -> impl Iterator<Item = &PodKey> {
        self.reservation_candidates.iter()
    }

    /// The pods of [`Self::reservation_candidates`] that the workload with this UID owns, or that name it as their controller.
    pub fn reservation_candidates_of(&self, owner: &Uid) -> Vec<PodKey> {
        let mut pods = self.pods_concerned_by(owner);
        pods.retain(|key| self.reservation_candidates.contains(key));
        pods
    }

    /// The pods to look at again when the workload with this UID changes, which it owns or which name it as their controller.
    pub fn pods_concerned_by(&self, owner: &Uid) -> Vec<PodKey> {
        let controllers = self.owners.controllers_below(owner).into_iter();
        let pods = controllers
            .flat_map(|controller| self.pods_by_controller.of(&controller).cloned().collect::<Vec<_>>());
        let is_owned = |key: &PodKey| {
            let pod = self.pods.get(key);
            let names_owner = |pod: &Pod| pod.controller.as_ref().is_some_and(|claim| claim.uid == *owner);
            pod.is_some_and(|pod| names_owner(pod) || PodContext::new(pod, &self.owners).is_owned_by(owner))
        };
        pods.filter(is_owned).collect()
    }

    pub fn context<'w>(&'w self, pod: &'w Pod) -> PodContext<'w> {
        PodContext::new(pod, &self.owners)
    }

    /// All pods, in no particular order.
    pub fn pods(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.pods.iter()
    }

    pub fn owners(&self) -> &Owners {
        &self.owners
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    pub fn set_automatic_max(&mut self, most: usize) {
        self.reservation_index.automatic_max = most;
    }
}

//! What those read who see to it that reservations are made and released: not a decision, but what changed since they last looked.

use super::eligibility::PodContext;
use super::ledger::Ledger;
use super::nodes::NodeId;
use super::{Cluster, Owners};
use crate::model::Pod;
use crate::model::ids::{NodeName, PodKey, Uid};
use jiff::Timestamp;
use std::sync::Arc;

impl Cluster {
    /// The number of the last change of any node's books.
    pub fn version(&self) -> u64 {
        self.nodes.version()
    }

    /// The places whose books changed after `version`, those that are vacant now included.
    pub fn changed_since(&self, version: u64) -> impl Iterator<Item = NodeId> {
        self.nodes.changed_since(version)
    }

    /// The books of the node at `id`.
    pub fn ledger(&self, id: NodeId) -> Option<&Ledger> {
        self.nodes.get(id)
    }

    /// The books of the node called `name`.
    pub fn ledger_of(&self, name: &NodeName) -> Option<&Ledger> {
        self.nodes.get(self.nodes.id(name)?)
    }

    /// Whether there is any reservation at all.
    pub fn has_reservations(&self) -> bool {
        !self.reserved.is_empty()
    }

    /// The books of all nodes with reservations.
    pub fn reserved(&self) -> impl Iterator<Item = &Ledger> {
        self.reserved.iter().filter_map(|id| self.nodes.get(*id))
    }

    /// The books of the nodes where `owner` has reservations.
    pub fn ledgers_of(&self, owner: &Uid) -> impl Iterator<Item = &Ledger> {
        self.seats.of(owner).filter_map(|id| self.nodes.get(id))
    }

    /// The pods on nodes that are on their way out, or say that their place is to be kept.
    pub fn leaving(&self) -> impl Iterator<Item = &PodKey> {
        self.leaving.iter()
    }

    /// Those of them that the workload with this UID owns, or that name it as their controller.
    pub fn leaving_of(&self, owner: &Uid) -> Vec<PodKey> {
        let mut pods = self.concerned_by(owner);
        pods.retain(|key| self.leaving.contains(key));
        pods
    }

    /// The pods that the workload with this UID owns, or that name it as their controller, of those to look at when it changes.
    pub fn concerned_by(&self, owner: &Uid) -> Vec<PodKey> {
        let claiming = self.owners.controllers_below(owner).into_iter();
        let claiming =
            claiming.flat_map(|controller| self.claims.of(&controller).cloned().collect::<Vec<_>>());
        let is_owned = |key: &PodKey| {
            let pod = self.pods.get(key);
            let claims = |pod: &Pod| pod.controller.as_ref().is_some_and(|claim| claim.uid == *owner);
            pod.is_some_and(|pod| claims(pod) || PodContext::new(pod, &self.owners).is_owned_by(owner))
        };
        claiming.filter(is_owned).collect()
    }

    /// The pod together with the owners that it really has.
    pub fn pod_context<'w>(&'w self, pod: &'w Pod) -> PodContext<'w> {
        PodContext::new(pod, &self.owners)
    }

    /// All pods that are known, in no order that means anything.
    pub fn pods(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.pods.iter()
    }

    /// The workloads that were read.
    pub fn owners(&self) -> &Owners {
        &self.owners
    }

    /// The moment as of which the books are done.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Lets a namespace have so many automatic reservations.
    pub fn set_automatic_max(&mut self, most: usize) {
        self.seats.automatic_max = most;
    }
}

//! What decisions read: every node with its books, as of one moment. Taking one copies nothing.

use super::eligibility::PodContext;
use super::ledger::Ledger;
use super::nodes::NodeId;
use super::pod_affinity_counts::PodAffinityCounts;
use super::{Catalog, Choices, Cluster, Owners};
use crate::model::ids::NodeName;
use crate::model::owner::Owner;
use crate::model::{Pod, PodKey, Uid};
use jiff::Timestamp;
use std::hash::Hash;
use std::sync::Arc;

/// The cluster as of one moment; perhaps with one node as it would be if some pods came or left.
#[derive(Clone, Debug)]
pub struct Snapshot<'w> {
    cluster: &'w Cluster,
    supposed: Option<Arc<Ledger>>,
}

impl<'w> Snapshot<'w> {
    pub(super) fn new(cluster: &'w Cluster) -> Self {
        Self { cluster, supposed: None }
    }

    /// The same, with the books of one node as in `ledger`.
    #[must_use]
    pub fn suppose(&self, mut ledger: Ledger) -> Self {
        ledger.settle(&self.cluster.owners, self.cluster.now);
        Self { cluster: self.cluster, supposed: Some(Arc::new(ledger)) }
    }

    /// The moment.
    pub fn now(&self) -> Timestamp {
        self.cluster.now
    }

    /// The books of all nodes, in node order.
    pub fn nodes(&self) -> impl Iterator<Item = &Ledger> {
        self.cluster.nodes.iter().map(|ledger| self.supposed_or(ledger))
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.cluster.nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The books of the node at `id`.
    pub fn ledger(&self, id: NodeId) -> Option<&Ledger> {
        self.cluster.nodes.get(id).map(|ledger| self.supposed_or(ledger))
    }

    /// The place of the node called `name`.
    pub fn find(&self, name: &NodeName) -> Option<NodeId> {
        self.cluster.nodes.id(name)
    }

    /// What the node at `id` is called.
    pub fn name(&self, id: NodeId) -> Option<&NodeName> {
        self.believed(id).map(|ledger| &ledger.node.name)
    }

    /// Grows along node order.
    pub fn order(&self, id: NodeId) -> u64 {
        self.cluster.nodes.order(id)
    }

    /// One more than the highest place.
    pub fn places(&self) -> usize {
        self.cluster.nodes.places()
    }

    /// The pod under `key`.
    pub fn pod(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.cluster.pod(key)
    }

    /// Whoever has this UID, for people who read a bare UID.
    pub fn owner(&self, uid: &Uid) -> Option<Owner> {
        self.cluster.owner(uid)
    }

    /// The workloads that were read.
    pub fn owners(&self) -> &'w Owners {
        &self.cluster.owners
    }

    /// The objects of every other kind.
    pub fn catalog(&self) -> &'w Catalog {
        &self.cluster.catalog
    }

    /// How many pods on nodes mind who else is near.
    pub fn pod_affinity(&self) -> PodAffinityCounts {
        let pod_affinity = self.cluster.pod_affinity;
        let believed = self.supposed().and_then(|ledger| self.believed(ledger.id));
        match (self.supposed(), believed) {
            (Some(supposed), Some(believed)) => {
                pod_affinity.without(believed.pod_affinity).with(supposed.pod_affinity)
            }
            _ => pod_affinity,
        }
    }

    /// What was decided about volumes and is not carried out yet.
    pub fn choices(&self) -> &'w Choices {
        &self.cluster.choices
    }

    /// The pods of a namespace that wait to be placed and are not decided on, in no order that means anything.
    pub fn waiting_in(&self, namespace: &'w str) -> impl Iterator<Item = &'w Arc<Pod>> {
        let cluster = self.cluster;
        let waits = move |pod: &&Arc<Pod>| pod.is_waiting() && !cluster.is_assumed(&pod.key);
        cluster.pods.iter().filter(move |pod| *pod.key.namespace == *namespace).filter(waits)
    }

    /// The nodes with reservations.
    pub fn reserved(&self) -> impl Iterator<Item = &Ledger> {
        self.cluster.reserved.iter().filter_map(|id| self.ledger(*id))
    }

    /// The pods that others were preempted for on the node at `id`, and that are not there yet.
    pub fn nominated(&self, id: NodeId) -> &'w [Arc<Pod>] {
        let name = self.cluster.nodes.get(id).map(|ledger| &ledger.node.name);
        name.and_then(|name| self.cluster.nominated.get(name)).map_or(&[], |pods| &pods[..])
    }

    /// Whether pods are nominated to any nodes.
    pub fn has_nominated(&self) -> bool {
        !self.cluster.nominated.is_empty()
    }

    /// The nodes that pods are nominated to.
    pub fn nominees(&self) -> impl Iterator<Item = NodeId> {
        self.cluster.nominated.keys().filter_map(|name| self.find(name))
    }

    /// `pod` with its owners, ready to ask for room.
    pub fn pod_context<'p>(&self, pod: &'p Pod) -> PodContext<'p>
    where
        'w: 'p,
    {
        PodContext::new(pod, &self.cluster.owners)
    }

    /// Something worked out from the books and kept under `key`. `refresh` gets it as it was, and the places that
    /// changed since; at first the default, and all places. It must look at [`Snapshot::believed`] only: what is kept
    /// is not about suppositions.
    pub fn derive<K, V>(
        &self,
        key: K,
        refresh: impl FnOnce(&mut V, &mut dyn Iterator<Item = NodeId>),
    ) -> Arc<V>
    where
        K: Hash + Eq + Send + 'static,
        V: Default + Send + Sync + 'static,
    {
        let nodes = &self.cluster.nodes;
        self.cluster.memo.get(key, nodes.version(), nodes.places(), |value, seen| {
            refresh(value, &mut nodes.changed_since(seen));
        })
    }

    /// The books of the node at `id` as we believe them to be, whatever is supposed.
    pub fn believed(&self, id: NodeId) -> Option<&Ledger> {
        self.cluster.nodes.get(id)
    }

    /// The books that are supposed.
    pub fn supposed(&self) -> Option<&Ledger> {
        self.supposed.as_deref()
    }

    fn supposed_or<'l>(&'l self, believed: &'l Ledger) -> &'l Ledger {
        match &self.supposed {
            Some(supposed) if supposed.id == believed.id => supposed,
            _ => believed,
        }
    }
}

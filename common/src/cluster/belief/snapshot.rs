//! The belief as of one moment, as plugins read it. Taking a snapshot copies nothing.
//!
//! [`Snapshot::derive`] is the entry point for everything that is computed from ledgers and cached; [`Snapshot::suppose`] gives a
//! snapshot in which one node has another ledger.

use crate::cluster::Cluster;
use crate::cluster::{Catalog, Ledger, NodeId, Owners, PodAffinityCounts, PodContext, VolumeChoices};
use crate::model::{NodeName, Owner, Pod, PodKey, Uid};
use jiff::Timestamp;
use std::hash::Hash;
use std::sync::Arc;

/// The cluster as of one moment, possibly with the ledger of one node replaced by a supposed one.
#[derive(Clone, Debug)]
pub struct Snapshot<'w> {
    cluster: &'w Cluster,
    supposed: Option<Arc<Ledger>>,
}

impl<'w> Snapshot<'w> {
    pub(in crate::cluster) fn new(cluster: &'w Cluster) -> Self {
        Self { cluster, supposed: None }
    }

    /// The same snapshot with `ledger` in place of the ledger of that node.
    #[must_use]
    pub fn suppose(&self, mut ledger: Ledger) -> Self {
        ledger.recompute_entries(&self.cluster.owners, self.cluster.now);
        Self { cluster: self.cluster, supposed: Some(Arc::new(ledger)) }
    }

    pub fn now(&self) -> Timestamp {
        self.cluster.now
    }

    pub fn nodes(&self) -> impl Iterator<Item = &Ledger> {
        self.cluster.nodes.iter().map(|ledger| self.supposed_or(ledger))
    }

    pub fn len(&self) -> usize {
        self.cluster.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn ledger(&self, id: NodeId) -> Option<&Ledger> {
        self.cluster.nodes.get(id).map(|ledger| self.supposed_or(ledger))
    }

    pub fn find(&self, name: &NodeName) -> Option<NodeId> {
        self.cluster.nodes.id(name)
    }

    pub fn name(&self, id: NodeId) -> Option<&NodeName> {
        self.believed(id).map(|ledger| &ledger.node.name)
    }

    /// The order number of the node: it grows along node order.
    pub fn order(&self, id: NodeId) -> u64 {
        self.cluster.nodes.order(id)
    }

    /// One more than the highest index of a [`NodeId`].
    pub fn id_count(&self) -> usize {
        self.cluster.nodes.id_count()
    }

    pub fn pod(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.cluster.pod(key)
    }

    /// The workload or pod with this UID, to show it instead of a bare UID.
    pub fn owner(&self, uid: &Uid) -> Option<Owner> {
        self.cluster.owner(uid)
    }

    pub fn owners(&self) -> &'w Owners {
        &self.cluster.owners
    }

    /// The objects of all kinds besides nodes, pods and workloads.
    pub fn catalog(&self) -> &'w Catalog {
        &self.cluster.catalog
    }

    /// How many pods on nodes have affinity terms about other pods.
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

    /// The volumes that were chosen for pods and not written yet.
    pub fn volume_choices(&self) -> &'w VolumeChoices {
        &self.cluster.volume_choices
    }

    /// The pods of a namespace that wait for a node and are not assumed, in no particular order.
    pub fn waiting_in(&self, namespace: &'w str) -> impl Iterator<Item = &'w Arc<Pod>> {
        let cluster = self.cluster;
        let waits = move |pod: &&Arc<Pod>| pod.is_waiting() && !cluster.is_assumed(&pod.key);
        cluster.pods.iter().filter(move |pod| *pod.key.namespace == *namespace).filter(waits)
    }

    pub fn reserved(&self) -> impl Iterator<Item = &Ledger> {
        self.cluster.reserved.iter().filter_map(|id| self.ledger(*id))
    }

    pub fn nominated(&self, id: NodeId) -> &'w [Arc<Pod>] {
        let name = self.cluster.nodes.get(id).map(|ledger| &ledger.node.name);
        name.and_then(|name| self.cluster.nominated.get(name)).map_or(&[], |pods| &pods[..])
    }

    pub fn has_nominated(&self) -> bool {
        !self.cluster.nominated.is_empty()
    }

    pub fn nominated_nodes(&self) -> impl Iterator<Item = NodeId> {
        self.cluster.nominated.keys().filter_map(|name| self.find(name))
    }

    pub fn context<'p>(&self, pod: &'p Pod) -> PodContext<'p>
    where
        'w: 'p,
    {
        PodContext::new(pod, &self.cluster.owners)
    }

    /// A value that is computed from ledgers and cached under `key`. `refresh` gets the cached value and the ids that changed
    /// since; at first the default value and all ids. It must read [`Snapshot::believed`] only: the cache is not about supposed
    /// ledgers.
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
        self.cluster.derived_cache.get(key, nodes.version(), nodes.id_count(), |value, seen| {
            refresh(value, &mut nodes.changed_since(seen));
        })
    }

    /// The ledger of the node with this id, never the supposed one.
    pub fn believed(&self, id: NodeId) -> Option<&Ledger> {
        self.cluster.nodes.get(id)
    }

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

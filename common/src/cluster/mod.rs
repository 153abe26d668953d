//! The belief: what a process knows of the cluster, as kube-scheduler's cache does. It has one writer.
//!
//! [`Cluster::apply`] takes an event and returns the changes; decisions read [`Cluster::snapshot`]. A pod that was
//! decided on is *assumed* on its node until its binding is seen or known to have failed:
//!
//! ```text
//!   waiting ──assume──▶ assumed ──(seen bound) confirm──▶ counted ──▶ gone
//!      ▲                   │
//!      └──────forget───────┘        only when the outcome is known; no timer frees assumed room
//! ```
//!
//! `belief` has what was read and decided, `ledger` the accounts of one node, `reservations` the rules about reservations of all
//! nodes, `derived` the values that are computed from ledgers and kept.
//!
//! Must not know: the API server, the queue, the plugins.

mod belief;
mod derived;
pub mod ledger;
mod reservations;
#[cfg(test)]
mod tests;

pub use belief::assumed_pods::Assumption;
pub use belief::catalog::Catalog;
pub use belief::cluster_change::{ChangedObject, ClusterChange};
pub use belief::cluster_event::{ActionType, ClusterEvent, EventResource};
pub use belief::compare;
pub use belief::event::{Change, Event, WatchEvent};
pub use belief::foreign_owners::OwnerAnswer;
pub use belief::nodes::{BLOCK, NodeId};
pub use belief::object_interner::ObjectInterner;
pub use belief::owners::Owners;
pub use belief::snapshot::Snapshot;
pub use belief::store::Store;
pub use belief::volume_choices::VolumeChoices;
pub use derived::column::{Column, PerNode};
pub use derived::domain_counts::{DomainCounts, PerDomain};
pub use derived::domains::{DomainNumbering, Domains};
pub use derived::pod_affinity_counts::PodAffinityCounts;
pub use ledger::eligibility::PodContext;
pub use ledger::seat_assignment::was_scheduled_after;
pub use ledger::{Ledger, ReservationState};
pub use reservations::acknowledgement::{Acknowledgement, acknowledgement, is_pod_acknowledged};
pub use reservations::automatic::NotReservedReason;
pub use reservations::enforcement::{Enforcement, enforcement};
pub use reservations::replacement::{
    ReservationTerms, expiry_for, extension_threshold, replacement_reservation,
};

use crate::model::ids::{NodeName, PodKey, Uid};
use crate::model::owner::{Owner, OwnerKind, Workload};
use crate::model::{Pod, Replica};
use belief::nodes::NodeTable;
use belief::nominations::Nominations;
use belief::pods::PodTable;
use compare::Removals;
use derived::cache::DerivedCache;
use jiff::Timestamp;
use reservations::active_pods::ActivePodCounts;
use reservations::index::ReservationIndex;
use reservations::namespace_requests::NamespaceRequests;
use reservations::pods_by_controller::PodsByController;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The belief: all objects that were seen, and what was decided since.
#[derive(Debug, Default)]
pub struct Cluster {
    nodes: NodeTable,
    pods: PodTable,
    owners: Owners,
    /// Pods that we decided to bind and whose bindings were not seen yet, in the form that they will have when bound.
    assumed: BTreeMap<PodKey, Arc<Pod>>,
    /// Pods that are bound to nodes which were not seen yet or are deleted.
    pods_on_unknown_nodes: BTreeMap<NodeName, Vec<Arc<Pod>>>,
    /// Waiting pods by the node that they are nominated to.
    nominated: BTreeMap<NodeName, Vec<Arc<Pod>>>,
    nominations: Nominations,
    reserved: BTreeSet<NodeId>,
    reservation_index: ReservationIndex,
    active_pods: ActivePodCounts,
    namespace_requests: NamespaceRequests,
    /// Pods on nodes that are being deleted or have `reserve/keep` themselves.
    reservation_candidates: BTreeSet<PodKey>,
    pods_by_controller: PodsByController,
    /// How many pods on nodes have affinity terms about other pods.
    pod_affinity: PodAffinityCounts,
    now: Timestamp,
    /// The next time after `now` at which a reservation expires; the outer `None` means that it has to be computed.
    next_expiry_cached: Option<Option<Timestamp>>,
    /// Whether room became free because a pending write was given up, which no event reports.
    has_dropped: bool,
    listed: BTreeSet<ListedKind>,
    catalog: Catalog,
    volume_choices: VolumeChoices,
    replicas: Store<Replica>,
    /// The newest resource versions of a node and of a pod that were seen.
    newest: (u64, u64),
    /// The newest resource version of a pod that any replica has seen by its Lease. Leases that are gone count, too.
    newest_pod_seen_by_replicas: u64,
    /// What was removed since a comparison began; `None` without one.
    removals: Option<Removals>,
    interner: ObjectInterner,
    derived_cache: DerivedCache,
}

/// A kind of objects that has been listed at least once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ListedKind {
    Nodes,
    Pods,
    Workloads(OwnerKind),
}

impl Cluster {
    /// Whether every kind has been listed once. Before that nothing may be decided: the room of a pod that was not listed yet
    /// looks free.
    pub fn is_complete(&self) -> bool {
        let kinds = OwnerKind::ALL.into_iter().map(ListedKind::Workloads);
        let mut needed = [ListedKind::Nodes, ListedKind::Pods].into_iter().chain(kinds);
        needed.all(|kind| self.listed.contains(&kind)) && self.catalog.is_complete()
    }

    /// The objects of all kinds besides nodes, pods and workloads.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The replicas of the daemon, including those whose Leases have expired.
    pub fn replicas(&self) -> &Store<Replica> {
        &self.replicas
    }

    /// The newest resource versions of a node and of a pod that were seen: everything written up to them is part of the belief.
    pub fn newest_versions(&self) -> (u64, u64) {
        self.newest
    }

    pub fn newest_pod_seen_by_replicas(&self) -> u64 {
        self.newest_pod_seen_by_replicas
    }

    /// The belief as of `now`, as decisions read it.
    pub fn snapshot(&mut self, now: Timestamp) -> Snapshot<'_> {
        self.advance(now);
        Snapshot::new(self)
    }

    /// Sets the time to `now`, and recomputes the ledgers with reservations if one of them has expired.
    pub fn advance(&mut self, now: Timestamp) {
        let next_expiry = *self
            .next_expiry_cached
            .get_or_insert_with(|| next_expiry_after(&self.nodes, &self.reserved, self.now));
        let is_back = now < self.now;
        self.now = now;
        if is_back || next_expiry.is_some_and(|expiry| expiry <= now) {
            self.recompute_reserved_nodes();
            self.next_expiry_cached = None;
        }
    }

    pub fn pod(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.pods.get(key)
    }

    /// The workload or pod with this UID, to show it instead of a bare UID.
    pub fn owner(&self, uid: &Uid) -> Option<Owner> {
        let workload = self.owners.by_uid(uid).map(Workload::owner);
        let pod = || self.pods.iter().find(|pod| pod.uid == *uid);
        workload.or_else(|| {
            pod().map(|pod| Owner {
                kind: "Pod".into(),
                namespace: pod.key.namespace.clone(),
                name: pod.key.name.clone(),
                uid: uid.clone(),
            })
        })
    }

    /// Whether the pod names a controller that has not been read yet.
    pub fn is_owner_missing(&self, pod: &Pod) -> bool {
        self.owners.is_missing_for(pod)
    }

    pub fn next_expiry(&self, now: Timestamp) -> Option<Timestamp> {
        // The cached value is right until that time.
        if let Some(known) = self.next_expiry_cached
            && now >= self.now
            && known.is_none_or(|at| at > now)
        {
            return known;
        }
        next_expiry_after(&self.nodes, &self.reserved, now)
    }

    /// Puts the pods of a node into the order of `uids`. The order decides between pods that are otherwise equal, so a trial that
    /// removes a pod and adds it again has to restore the order, too.
    pub fn arrange(&mut self, node: &NodeName, uids: &[Uid]) {
        let is_so = |ledger: &Ledger| ledger.pods.iter().map(|pod| &pod.uid).eq(uids);
        let id = self.nodes.id(node);
        if let Some(id) = id.filter(|id| self.nodes.get(*id).is_some_and(|ledger| !is_so(ledger))) {
            self.change(id, |ledger| ledger.arrange(uids));
        }
    }

    fn count(&mut self, pod: Arc<Pod>) {
        let Some(name) = pod.node.as_ref() else { return };
        match self.nodes.id(name) {
            Some(id) => self.change(id, |ledger| ledger.add(pod)),
            None => self.pods_on_unknown_nodes.entry(name.clone()).or_default().push(pod),
        }
    }

    fn uncount(&mut self, pod: &Arc<Pod>) {
        let Some(name) = pod.node.as_ref() else { return };
        if let Some(id) = self.nodes.id(name) {
            self.change(id, |ledger| ledger.remove_same(pod));
        } else if let Some(pods) = self.pods_on_unknown_nodes.get_mut(name) {
            pods.retain(|known| known.uid != pod.uid);
            if pods.is_empty() {
                self.pods_on_unknown_nodes.remove(name);
            }
        }
    }

    /// Keeps room for a waiting pod on the node that it is nominated to.
    fn nominate(&mut self, pod: Arc<Pod>) {
        if pod.is_waiting()
            && let Some(node) = pod.nominated_node.as_deref()
        {
            self.nominated.entry(node.clone()).or_default().push(pod);
        }
    }

    /// Takes back what [`Self::nominate`] did.
    fn unnominate(&mut self, pod: &Pod) {
        if let Some(node) = pod.nominated_node.as_deref()
            && let Some(pods) = self.nominated.get_mut(node)
        {
            pods.retain(|known| known.uid != pod.uid);
            if pods.is_empty() {
                self.nominated.remove(node);
            }
        }
    }

    /// Changes the ledger of a node, recomputes its reservations, and updates every index that follows from the ledger.
    fn change(&mut self, id: NodeId, change: impl FnOnce(&mut Ledger)) {
        if let Some(ledger) = self.nodes.change(id) {
            let pod_affinity = ledger.pod_affinity;
            let before = std::mem::take(&mut ledger.entries);
            change(ledger);
            self.pod_affinity = self.pod_affinity.without(pod_affinity).with(ledger.pod_affinity);
            ledger.recompute_entries(&self.owners, self.now);
            self.reservation_index.replace(id, &before, &ledger.entries);
            if !ledger.entries.is_empty() || self.reserved.contains(&id) {
                self.next_expiry_cached = None;
            }
            if ledger.entries.is_empty() {
                self.reserved.remove(&id);
            } else {
                self.reserved.insert(id);
            }
        }
    }

    /// Recomputes the ledgers of all nodes with reservations: time has passed, or the owners of any pod may have changed.
    fn recompute_reserved_nodes(&mut self) {
        for id in self.reserved.clone() {
            self.change(id, |_| ());
        }
    }
}

/// The next time after `now` at which one of the reservations on the nodes in `reserved` expires.
fn next_expiry_after(nodes: &NodeTable, reserved: &BTreeSet<NodeId>, now: Timestamp) -> Option<Timestamp> {
    let ledgers = reserved.iter().filter_map(|id| nodes.get(*id));
    let ends = ledgers.flat_map(|ledger| {
        let expires = ledger.entries.iter().filter_map(|entry| entry.reservation.expires());
        expires.chain(ledger.local_extensions.iter().map(|more| more.until))
    });
    ends.filter(|expires| *expires > now).min()
}

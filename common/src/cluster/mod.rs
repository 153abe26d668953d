//! What we believe about the cluster: the one mutable thing, with one writer.
//!
//! Events go in through [`Cluster::apply`], changes come out; decisions read a [`Snapshot`]. A pod that was
//! decided on is *assumed* on its node until its binding is seen or refuted:
//!
//! ```text
//!   waiting ──assume──▶ assumed ──(seen bound) confirm──▶ counted ──▶ gone
//!      ▲                   │
//!      └──────forget───────┘        only when the outcome is known; no timer ever frees assumed room
//! ```
//!
//! Knows nothing of: the API server, the queue, what a plugin would say.

mod acknowledged;
mod apply;
pub mod automatic;
mod catalog;
mod choices;
mod claims;
mod column;
pub mod compare;
mod domains;
pub mod eligibility;
mod enforcement;
pub mod event;
mod foreign;
pub mod ledger;
mod memo;
mod missing_replicas;
mod nodes;
mod nominations;
mod owners;
mod pending_writes;
mod pod_affinity_counts;
mod pods;
mod pool;
mod pooled;
mod replacing;
mod seat_assignment;
mod seats;
mod shared;
pub mod snapshot;
mod standing;
mod store;
mod survey;
mod tally;
#[cfg(test)]
mod tests;
mod unprotected;
mod usage;

pub use acknowledged::{Acknowledged, acknowledged, acknowledged_pod};
pub use automatic::NotKept;
pub use catalog::Catalog;
pub use choices::Choices;
pub use column::{Column, PerNode};
pub use domains::{Domains, Edition};
pub use eligibility::PodContext;
pub use enforcement::{Enforcement, enforcement};
pub use event::{Change, Event, Seen};
pub use foreign::OwnerAnswer;
pub use ledger::{Ledger, State};
pub use nodes::{BLOCK, NodeId};
pub use owners::Owners;
pub use pod_affinity_counts::PodAffinityCounts;
pub use replacing::{Terms, expiry_for, extended_below, replacing};
pub use seat_assignment::came_for;
pub use shared::Shared;
pub use snapshot::Snapshot;
pub use store::Store;
pub use tally::{Counts, PerDomain};

use crate::model::ids::{NodeName, PodKey, Text, Uid};
use crate::model::owner::{Owner, OwnerKind, Workload};
use crate::model::storage::VolumeChoice;
use crate::model::{Pod, Replica, ReservationId};
use claims::Claims;
use compare::Departed;
use jiff::Timestamp;
use memo::Memo;
use nodes::Nodes;
use nominations::Nominations;
use pods::Pods;
use seats::Seats;
use standing::Standing;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use usage::Usage;

/// The belief.
#[derive(Debug, Default)]
pub struct Cluster {
    nodes: Nodes,
    pods: Pods,
    owners: Owners,
    /// Pods that we decided to bind, before their bindings were seen: as they will be once they are bound.
    assumed: BTreeMap<PodKey, Arc<Pod>>,
    /// Pods on nodes that were not seen yet, or no longer are.
    homeless: BTreeMap<NodeName, Vec<Arc<Pod>>>,
    /// Waiting pods that others were preempted for, by the node where that was.
    nominated: BTreeMap<NodeName, Vec<Arc<Pod>>>,
    nominations: Nominations,
    /// The nodes with reservations.
    reserved: BTreeSet<NodeId>,
    seats: Seats,
    standing: Standing,
    usage: Usage,
    /// Pods on nodes that are on their way out, or say that their place is to be kept.
    leaving: BTreeSet<PodKey>,
    /// Waiting and leaving pods by the controller that they claim.
    claims: Claims,
    /// How many pods on nodes mind who else is near.
    pod_affinity: PodAffinityCounts,
    /// The moment as of which the books are done.
    now: Timestamp,
    /// When a reservation ends next after that, once it was asked for.
    soonest: Option<Option<Timestamp>>,
    /// Whether room became free because something is not written after all: no event says so.
    has_dropped: bool,
    listed: BTreeSet<Listed>,
    catalog: Catalog,
    choices: Choices,
    replicas: Store<Replica>,
    /// The newest versions of a node and of a pod that were seen.
    newest: (u64, u64),
    /// The newest version of a pod that any replica said that it had seen, also one that is gone.
    seen_elsewhere: u64,
    /// While the belief is compared: what left it meanwhile.
    departed: Option<Departed>,
    shared: Shared,
    memo: Memo,
}

/// A decision to bind a pod, before its binding was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Assumed {
    /// Which pod, since another may come under the same key.
    pub uid: Uid,
    /// Where it goes.
    pub node: NodeName,
    /// The reservation that it takes there.
    pub seat: Option<ReservationId>,
    /// When it was decided.
    pub since: Timestamp,
}

/// What has been listed at least once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Listed {
    Nodes,
    Pods,
    Workloads(OwnerKind),
}

impl Cluster {
    /// Whether everything has been listed once. Before that nothing may be decided: what has not arrived yet looks
    /// like room.
    pub fn is_complete(&self) -> bool {
        let kinds = OwnerKind::ALL.into_iter().map(Listed::Workloads);
        let mut needed = [Listed::Nodes, Listed::Pods].into_iter().chain(kinds);
        needed.all(|kind| self.listed.contains(&kind)) && self.catalog.is_complete()
    }

    /// What is believed about objects of all other kinds.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The replicas of the daemon that are known, whether or not their word is still good.
    pub fn replicas(&self) -> &Store<Replica> {
        &self.replicas
    }

    /// The newest versions of a node and of a pod that were seen: everything written up to them is part of the belief.
    pub fn newest(&self) -> (u64, u64) {
        self.newest
    }

    /// The newest version of a pod that any replica said that it had seen.
    pub fn seen_elsewhere(&self) -> u64 {
        self.seen_elsewhere
    }

    /// What decisions read, as of `now`.
    pub fn snapshot(&mut self, now: Timestamp) -> Snapshot<'_> {
        self.advance(now);
        Snapshot::new(self)
    }

    /// It is `now`, and so the time of some reservations may be over.
    pub fn advance(&mut self, now: Timestamp) {
        let soonest = *self.soonest.get_or_insert_with(|| soonest(&self.nodes, &self.reserved, self.now));
        let is_back = now < self.now;
        self.now = now;
        if is_back || soonest.is_some_and(|expiry| expiry <= now) {
            self.settle_all();
            self.soonest = None;
        }
    }

    /// The pod under `key`.
    pub fn pod(&self, key: &PodKey) -> Option<&Arc<Pod>> {
        self.pods.get(key)
    }

    /// Whoever has this UID, for people who read a bare UID: a workload, or a pod.
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

    /// How many pods are assumed.
    pub fn assumed(&self) -> usize {
        self.assumed.len()
    }

    /// Whether `key` is decided on, and its binding not yet seen.
    pub fn is_assumed(&self, key: &PodKey) -> bool {
        self.assumed.contains_key(key)
    }

    /// Where the pod under `key` is assumed to be, if it is that very pod.
    pub fn assumed_node(&self, key: &PodKey, uid: &Uid) -> Option<&NodeName> {
        self.assumed.get(key).filter(|assumed| assumed.uid == *uid)?.node.as_ref()
    }

    /// Whether the pod claims an owner that has not been read yet.
    pub fn is_owner_missing(&self, pod: &Pod) -> bool {
        self.owners.is_missing_for(pod)
    }

    /// Counts the pod under `key` on a node although its binding has not been seen. Nothing happens if the pod is no
    /// longer there.
    pub fn assume(&mut self, key: &PodKey, assumed: Assumed) {
        let Some(pod) = self.pods.get(key).filter(|pod| pod.uid == assumed.uid && pod.node.is_none()) else {
            return;
        };
        let stamp = assumed.seat.map(|seat| Text::from(seat.to_string()));
        let pod = Arc::new(pod.bound(assumed.node, stamp, Some(assumed.since)));
        self.forget(key, &assumed.uid);
        self.assumed.insert(key.clone(), Arc::clone(&pod));
        self.unnominate(&pod);
        self.enter(pod);
    }

    /// Notes which volumes the pod under `key` is to have on the node where it is or is assumed to be. Nobody else gets
    /// them from now on, until the API server says otherwise.
    pub fn choose(&mut self, key: &PodKey, uid: &Uid, volumes: Vec<VolumeChoice>) {
        let pod = self.assumed.get(key).or_else(|| self.pods.get(key));
        if let Some(pod) = pod.filter(|pod| pod.uid == *uid)
            && let Some(node) = &pod.node
        {
            self.choices.note(uid, node, volumes);
        }
    }

    /// Takes an assumption back, once it is known that the pod was not bound. Nothing happens if the assumption is
    /// about another pod of that name, or was confirmed meanwhile.
    pub fn forget(&mut self, key: &PodKey, uid: &Uid) -> Vec<Change> {
        let freed = self.unassume(key, uid);
        if !freed.is_empty() {
            self.choices.forget(uid);
        }
        freed
    }

    /// The same, but what was chosen for the pod stays chosen.
    fn unassume(&mut self, key: &PodKey, uid: &Uid) -> Vec<Change> {
        if self.assumed.get(key).is_none_or(|assumed| assumed.uid != *uid) {
            return Vec::new();
        }
        let Some(pod) = self.assumed.remove(key) else { return Vec::new() };
        self.leave(&pod);
        if let Some(waiting) = self.pods.get(key).cloned() {
            self.nominate(waiting);
        }
        pod.node.iter().map(|node| Change::RoomFreed(node.clone())).collect()
    }

    /// The next time after `now` at which a reservation ends by itself.
    pub fn next_expiry(&self, now: Timestamp) -> Option<Timestamp> {
        // What was found before holds until that time.
        if let Some(known) = self.soonest
            && now >= self.now
            && known.is_none_or(|at| at > now)
        {
            return known;
        }
        soonest(&self.nodes, &self.reserved, now)
    }

    /// Puts the pods of a node into the order in which `uids` has them. Among pods alike the first is looked at first, so that
    /// whoever takes something back that was only tried has to bring back the order too.
    pub fn arrange(&mut self, node: &NodeName, uids: &[Uid]) {
        let is_so = |ledger: &Ledger| ledger.pods.iter().map(|pod| &pod.uid).eq(uids);
        let id = self.nodes.id(node);
        if let Some(id) = id.filter(|id| self.nodes.get(*id).is_some_and(|ledger| !is_so(ledger))) {
            self.change(id, |ledger| ledger.arrange(uids));
        }
    }

    /// A pod takes room on its node.
    fn enter(&mut self, pod: Arc<Pod>) {
        let Some(name) = pod.node.as_ref() else { return };
        match self.nodes.id(name) {
            Some(id) => self.change(id, |ledger| ledger.add(pod)),
            None => self.homeless.entry(name.clone()).or_default().push(pod),
        }
    }

    /// A pod no longer takes room on its node.
    fn leave(&mut self, pod: &Arc<Pod>) {
        let Some(name) = pod.node.as_ref() else { return };
        if let Some(id) = self.nodes.id(name) {
            self.change(id, |ledger| ledger.leave(pod));
        } else if let Some(pods) = self.homeless.get_mut(name) {
            pods.retain(|known| known.uid != pod.uid);
            if pods.is_empty() {
                self.homeless.remove(name);
            }
        }
    }

    /// Notes where a waiting pod is nominated to.
    fn nominate(&mut self, pod: Arc<Pod>) {
        if pod.is_waiting()
            && let Some(node) = pod.nominated.as_deref()
        {
            self.nominated.entry(node.clone()).or_default().push(pod);
        }
    }

    /// Forgets it.
    fn unnominate(&mut self, pod: &Pod) {
        if let Some(node) = pod.nominated.as_deref()
            && let Some(pods) = self.nominated.get_mut(node)
        {
            pods.retain(|known| known.uid != pod.uid);
            if pods.is_empty() {
                self.nominated.remove(node);
            }
        }
    }

    /// Changes the books of a node, and what follows from them.
    fn change(&mut self, id: NodeId, change: impl FnOnce(&mut Ledger)) {
        if let Some(ledger) = self.nodes.change(id) {
            let pod_affinity = ledger.pod_affinity;
            let before = std::mem::take(&mut ledger.entries);
            change(ledger);
            self.pod_affinity = self.pod_affinity.without(pod_affinity).with(ledger.pod_affinity);
            ledger.settle(&self.owners, self.now);
            self.seats.replace(id, &before, &ledger.entries);
            if !ledger.entries.is_empty() || self.reserved.contains(&id) {
                self.soonest = None;
            }
            if ledger.entries.is_empty() {
                self.reserved.remove(&id);
            } else {
                self.reserved.insert(id);
            }
        }
    }

    /// Does the books of all reservations again: time has passed, or pods may belong to others than before.
    fn settle_all(&mut self) {
        for id in self.reserved.clone() {
            self.change(id, |_| ());
        }
    }
}

/// The next time after `now` at which one of the reservations on these nodes ends by itself.
fn soonest(nodes: &Nodes, reserved: &BTreeSet<NodeId>, now: Timestamp) -> Option<Timestamp> {
    let ledgers = reserved.iter().filter_map(|id| nodes.get(*id));
    let ends = ledgers.flat_map(|ledger| {
        let expires = ledger.entries.iter().filter_map(|entry| entry.reservation.expires());
        expires.chain(ledger.extended.iter().map(|more| more.until))
    });
    ends.filter(|expires| *expires > now).min()
}

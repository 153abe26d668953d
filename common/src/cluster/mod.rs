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

mod catalog;
pub mod event;
pub mod ledger;
mod owners;
pub mod snapshot;
mod store;
mod taken;
#[cfg(test)]
mod tests;
pub mod whose;

pub use catalog::Catalog;
pub use event::{Change, Event, Seen};
pub use ledger::{Ledger, State};
pub use owners::Owners;
pub use snapshot::Snapshot;
pub use store::Store;
pub use whose::Asker;

use crate::model::ids::{NodeName, PodKey, Uid};
use crate::model::owner::{Owner, OwnerKind, Workload};
use crate::model::{Node, Pod, ReservationId};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The belief.
#[derive(Debug, Default)]
pub struct Cluster {
    nodes: BTreeMap<NodeName, Node>,
    pods: BTreeMap<PodKey, Pod>,
    owners: Owners,
    assumed: BTreeMap<PodKey, Assumed>,
    listed: BTreeSet<Listed>,
    catalog: Catalog,
}

/// A pod that we decided to bind, before its binding was seen.
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
    /// Learns something and says what it altered.
    pub fn apply(&mut self, event: Event) -> Vec<Change> {
        let mut changes = Vec::new();
        match event {
            Event::Nodes(Seen::Applied(node)) => self.node_applied(node, &mut changes),
            Event::Nodes(Seen::Deleted(node)) => self.node_deleted(&node.name, &node.uid, &mut changes),
            Event::Nodes(Seen::Relisted(live)) => self.nodes_relisted(live, &mut changes),
            Event::Pods(Seen::Applied(pod)) => self.pod_applied(pod, &mut changes),
            Event::Pods(Seen::Deleted(pod)) => self.pod_deleted(&pod.key, &pod.uid, &mut changes),
            Event::Pods(Seen::Relisted(live)) => self.pods_relisted(live, &mut changes),
            Event::Workloads(kind, seen) => self.workloads_seen(kind, seen, &mut changes),
            Event::Unreadable(kind) => {
                self.listed.insert(Listed::Workloads(kind));
                self.owners.cannot_read(kind);
            }
            Event::Others(kind, seen) => self.catalog.apply(kind, seen, &mut changes),
            Event::OthersUnreadable(kind) => self.catalog.cannot_read(kind),
        }
        changes
    }

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

    /// What decisions read, as of `now`.
    pub fn snapshot(&self, now: Timestamp) -> Snapshot<'_> {
        Snapshot::new(&self.nodes, &self.pods, &self.assumed, &self.owners, now)
    }

    /// The pod under `key`.
    pub fn pod(&self, key: &PodKey) -> Option<&Pod> {
        self.pods.get(key)
    }

    /// Whoever has this UID, for people who read a bare UID: a workload, or a pod.
    pub fn owner(&self, uid: &Uid) -> Option<Owner> {
        let workload = self.owners.by_uid(uid).map(|found| Owner {
            kind: found.kind.as_str().into(),
            namespace: found.namespace.clone(),
            name: found.name.clone(),
            uid: uid.clone(),
        });
        let pod = || self.pods.values().find(|pod| pod.uid == *uid);
        workload.or_else(|| {
            pod().map(|pod| Owner {
                kind: "Pod".into(),
                namespace: pod.key.namespace.clone(),
                name: pod.key.name.clone(),
                uid: uid.clone(),
            })
        })
    }

    /// Whether `key` is decided on, and its binding not yet seen.
    pub fn is_assumed(&self, key: &PodKey) -> bool {
        self.assumed.contains_key(key)
    }

    /// Where the pod under `key` is assumed to be, if it is that very pod.
    pub fn assumed_node(&self, key: &PodKey, uid: &Uid) -> Option<&NodeName> {
        self.assumed.get(key).filter(|assumed| assumed.uid == *uid).map(|assumed| &assumed.node)
    }

    /// Whether the pod claims an owner that has not been read yet.
    pub fn is_owner_missing(&self, pod: &Pod) -> bool {
        self.owners.is_missing_for(pod)
    }

    /// Counts the pod under `key` on a node although its binding has not been seen.
    pub fn assume(&mut self, key: PodKey, assumed: Assumed) {
        self.assumed.insert(key, assumed);
    }

    /// Takes an assumption back, once it is known that the pod was not bound. Nothing happens if the assumption is
    /// about another pod of that name, or was confirmed meanwhile.
    pub fn forget(&mut self, key: &PodKey, uid: &Uid) -> Vec<Change> {
        match self.assumed.get(key) {
            Some(assumed) if assumed.uid == *uid => {
                let node = assumed.node.clone();
                self.assumed.remove(key);
                vec![Change::RoomFreed(node)]
            }
            _ => Vec::new(),
        }
    }

    /// The next time after `now` at which a reservation ends by itself.
    pub fn next_expiry(&self, now: Timestamp) -> Option<Timestamp> {
        let reservations = self.nodes.values().flat_map(|node| &node.reservations);
        reservations.filter_map(|parsed| parsed.valid()?.expires()).filter(|expires| *expires > now).min()
    }

    fn node_applied(&mut self, node: Node, changes: &mut Vec<Change>) {
        if let Some(known) = self.nodes.get(&node.name)
            && known.uid == node.uid
            && known.resource_version > node.resource_version
        {
            return;
        }
        // Kubelets report all the time, mostly what is known.
        if self.nodes.get(&node.name).is_none_or(|known| !known.offers_same(&node)) {
            changes.push(Change::NodeChanged(node.name.clone()));
        }
        self.nodes.insert(node.name.clone(), node);
    }

    fn node_deleted(&mut self, name: &NodeName, uid: &Uid, changes: &mut Vec<Change>) {
        if self.nodes.get(name).is_some_and(|known| known.uid == *uid) {
            self.nodes.remove(name);
            changes.push(Change::NodeGone(name.clone()));
        }
    }

    fn nodes_relisted(&mut self, live: Vec<Node>, changes: &mut Vec<Change>) {
        self.listed.insert(Listed::Nodes);
        let names: BTreeSet<&NodeName> = live.iter().map(|node| &node.name).collect();
        let vanished: Vec<(NodeName, Uid)> = self
            .nodes
            .values()
            .filter(|node| !names.contains(&node.name))
            .map(|node| (node.name.clone(), node.uid.clone()))
            .collect();
        vanished.iter().for_each(|(name, uid)| self.node_deleted(name, uid, changes));
        live.into_iter().for_each(|node| self.node_applied(node, changes));
    }

    fn pod_applied(&mut self, pod: Pod, changes: &mut Vec<Change>) {
        match self.pods.get(&pod.key) {
            Some(known) if known.uid != pod.uid => {
                let uid = known.uid.clone();
                self.pod_deleted(&pod.key, &uid, changes);
            }
            Some(known) if known.resource_version > pod.resource_version => return,
            _ => {}
        }
        if pod.node.is_some() {
            self.confirm(&pod, changes);
        }
        // Most news of a waiting pod is what we ourselves wrote into its condition.
        if self.pods.get(&pod.key).is_some_and(|known| known.is_waiting() && known.asks_same(&pod)) {
            self.pods.insert(pod.key.clone(), pod);
            return;
        }
        let was_counted = self.pods.get(&pod.key).filter(|known| known.is_counted());
        let left = was_counted.filter(|known| !pod.is_counted() || pod.spec.requests != known.spec.requests);
        changes.push(match left.and_then(|known| known.node.clone()) {
            Some(node) => Change::RoomFreed(node),
            _ if pod.is_waiting() => Change::PodWaiting(pod.key.clone()),
            _ => Change::PodSettled(pod.key.clone()),
        });
        self.pods.insert(pod.key.clone(), pod);
    }

    /// The binding of an assumed pod was seen: from now on the pod itself says where it is.
    fn confirm(&mut self, pod: &Pod, changes: &mut Vec<Change>) {
        let freed = self.forget(&pod.key, &pod.uid);
        // Bound by somebody else to another node: the room that was assumed for it is free again.
        changes.extend(freed.into_iter().filter(|change| match change {
            Change::RoomFreed(node) => pod.node.as_ref() != Some(node),
            _ => true,
        }));
    }

    fn pod_deleted(&mut self, key: &PodKey, uid: &Uid, changes: &mut Vec<Change>) {
        if self.pods.get(key).is_none_or(|known| known.uid != *uid) {
            return;
        }
        let known = self.pods.remove(key);
        if let Some(node) = known.and_then(|pod| pod.node) {
            changes.push(Change::RoomFreed(node));
        }
        changes.extend(self.forget(key, uid));
        changes.push(Change::PodSettled(key.clone()));
    }

    fn pods_relisted(&mut self, live: Vec<Pod>, changes: &mut Vec<Change>) {
        self.listed.insert(Listed::Pods);
        let keys: BTreeSet<&PodKey> = live.iter().map(|pod| &pod.key).collect();
        let vanished: Vec<(PodKey, Uid)> = self
            .pods
            .iter()
            .filter(|(key, _)| !keys.contains(key))
            .map(|(key, pod)| (key.clone(), pod.uid.clone()))
            .collect();
        vanished.iter().for_each(|(key, uid)| self.pod_deleted(key, uid, changes));
        live.into_iter().for_each(|pod| self.pod_applied(pod, changes));
    }

    fn workloads_seen(&mut self, kind: OwnerKind, seen: Seen<Workload>, changes: &mut Vec<Change>) {
        if matches!(seen, Seen::Relisted(_)) {
            self.listed.insert(Listed::Workloads(kind));
        }
        if self.owners.apply(kind, seen) {
            changes.push(Change::OwnersChanged);
        }
    }
}

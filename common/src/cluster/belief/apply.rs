//! [`Cluster::apply`]: how an event about nodes, pods and workloads changes the belief. Catalog objects and replicas are passed on
//! to their stores.

use crate::cluster::reservations::pods_by_controller::is_reservation_candidate;
use crate::cluster::{
    ActionType, Change, Cluster, ClusterChange, Event, EventResource, ListedKind, WatchEvent,
};
use crate::model::catalog_object::CatalogKind;
use crate::model::ids::{PodKey, Uid};
use crate::model::owner::{OwnerKind, Workload};
use crate::model::{Node, Pod};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Cluster {
    pub fn apply(&mut self, event: Event) -> Vec<Change> {
        let mut changes = Vec::new();
        self.note_newest(&event);
        self.note_listed_again(&event);
        match event {
            // Versions of a kind only grow in a watch: this is an earlier object of that name, sent again.
            Event::Nodes(WatchEvent::Applied(node)) if self.has_newer_node(&node) => {}
            Event::Pods(WatchEvent::Applied(pod)) if self.has_newer_pod(&pod) => {}
            Event::Nodes(WatchEvent::Applied(node)) => self.node_applied(node, &mut changes),
            Event::Nodes(WatchEvent::Deleted(node)) => self.node_deleted(&node.name, &node.uid, &mut changes),
            Event::Nodes(WatchEvent::Relisted(live)) => self.nodes_relisted(live, &mut changes),
            Event::Pods(WatchEvent::Applied(pod)) => self.pod_applied(pod, &mut changes),
            Event::Pods(WatchEvent::Deleted(pod)) => {
                self.pod_deleted(&pod.key, &pod.uid, Some(&pod), &mut changes);
            }
            Event::Pods(WatchEvent::Relisted(live)) => self.pods_relisted(live, &mut changes),
            // `note_newest` has handled these, and they change nothing else.
            Event::NodesUpTo(_) | Event::PodsUpTo(_) => {}
            Event::Workloads(kind, event) => self.workloads_changed(kind, event, &mut changes),
            Event::OwnerRead(claim, answer) => self.owner_read(&claim, answer, &mut changes),
            Event::WorkloadsUnreadable(kind) => {
                self.listed.insert(ListedKind::Workloads(kind));
                self.owners.cannot_read(kind);
            }
            Event::CatalogObjects(kind, event) => {
                self.catalog.apply(kind, event, &mut changes);
                if matches!(kind, CatalogKind::PersistentVolume | CatalogKind::PersistentVolumeClaim) {
                    self.volume_choices.prune(&self.catalog);
                }
            }
            Event::CatalogKindUnreadable(kind) => self.catalog.cannot_read(kind),
            Event::Replicas(event) => {
                if self.replicas.apply(event) {
                    changes.push(Change::ReplicasChanged);
                }
            }
        }
        self.seed_namespace_requests();
        changes
    }

    /// Notes the newest versions. Each kind comes by one stream in the order of its versions, so everything older was seen, too.
    fn note_newest(&mut self, event: &Event) {
        let (nodes, pods) = &mut self.newest;
        match event {
            Event::Nodes(seen) => {
                *nodes = seen.iter().map(|node| node.resource_version).fold(*nodes, u64::max);
            }
            Event::Pods(seen) => *pods = seen.iter().map(|pod| pod.resource_version).fold(*pods, u64::max),
            Event::NodesUpTo(version) => *nodes = (*nodes).max(*version),
            Event::PodsUpTo(version) => *pods = (*pods).max(*version),
            Event::Replicas(seen) => {
                let most = seen.iter().map(|replica| replica.seen_pods).max();
                self.newest_pod_seen_by_replicas = self.newest_pod_seen_by_replicas.max(most.unwrap_or(0));
            }
            _ => {}
        }
    }

    fn has_newer_node(&self, node: &Node) -> bool {
        let known = self.nodes.id(&node.name).and_then(|id| self.nodes.get(id));
        known.is_some_and(|known| known.node.resource_version > node.resource_version)
    }

    fn has_newer_pod(&self, pod: &Pod) -> bool {
        self.pods.get(&pod.key).is_some_and(|known| known.resource_version > pod.resource_version)
    }

    fn pod_applied(&mut self, mut pod: Pod, changes: &mut Vec<Change>) {
        match self.pods.get(&pod.key) {
            Some(known) if known.uid != pod.uid => {
                let uid = known.uid.clone();
                self.pod_deleted(&pod.key, &uid, None, changes);
            }
            Some(known) if known.resource_version > pod.resource_version => return,
            _ => {}
        }
        // Waiting pods were told of an assumed pod when it was decided.
        let is_told = pod.node.is_some() && self.assumed_node(&pod.key, &pod.uid) == pod.node.as_ref();
        if pod.node.is_some() {
            self.confirm(&pod, changes);
        }
        self.nominations.correct(&mut pod);
        self.interner.intern_pod(&mut pod);
        // Shares the name with the node, to save memory.
        let known = pod.node.as_ref().and_then(|name| self.nodes.get(self.nodes.id(name)?));
        if let Some(ledger) = known {
            pod.node = Some(ledger.node.name.clone());
        }
        let pod = Arc::new(pod);
        if let Some(known) =
            self.pods.get(&pod.key).filter(|known| known.nominated_node != pod.nominated_node).cloned()
        {
            changes.extend(nominated_room_freed(&known));
            self.unnominate(&known);
        }
        // Most updates of a waiting pod are the condition that we wrote ourselves.
        if self
            .pods
            .get(&pod.key)
            .is_some_and(|known| known.is_waiting() && known.is_same_for_scheduling(&pod))
        {
            self.unnominate(&pod);
            if !self.assumed.contains_key(&pod.key) {
                self.nominate(Arc::clone(&pod));
            }
            self.pods.insert(pod);
            return;
        }
        changes.extend(self.pod_changes(&pod, is_told));
        let known = self.pods.get(&pod.key).filter(|known| known.is_counted() && known.deleting).cloned();
        let is_counted = pod.is_counted();
        self.put(pod);
        if let Some(gone) = known.filter(|_| !is_counted) {
            // A kubelet reports the end of a pod before the pod is removed.
            self.reserve_for_gone(&gone);
        }
    }

    /// The changes to report, given that the pod is now `pod`. `is_told`: that it came to its node was reported before.
    fn pod_changes(&self, pod: &Arc<Pod>, is_told: bool) -> Vec<Change> {
        let (known, new) = (self.pods.get(&pod.key).cloned(), Some(Arc::clone(pod)));
        let change = match known {
            Some(old) if old.is_counted() && pod.is_counted() => {
                let differs = old.deleting != pod.deleting || ActionType::of_pod(&old, pod).is_specific();
                differs.then(|| ClusterChange::of_assigned(Some(old), new))
            }
            Some(old) if old.is_counted() => return vec![ClusterChange::of_assigned(Some(old), None).into()],
            _ if pod.is_counted() => (!is_told).then(|| ClusterChange::of_assigned(None, new)),
            Some(old) if old.is_waiting() => {
                let (resource, new) = match pod.is_waiting() {
                    true => (EventResource::TargetPod, new),
                    false => (EventResource::UnscheduledPod, None),
                };
                Some(ClusterChange::of_pods(resource, Some(old), new))
            }
            _ => None,
        };
        let is_waiting = if pod.is_waiting() { Change::PodWaiting } else { Change::PodNotWaiting };
        change.map(Change::from).into_iter().chain([is_waiting(pod.key.clone())]).collect()
    }

    /// Stores the pod and updates everything that follows from it: ledgers, indexes, nominations.
    fn put(&mut self, pod: Arc<Pod>) {
        let known = self.pods.get(&pod.key).map(|known| &**known);
        self.namespace_requests.change(known, Some(&pod), self.now);
        self.active_pods.add(&pod);
        self.note_reservation_candidate(&pod);
        let known = self.pods.insert(Arc::clone(&pod));
        self.pods_by_controller.replace(known.as_deref(), Some(&pod));
        if let Some(known) = known {
            self.active_pods.remove(&known);
            self.unnominate(&known);
            if known.is_counted() {
                self.uncount(&known);
            }
        }
        if let Some(assumed) = self.assumed.remove(&pod.key) {
            // The pod is not bound yet, and its requests may have changed.
            self.uncount(&assumed);
            if let Some(node) = assumed.node.clone() {
                let pod = Arc::new(pod.bound(node, assumed.stamp.clone(), assumed.scheduled_at()));
                self.assumed.insert(pod.key.clone(), Arc::clone(&pod));
                self.count(pod);
            }
        } else if pod.is_counted() {
            self.count(pod);
        } else {
            self.nominate(pod);
        }
    }

    /// The binding of a pod was seen: it is no longer assumed. If it was assumed on another node, the room there is free again.
    fn confirm(&mut self, pod: &Pod, changes: &mut Vec<Change>) {
        let assumed = self.assumed_node(&pod.key, &pod.uid);
        // Another scheduler bound the pod to another node.
        if assumed.is_some() && assumed != pod.node.as_ref() {
            self.volume_choices.forget(&pod.uid);
        }
        let freed = self.unassume(&pod.key, &pod.uid);
        changes.extend(freed.into_iter().filter(|change| match change {
            Change::Cluster(change) => change.node_name() != pod.node.as_ref(),
            _ => true,
        }));
    }

    fn note_reservation_candidate(&mut self, pod: &Pod) {
        if is_reservation_candidate(pod) {
            self.reservation_candidates.insert(pod.key.clone());
        } else {
            self.reservation_candidates.remove(&pod.key);
        }
    }

    /// `last` is the last state of the pod, if the watch event had it.
    fn pod_deleted(&mut self, key: &PodKey, uid: &Uid, last: Option<&Pod>, changes: &mut Vec<Change>) {
        if self.pods.get(key).is_none_or(|known| known.uid != *uid) {
            return;
        }
        self.nominations.forget(uid);
        self.note_removed(uid);
        if let Some(known) = self.pods.remove(key) {
            self.active_pods.remove(&known);
            self.namespace_requests.change(Some(&known), None, self.now);
            self.pods_by_controller.replace(Some(&known), None);
            self.reservation_candidates.remove(key);
            self.unnominate(&known);
            if known.is_waiting() && known.nominated_node.is_none() {
                let change =
                    ClusterChange::of_pods(EventResource::UnscheduledPod, Some(Arc::clone(&known)), None);
                changes.push(change.into());
            }
            changes.extend(nominated_room_freed(&known));
            if known.is_counted() {
                changes.push(ClusterChange::of_assigned(Some(Arc::clone(&known)), None).into());
                self.uncount(&known);
                self.reserve_for_deleted(&known, last);
            }
        }
        changes.extend(self.forget(key, uid));
        changes.push(Change::PodNotWaiting(key.clone()));
    }

    /// Reserves the room of a pod that is gone, if its deletion had begun. A pod that ended otherwise gets no reservation.
    fn reserve_for_deleted(&mut self, known: &Pod, last: Option<&Pod>) {
        match last.filter(|last| last.deleting && last.node.is_some()) {
            Some(last) if !known.deleting => self.reserve_for_gone(last),
            _ if known.deleting => self.reserve_for_gone(known),
            _ => {}
        }
    }

    fn pods_relisted(&mut self, live: Vec<Pod>, changes: &mut Vec<Change>) {
        self.listed.insert(ListedKind::Pods);
        let keys: BTreeSet<&PodKey> = live.iter().map(|pod| &pod.key).collect();
        let gone = self.pods.iter().filter(|pod| !keys.contains(&pod.key));
        let mut vanished: Vec<(PodKey, Uid)> = gone.map(|pod| (pod.key.clone(), pod.uid.clone())).collect();
        vanished.sort();
        vanished.iter().for_each(|(key, uid)| self.pod_deleted(key, uid, None, changes));
        live.into_iter().for_each(|pod| self.pod_applied(pod, changes));
    }

    fn workloads_changed(&mut self, kind: OwnerKind, event: WatchEvent<Workload>, changes: &mut Vec<Change>) {
        if matches!(event, WatchEvent::Relisted(_)) {
            self.listed.insert(ListedKind::Workloads(kind));
        }
        let change = self.owners.apply(kind, event, changes);
        self.ownership_changed(change, changes);
    }
}

/// The change to report when a waiting pod is no longer nominated to its node: the room that was kept for it is free.
pub(in crate::cluster) fn nominated_room_freed(pod: &Arc<Pod>) -> Option<Change> {
    let is_nominated = pod.is_waiting() && pod.nominated_node.is_some();
    is_nominated.then(|| ClusterChange::of_assigned(Some(Arc::clone(pod)), None).into())
}

//! How news about nodes, pods and workloads alters the belief.

use super::claims::is_leaving;
use super::{Change, Cluster, Event, Ledger, Listed, Seen};
use crate::model::ids::{NodeName, PodKey, Uid};
use crate::model::other::OtherKind;
use crate::model::owner::{OwnerKind, Workload};
use crate::model::{Node, Pod};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Cluster {
    /// Learns something and says what it altered.
    pub fn apply(&mut self, event: Event) -> Vec<Change> {
        let mut changes = Vec::new();
        self.note_newest(&event);
        self.note_listed_again(&event);
        match event {
            // Versions of a kind only grow in a watch: this is an earlier one of that name, told again.
            Event::Nodes(Seen::Applied(node)) if self.has_newer_node(&node) => {}
            Event::Pods(Seen::Applied(pod)) if self.has_newer_pod(&pod) => {}
            Event::Nodes(Seen::Applied(node)) => self.node_applied(node, &mut changes),
            Event::Nodes(Seen::Deleted(node)) => self.node_deleted(&node.name, &node.uid, &mut changes),
            Event::Nodes(Seen::Relisted(live)) => self.nodes_relisted(live, &mut changes),
            Event::Pods(Seen::Applied(pod)) => self.pod_applied(pod, &mut changes),
            Event::Pods(Seen::Deleted(pod)) => {
                self.pod_deleted(&pod.key, &pod.uid, Some(&pod), &mut changes);
            }
            Event::Pods(Seen::Relisted(live)) => self.pods_relisted(live, &mut changes),
            // Noted already, and nothing is new.
            Event::NodesUpTo(_) | Event::PodsUpTo(_) => {}
            Event::Workloads(kind, seen) => self.workloads_seen(kind, seen, &mut changes),
            Event::OwnerRead(claim, answer) => self.owner_read(&claim, answer, &mut changes),
            Event::Unreadable(kind) => {
                self.listed.insert(Listed::Workloads(kind));
                self.owners.cannot_read(kind);
            }
            Event::Others(kind, seen) => {
                self.catalog.apply(kind, seen, &mut changes);
                if matches!(kind, OtherKind::PersistentVolume | OtherKind::PersistentVolumeClaim) {
                    self.choices.prune(&self.catalog);
                }
            }
            Event::OthersUnreadable(kind) => self.catalog.cannot_read(kind),
            Event::Replicas(seen) => {
                if self.replicas.apply(seen) {
                    changes.push(Change::ReplicasChanged);
                }
            }
        }
        self.seed_usage();
        changes
    }

    /// Each kind comes by one stream, in the order of its versions: whatever is older than the newest was seen too.
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
                self.seen_elsewhere = self.seen_elsewhere.max(most.unwrap_or(0));
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

    fn node_applied(&mut self, mut node: Node, changes: &mut Vec<Change>) {
        let id = self.nodes.id(&node.name);
        let known = id.and_then(|id| self.nodes.get(id)).map(|ledger| &ledger.node);
        if known.is_some_and(|known| known.uid == node.uid && known.resource_version > node.resource_version)
        {
            return;
        }
        // Kubelets report all the time, mostly what is known.
        let is_news = known.is_none_or(|known| !known.offers_same(&node));
        let reservations = known.map_or(&[][..], |known| &known.reservations);
        if *reservations != *node.reservations {
            changes.push(Change::ReservationsChanged(node.name.clone()));
        }
        self.shared.share_node(&mut node);
        let (name, node) = (node.name.clone(), Arc::new(node));
        match id {
            Some(id) if is_news => self.change(id, |ledger| ledger.node = node),
            Some(id) => self.nodes.replace(id, node),
            None => {
                let id = self.nodes.insert(name.clone(), |id| Ledger::new(id, node));
                let pods = self.homeless.remove(&name).unwrap_or_default();
                self.change(id, |ledger| pods.into_iter().for_each(|pod| ledger.add(pod)));
            }
        }
        if is_news {
            changes.push(Change::NodeChanged(name));
        }
    }

    fn node_deleted(&mut self, name: &NodeName, uid: &Uid, changes: &mut Vec<Change>) {
        let id = self.nodes.id(name);
        if id.and_then(|id| self.nodes.get(id)).is_none_or(|known| known.node.uid != *uid) {
            return;
        }
        if let Some(ledger) = self.nodes.remove(name) {
            self.note_departed(&ledger.node.uid);
            self.soonest = None;
            self.seats.replace(ledger.id, &ledger.entries, &[]);
            self.reserved.remove(&ledger.id);
            self.pod_affinity = self.pod_affinity.without(ledger.pod_affinity);
            if !ledger.pods.is_empty() {
                self.homeless.insert(name.clone(), ledger.pods);
            }
        }
        changes.push(Change::NodeGone(name.clone()));
    }

    fn nodes_relisted(&mut self, live: Vec<Node>, changes: &mut Vec<Change>) {
        self.listed.insert(Listed::Nodes);
        let names: BTreeSet<&NodeName> = live.iter().map(|node| &node.name).collect();
        let vanished: Vec<Arc<Node>> = self
            .nodes
            .iter()
            .map(|ledger| &ledger.node)
            .filter(|node| !names.contains(&node.name))
            .cloned()
            .collect();
        vanished.iter().for_each(|node| self.node_deleted(&node.name, &node.uid, changes));
        live.into_iter().for_each(|node| self.node_applied(node, changes));
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
        if pod.node.is_some() {
            self.confirm(&pod, changes);
        }
        self.nominations.correct(&mut pod);
        self.shared.share_pod(&mut pod);
        // Its node's name is there already, mostly.
        let known = pod.node.as_ref().and_then(|name| self.nodes.get(self.nodes.id(name)?));
        if let Some(ledger) = known {
            pod.node = Some(ledger.node.name.clone());
        }
        let pod = Arc::new(pod);
        if let Some(known) = self.pods.get(&pod.key).filter(|known| known.nominated != pod.nominated).cloned()
        {
            changes.extend(freed_by(&known));
            self.unnominate(&known);
        }
        // Most news of a waiting pod is what we ourselves wrote into its condition.
        if self.pods.get(&pod.key).is_some_and(|known| known.is_waiting() && known.asks_same(&pod)) {
            self.unnominate(&pod);
            if !self.assumed.contains_key(&pod.key) {
                self.nominate(Arc::clone(&pod));
            }
            self.pods.insert(pod);
            return;
        }
        changes.push(self.pod_changed(&pod));
        let known = self.pods.get(&pod.key).filter(|known| known.is_counted() && known.deleting).cloned();
        let is_counted = pod.is_counted();
        self.put(pod);
        if let Some(gone) = known.filter(|_| !is_counted) {
            // A kubelet says that a pod has ended before it lets go of it.
            self.keep_place_of(&gone);
        }
    }

    /// What it means that the pod is now as it is.
    fn pod_changed(&self, pod: &Pod) -> Change {
        let was_counted = self.pods.get(&pod.key).filter(|known| known.is_counted());
        let left = was_counted.filter(|known| !pod.is_counted() || pod.spec.requests != known.spec.requests);
        match left.and_then(|known| known.node.clone()) {
            Some(node) => Change::RoomFreed(node),
            _ if pod.is_waiting() => Change::PodWaiting(pod.key.clone()),
            _ => Change::PodSettled(pod.key.clone()),
        }
    }

    /// Keeps the pod, and counts it where it now is.
    fn put(&mut self, pod: Arc<Pod>) {
        let known = self.pods.get(&pod.key).map(|known| &**known);
        self.usage.change(known, Some(&pod), self.now);
        self.standing.add(&pod);
        self.note_leaving(&pod);
        let known = self.pods.insert(Arc::clone(&pod));
        self.claims.replace(known.as_deref(), Some(&pod));
        if let Some(known) = known {
            self.standing.remove(&known);
            self.unnominate(&known);
            if known.is_counted() {
                self.leave(&known);
            }
        }
        if let Some(assumed) = self.assumed.remove(&pod.key) {
            // It is not bound yet, and asks for something else than before.
            self.leave(&assumed);
            if let Some(node) = assumed.node.clone() {
                let pod = Arc::new(pod.bound(node, assumed.stamp.clone(), assumed.scheduled_at()));
                self.assumed.insert(pod.key.clone(), Arc::clone(&pod));
                self.enter(pod);
            }
        } else if pod.is_counted() {
            self.enter(pod);
        } else {
            self.nominate(pod);
        }
    }

    /// The binding of an assumed pod was seen: from now on the pod itself says where it is.
    fn confirm(&mut self, pod: &Pod, changes: &mut Vec<Change>) {
        let assumed = self.assumed_node(&pod.key, &pod.uid);
        // Bound by somebody else to another node: the room that was assumed for it is free again.
        if assumed.is_some() && assumed != pod.node.as_ref() {
            self.choices.forget(&pod.uid);
        }
        let freed = self.unassume(&pod.key, &pod.uid);
        changes.extend(freed.into_iter().filter(|change| match change {
            Change::RoomFreed(node) => pod.node.as_ref() != Some(node),
            _ => true,
        }));
    }

    /// A pod on a node that is being deleted, or says that its place is to be kept, is one that the controller looks after.
    fn note_leaving(&mut self, pod: &Pod) {
        if is_leaving(pod) {
            self.leaving.insert(pod.key.clone());
        } else {
            self.leaving.remove(&pod.key);
        }
    }

    /// `last` is the pod as it was in the end, if that was told.
    fn pod_deleted(&mut self, key: &PodKey, uid: &Uid, last: Option<&Pod>, changes: &mut Vec<Change>) {
        if self.pods.get(key).is_none_or(|known| known.uid != *uid) {
            return;
        }
        self.nominations.forget(uid);
        self.note_departed(uid);
        if let Some(known) = self.pods.remove(key) {
            self.standing.remove(&known);
            self.usage.change(Some(&known), None, self.now);
            self.claims.replace(Some(&known), None);
            self.leaving.remove(key);
            self.unnominate(&known);
            changes.extend(freed_by(&known));
            if let Some(node) = &known.node {
                changes.push(Change::RoomFreed(node.clone()));
            }
            if known.is_counted() {
                self.leave(&known);
                self.keep_place_of_deleted(&known, last);
            }
        }
        changes.extend(self.forget(key, uid));
        changes.push(Change::PodSettled(key.clone()));
    }

    /// A pod that was ended by others, or ended by itself, leaves its place to whoever comes.
    fn keep_place_of_deleted(&mut self, known: &Pod, last: Option<&Pod>) {
        match last.filter(|last| last.deleting && last.node.is_some()) {
            Some(last) if !known.deleting => self.keep_place_of(last),
            _ if known.deleting => self.keep_place_of(known),
            _ => {}
        }
    }

    fn pods_relisted(&mut self, live: Vec<Pod>, changes: &mut Vec<Change>) {
        self.listed.insert(Listed::Pods);
        let keys: BTreeSet<&PodKey> = live.iter().map(|pod| &pod.key).collect();
        let gone = self.pods.iter().filter(|pod| !keys.contains(&pod.key));
        let mut vanished: Vec<(PodKey, Uid)> = gone.map(|pod| (pod.key.clone(), pod.uid.clone())).collect();
        vanished.sort();
        vanished.iter().for_each(|(key, uid)| self.pod_deleted(key, uid, None, changes));
        live.into_iter().for_each(|pod| self.pod_applied(pod, changes));
    }

    fn workloads_seen(&mut self, kind: OwnerKind, seen: Seen<Workload>, changes: &mut Vec<Change>) {
        if matches!(seen, Seen::Relisted(_)) {
            self.listed.insert(Listed::Workloads(kind));
        }
        let altered = self.owners.apply(kind, seen, changes);
        self.altered(altered, changes);
    }
}

/// The room that was kept for a waiting pod where it was nominated to, once it no longer is.
pub(super) fn freed_by(pod: &Pod) -> Option<Change> {
    pod.nominated.as_deref().filter(|_| pod.is_waiting()).cloned().map(Change::RoomFreed)
}

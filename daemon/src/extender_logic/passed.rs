//! The pods that were let through and are not known to be bound yet.

use common::cluster::{Cluster, Ledger, Snapshot};
use common::model::{NodeName, Pod, PodKey, Uid};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The pods, each with the nodes with kept room that it may be about to be bound to.
#[derive(Default)]
pub(super) struct Passed {
    pods: BTreeMap<PodKey, Entry>,
    /// How many of them there are on each node, so that nodes without any need not be looked for.
    by_node: BTreeMap<NodeName, Vec<PodKey>>,
    removals: u64,
}

struct Entry {
    pod: Arc<Pod>,
    nodes: Vec<NodeName>,
}

impl Passed {
    /// From now on `pod` counts on each of `nodes`.
    pub(super) fn insert(&mut self, pod: &Arc<Pod>, nodes: Vec<NodeName>) {
        if nodes.is_empty() {
            return;
        }
        for node in &nodes {
            self.by_node.entry(node.clone()).or_default().push(pod.key.clone());
        }
        self.pods.insert(pod.key.clone(), Entry { pod: Arc::clone(pod), nodes });
    }

    /// It no longer counts.
    pub(super) fn remove(&mut self, key: &PodKey) {
        let Some(entry) = self.pods.remove(key) else { return };
        self.removals += 1;
        for node in &entry.nodes {
            if let Some(pods) = self.by_node.get_mut(node) {
                pods.retain(|other| other != key);
                if pods.is_empty() {
                    self.by_node.remove(node);
                }
            }
        }
    }

    /// How many were let go of so far.
    pub(super) fn removals(&self) -> u64 {
        self.removals
    }

    /// Lets go of all of which more is known: bound, gone, or told that they have no place.
    pub(super) fn prune(&mut self, cluster: &Cluster) {
        let settled = self.pods.values().filter(|entry| is_settled(&entry.pod, cluster));
        let settled: Vec<PodKey> = settled.map(|entry| entry.pod.key.clone()).collect();
        settled.iter().for_each(|key| self.remove(key));
    }

    /// The world as it would be if all but the pod `except` that were let onto this node were there.
    pub(super) fn suppose<'w>(&self, world: &Snapshot<'w>, ledger: &Ledger, except: &Uid) -> Snapshot<'w> {
        match self.by_node.contains_key(&ledger.node.name) {
            true => world.suppose(self.onto(ledger, except, world.now())),
            false => world.clone(),
        }
    }

    /// The books of a node as they would be if all but the pod `except` that were let onto it were there.
    pub(super) fn onto(&self, ledger: &Ledger, except: &Uid, now: Timestamp) -> Ledger {
        let mut with = ledger.clone();
        let keys = self.by_node.get(&ledger.node.name).into_iter().flatten();
        let others = keys.filter_map(|key| self.pods.get(key)).filter(|entry| entry.pod.uid != *except);
        for entry in others {
            // An owner's pod takes what is kept for it: it is going to be scheduled, and that is now.
            with.add(Arc::new(entry.pod.bound(ledger.node.name.clone(), None, Some(now))));
        }
        with
    }
}

/// Whether more is known about the pod than when it was let through.
fn is_settled(passed: &Pod, cluster: &Cluster) -> bool {
    let Some(known) = cluster.pod(&passed.key) else {
        // Either it is gone, or it has not arrived here yet.
        return cluster.newest().1 >= passed.resource_version;
    };
    fn told(pod: &Pod) -> Option<(&str, &str)> {
        pod.unscheduled().map(|told| (&*told.reason, &*told.message))
    }
    known.uid != passed.uid
        || known.node.is_some()
        || known.resource_version > passed.resource_version
            && told(known).is_some()
            && told(known) != told(passed)
}

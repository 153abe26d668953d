//! The pods that passed our filter and are not known to be bound yet. kube-scheduler may have assumed them on a node, which this
//! daemon cannot see.

use common::cluster::{Cluster, Ledger, Snapshot};
use common::model::{NodeName, Pod, PodKey, Uid};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The pods, each with the nodes that it passed on and that have reservations.
#[derive(Default)]
pub(super) struct PassedPods {
    pods: BTreeMap<PodKey, PassedPod>,
    by_node: BTreeMap<NodeName, Vec<PodKey>>,
    removals: u64,
}

struct PassedPod {
    pod: Arc<Pod>,
    nodes: Vec<NodeName>,
}

impl PassedPods {
    pub(super) fn insert(&mut self, pod: &Arc<Pod>, nodes: Vec<NodeName>) {
        if nodes.is_empty() {
            return;
        }
        for node in &nodes {
            self.by_node.entry(node.clone()).or_default().push(pod.key.clone());
        }
        self.pods.insert(pod.key.clone(), PassedPod { pod: Arc::clone(pod), nodes });
    }

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

    /// How many pods were removed so far.
    pub(super) fn removals(&self) -> u64 {
        self.removals
    }

    /// Removes the pods that are bound, gone, or have a new condition that says they are unschedulable.
    pub(super) fn prune(&mut self, cluster: &Cluster) {
        let settled = self.pods.values().filter(|entry| is_settled(&entry.pod, cluster));
        let settled: Vec<PodKey> = settled.map(|entry| entry.pod.key.clone()).collect();
        settled.iter().for_each(|key| self.remove(key));
    }

    /// The snapshot with all pods on the node that passed there, except for the pod `except`.
    pub(super) fn suppose<'w>(&self, world: &Snapshot<'w>, ledger: &Ledger, except: &Uid) -> Snapshot<'w> {
        match self.by_node.contains_key(&ledger.node.name) {
            true => world.suppose(self.ledger_with_pods(ledger, except, world.now())),
            false => world.clone(),
        }
    }

    /// The ledger with all pods that passed on its node, except for the pod `except`.
    pub(super) fn ledger_with_pods(&self, ledger: &Ledger, except: &Uid, now: Timestamp) -> Ledger {
        let mut with = ledger.clone();
        let keys = self.by_node.get(&ledger.node.name).into_iter().flatten();
        let others = keys.filter_map(|key| self.pods.get(key)).filter(|entry| entry.pod.uid != *except);
        for entry in others {
            // With a scheduling time, so that a pod of the owner counts as the taker of a seat.
            with.add(Arc::new(entry.pod.bound(ledger.node.name.clone(), None, Some(now))));
        }
        with
    }
}

/// Whether more is known about the pod than when it passed.
fn is_settled(passed: &Pod, cluster: &Cluster) -> bool {
    let Some(known) = cluster.pod(&passed.key) else {
        // It is gone, or the watch has not shown it yet.
        return cluster.newest_versions().1 >= passed.resource_version;
    };
    fn condition(pod: &Pod) -> Option<(&str, &str)> {
        pod.unscheduled().map(|condition| (&*condition.reason, &*condition.message))
    }
    known.uid != passed.uid
        || known.node.is_some()
        || known.resource_version > passed.resource_version
            && condition(known).is_some()
            && condition(known) != condition(passed)
}

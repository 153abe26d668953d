//! An index of pods by the controller that they name. It has only the pods that have to be looked at again when an owner changes:
//! waiting pods, candidates for automatic reservations, and pods whose record can be too long.

use crate::cluster::reservations::record_too_long::can_be_too_long;
use crate::cluster::{Change, Cluster, ClusterChange, NodeId};
use crate::model::ids::{PodKey, Uid};
use crate::model::{Pod, Resources};
use std::collections::{BTreeMap, BTreeSet};

/// The pods by the UID of the controller that they name. Nothing proves here that the controller exists.
#[derive(Debug, Default)]
pub(in crate::cluster) struct PodsByController {
    by_uid: BTreeMap<Uid, BTreeSet<PodKey>>,
}

impl PodsByController {
    pub(in crate::cluster) fn replace(&mut self, before: Option<&Pod>, after: Option<&Pod>) {
        if let Some((uid, key)) = before.and_then(index_entry)
            && let Some(keys) = self.by_uid.get_mut(uid)
        {
            keys.remove(key);
            if keys.is_empty() {
                self.by_uid.remove(uid);
            }
        }
        if let Some((uid, key)) = after.and_then(index_entry) {
            self.by_uid.entry(uid.clone()).or_default().insert(key.clone());
        }
    }

    pub(in crate::cluster) fn of(&self, uid: &Uid) -> impl Iterator<Item = &PodKey> {
        self.by_uid.get(uid).into_iter().flatten()
    }
}

/// The UID of the controller and the key of the pod, if the pod belongs into the index.
fn index_entry(pod: &Pod) -> Option<(&Uid, &PodKey)> {
    let is_indexed = || pod.is_waiting() || is_reservation_candidate(pod) || can_be_too_long(pod);
    let controller = pod.controller.as_ref().filter(|_| is_indexed())?;
    Some((&controller.uid, &pod.key))
}

/// Whether the pod may get an automatic reservation: it is on a node, and is being deleted or has `reserve/keep` itself.
pub(in crate::cluster) fn is_reservation_candidate(pod: &Pod) -> bool {
    pod.is_counted() && (pod.deleting || pod.keep().is_some())
}

impl Cluster {
    /// The pods of `owners` may have other owners than before. Recomputes the ledgers of the nodes with reservations of `owners`;
    /// no other ledger depends on it. Reports room that became free, and the waiting pods of `owners`.
    pub(in crate::cluster) fn recompute_for_owners(
        &mut self,
        owners: &BTreeSet<Uid>,
        changes: &mut Vec<Change>,
    ) {
        let nodes: BTreeSet<NodeId> =
            owners.iter().flat_map(|owner| self.reservation_index.of(owner)).collect();
        for id in nodes {
            let before = self.held_on(id);
            self.change(id, |_| ());
            if before != self.held_on(id)
                && let Some(ledger) = self.nodes.get(id)
            {
                changes.push(ClusterChange::of_reservations(ledger.node.name.clone()).into());
            }
        }
        let indexed = owners.iter().flat_map(|owner| self.pods_by_controller.of(owner));
        let waiting = indexed.filter(|key| self.pods.get(key).is_some_and(|pod| pod.is_waiting()));
        changes.extend(waiting.cloned().map(Change::PodWaiting));
    }

    fn held_on(&self, id: NodeId) -> Vec<Resources> {
        let entries = self.nodes.get(id).into_iter().flat_map(|ledger| &ledger.entries);
        entries.map(|entry| entry.held.clone()).collect()
    }
}

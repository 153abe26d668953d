//! Which pods claim which controller, of those that somebody has to look at again when an owner changes: pods that wait, pods on
//! nodes that are on their way out or say that their place is to be kept, and pods whose record can be too long.

use super::unprotected::can_be_too_long;
use super::{Change, Cluster, NodeId};
use crate::model::ids::{PodKey, Uid};
use crate::model::{Pod, Resources};
use std::collections::{BTreeMap, BTreeSet};

/// The pods by the UID of the controller that they claim, which may be a lie.
#[derive(Debug, Default)]
pub(super) struct Claims {
    by_uid: BTreeMap<Uid, BTreeSet<PodKey>>,
}

impl Claims {
    /// A pod is now like `after`, and was like `before`.
    pub(super) fn replace(&mut self, before: Option<&Pod>, after: Option<&Pod>) {
        if let Some((uid, key)) = before.and_then(claim)
            && let Some(keys) = self.by_uid.get_mut(uid)
        {
            keys.remove(key);
            if keys.is_empty() {
                self.by_uid.remove(uid);
            }
        }
        if let Some((uid, key)) = after.and_then(claim) {
            self.by_uid.entry(uid.clone()).or_default().insert(key.clone());
        }
    }

    /// The pods that claim the controller with this UID.
    pub(super) fn of(&self, uid: &Uid) -> impl Iterator<Item = &PodKey> {
        self.by_uid.get(uid).into_iter().flatten()
    }
}

/// What the pod claims, if it is one of those that are kept here.
fn claim(pod: &Pod) -> Option<(&Uid, &PodKey)> {
    let is_kept = || pod.is_waiting() || is_leaving(pod) || can_be_too_long(pod);
    let controller = pod.controller.as_ref().filter(|_| is_kept())?;
    Some((&controller.uid, &pod.key))
}

/// Whether the pod is on a node and on its way out, or says that its place is to be kept.
pub(super) fn is_leaving(pod: &Pod) -> bool {
    pod.is_counted() && (pod.deleting || pod.keep().is_some())
}

impl Cluster {
    /// Pods that have one of `owners` among their owners may belong to others than before. Only the books of nodes with
    /// reservations of these owners follow from that.
    pub(super) fn settle_for(&mut self, owners: &BTreeSet<Uid>, changes: &mut Vec<Change>) {
        let nodes: BTreeSet<NodeId> = owners.iter().flat_map(|owner| self.seats.of(owner)).collect();
        for id in nodes {
            let before = self.held_on(id);
            self.change(id, |_| ());
            if before != self.held_on(id)
                && let Some(ledger) = self.nodes.get(id)
            {
                changes.push(Change::RoomFreed(ledger.node.name.clone()));
            }
        }
        let claiming = owners.iter().flat_map(|owner| self.claims.of(owner));
        let waiting = claiming.filter(|key| self.pods.get(key).is_some_and(|pod| pod.is_waiting()));
        changes.extend(waiting.cloned().map(Change::PodWaiting));
    }

    fn held_on(&self, id: NodeId) -> Vec<Resources> {
        let entries = self.nodes.get(id).into_iter().flat_map(|ledger| &ledger.entries);
        entries.map(|entry| entry.held.clone()).collect()
    }
}

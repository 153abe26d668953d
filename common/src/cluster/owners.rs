//! The workloads that were read, and the chain of them above a pod.

use super::event::Seen;
use crate::model::Pod;
use crate::model::ids::Text;
use crate::model::owner::{ControllerRef, OwnerKind, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// A chain is never followed further than this: nothing real is that deep, and references can form a circle.
const CHAIN_LEN_MAX: usize = 10;

/// All workloads that were read.
#[derive(Debug, Default)]
pub struct Owners {
    by_name: BTreeMap<(OwnerKind, Text, Text), Workload>,
    /// Kinds that we may not read: a claim of one of these ends a chain.
    unreadable: BTreeSet<OwnerKind>,
}

impl Owners {
    /// Learns about workloads of `kind`, and says whether pods may belong to others than before.
    pub fn apply(&mut self, kind: OwnerKind, seen: Seen<Workload>) -> bool {
        match seen {
            Seen::Applied(workload) => self.insert(workload),
            Seen::Deleted(workload) => {
                let key = (kind, workload.namespace, workload.name);
                let is_known = self.by_name.get(&key).is_some_and(|known| known.uid == workload.uid);
                is_known && self.by_name.remove(&key).is_some()
            }
            Seen::Relisted(live) => {
                self.unreadable.remove(&kind);
                self.by_name.retain(|(of, _, _), _| *of != kind);
                for workload in live {
                    self.insert(workload);
                }
                true
            }
        }
    }

    /// The owners of `pod`, nearest first: only those that were read in the pod's own namespace under the name and
    /// kind that the one below claims, and whose UID is the claimed one.
    pub fn chain<'o>(&'o self, pod: &Pod) -> Vec<&'o Workload> {
        let mut chain: Vec<&Workload> = Vec::new();
        while chain.len() < CHAIN_LEN_MAX
            && let Some(owner) = self.claimed(pod, &chain).and_then(|claim| self.find(pod, claim))
        {
            chain.push(owner);
        }
        chain
    }

    /// Whether `pod` claims an owner, or one of its owners does, of a kind that we read and that has not been read.
    pub fn is_missing_for(&self, pod: &Pod) -> bool {
        let chain = self.chain(pod);
        let open =
            self.claimed(pod, &chain).filter(|_| chain.len() < CHAIN_LEN_MAX).and_then(|claim| claim.kind);
        open.is_some_and(|kind| !self.unreadable.contains(&kind))
    }

    /// Learns that workloads of `kind` cannot be read. What was read of them before stays.
    pub fn cannot_read(&mut self, kind: OwnerKind) {
        self.unreadable.insert(kind);
    }

    /// The owner that the last of `chain`, or else the pod itself, claims.
    fn claimed<'c>(&self, pod: &'c Pod, chain: &[&'c Workload]) -> Option<&'c ControllerRef> {
        match chain.last() {
            Some(top) => top.controller.as_ref(),
            None => pod.controller.as_deref(),
        }
    }

    fn find(&self, pod: &Pod, claim: &ControllerRef) -> Option<&Workload> {
        let found = self.by_name.get(&(claim.kind?, pod.key.namespace.clone(), claim.name.clone()));
        found.filter(|owner| owner.uid == claim.uid)
    }

    /// The workload of this kind and name, whichever UID it has.
    pub fn named(&self, kind: OwnerKind, namespace: &Text, name: &Text) -> Option<&Workload> {
        self.by_name.get(&(kind, namespace.clone(), name.clone()))
    }

    /// The workload with this UID, for people who read a bare UID.
    pub fn by_uid(&self, uid: &crate::model::Uid) -> Option<&Workload> {
        self.by_name.values().find(|workload| workload.uid == *uid)
    }

    /// Keeps the workload unless a newer version of it is known. Whether that makes a difference to its pods.
    fn insert(&mut self, workload: Workload) -> bool {
        let key = (workload.kind, workload.namespace.clone(), workload.name.clone());
        let known = self.by_name.get(&key).filter(|known| known.uid == workload.uid);
        if known.is_some_and(|known| known.resource_version > workload.resource_version) {
            return false;
        }
        let differs = known.is_none_or(|known| {
            known.controller != workload.controller || known.selector != workload.selector
        });
        self.by_name.insert(key, workload);
        differs
    }
}

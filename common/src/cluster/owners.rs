//! The workloads that were read, and the chain of them above a pod.

use super::event::Change;
use super::event::Seen;
use crate::model::ids::{Text, Uid};
use crate::model::owner::{ControllerRef, OwnerKind, Workload};
use crate::model::{Keep, Pod};
use std::collections::{BTreeMap, BTreeSet};

/// A chain is never followed further than this: nothing real is that deep, and references can form a circle.
const CHAIN_LEN_MAX: usize = 10;

/// Kind, namespace, name.
type Key = (OwnerKind, Text, Text);

/// All workloads that were read.
#[derive(Debug, Default)]
pub struct Owners {
    by_name: BTreeMap<Key, Workload>,
    /// The workloads that claim to be controlled by this one.
    children: BTreeMap<Uid, BTreeSet<Key>>,
    /// Kinds that we may not read: a claim of one of these ends a chain.
    unreadable: BTreeSet<OwnerKind>,
}

impl Owners {
    /// Learns about workloads of `kind`, and says whether pods may belong to others than before.
    pub fn apply(&mut self, kind: OwnerKind, seen: Seen<Workload>, changes: &mut Vec<Change>) -> bool {
        match seen {
            Seen::Applied(workload) => self.insert(workload, changes),
            Seen::Deleted(workload) => {
                let key = (kind, workload.namespace, workload.name);
                let is_known = self.by_name.get(&key).is_some_and(|known| known.uid == workload.uid);
                is_known && self.remove(&key, changes)
            }
            Seen::Relisted(live) => {
                self.unreadable.remove(&kind);
                let known: Vec<Key> = self.by_name.keys().filter(|(of, _, _)| *of == kind).cloned().collect();
                for key in &known {
                    self.remove(key, changes);
                }
                for workload in live {
                    self.insert(workload, changes);
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

    /// Whether workloads of `kind` can be read: then one that is not there is gone.
    pub fn is_readable(&self, kind: OwnerKind) -> bool {
        !self.unreadable.contains(&kind)
    }

    /// The workloads that `parent` controls.
    pub fn children(&self, parent: &Workload) -> impl Iterator<Item = &Workload> {
        let keys = self.children.get(&parent.uid).into_iter().flatten();
        keys.filter_map(|key| self.by_name.get(key)).filter(|child| {
            child.namespace == parent.namespace
                && child.controller.as_ref().is_some_and(|claim| {
                    (claim.kind, &claim.name, &claim.uid) == (Some(parent.kind), &parent.name, &parent.uid)
                })
        })
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

    /// All workloads, by kind, namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = &Workload> {
        self.by_name.values()
    }

    /// The workload with this UID, for people who read a bare UID.
    pub fn by_uid(&self, uid: &Uid) -> Option<&Workload> {
        self.by_name.values().find(|workload| workload.uid == *uid)
    }

    /// Keeps the workload unless a newer version of it is known. Whether pods may belong to others than before.
    fn insert(&mut self, workload: Workload, changes: &mut Vec<Change>) -> bool {
        let key = (workload.kind, workload.namespace.clone(), workload.name.clone());
        let known = self.by_name.get(&key).filter(|known| known.uid == workload.uid);
        if known.is_some_and(|known| known.resource_version > workload.resource_version) {
            return false;
        }
        let differs = known.is_none_or(|known| {
            known.controller != workload.controller || known.selector != workload.selector
        });
        let wishes = |one: &Workload| (one.wanted, one.is_deleting, one.keep.clone());
        if differs || known.is_none_or(|known| wishes(known) != wishes(&workload)) {
            let parent = workload.controller.as_ref().map(|claim| &claim.uid);
            let uids = [&workload.uid].into_iter().chain(parent);
            changes.extend(uids.cloned().map(Change::OwnerChanged));
        }
        if let Some(Keep::Invalid(text)) = workload.keep.as_ref()
            && known.is_none_or(|known| known.keep != workload.keep)
        {
            changes.push(Change::KeepInvalid(Box::new(workload.owner()), text.clone()));
        }
        if differs {
            self.remove(&key, changes);
            if let Some(claim) = &workload.controller {
                self.children.entry(claim.uid.clone()).or_default().insert(key.clone());
            }
        }
        self.by_name.insert(key, workload);
        differs
    }

    fn remove(&mut self, key: &Key, changes: &mut Vec<Change>) -> bool {
        let Some(removed) = self.by_name.remove(key) else { return false };
        if let Some(claim) = &removed.controller
            && let Some(children) = self.children.get_mut(&claim.uid)
        {
            children.remove(key);
            if children.is_empty() {
                self.children.remove(&claim.uid);
            }
            // Whoever controlled it has pods fewer.
            changes.push(Change::OwnerChanged(claim.uid.clone()));
        }
        changes.push(Change::OwnerChanged(removed.uid));
        true
    }
}

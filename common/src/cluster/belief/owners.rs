//! The workloads that were read, and the chain of owners of a pod. Entry points: [`Owners::apply`] and [`Owners::chain`].

use crate::cluster::belief::event::{Change, WatchEvent};
use crate::cluster::belief::foreign_owners::ForeignOwners;
use crate::model::{ControllerRef, ForeignClaim, ForeignKind, Keep, OwnerKind, Pod, Text, Uid, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// A chain is not followed further than this: real ones are shorter, and references can form a circle.
const CHAIN_LEN_MAX: usize = 10;

/// Kind, namespace, name. For an object of a foreign kind the name is `kind/name`.
type WorkloadKey = (OwnerKind, Text, Text);

fn key(workload: &Workload) -> WorkloadKey {
    match &workload.foreign {
        Some(foreign) => foreign_key(foreign, &workload.namespace, &workload.name),
        None => (workload.kind, workload.namespace.clone(), workload.name.clone()),
    }
}

fn foreign_key(kind: &ForeignKind, namespace: &Text, name: &Text) -> WorkloadKey {
    (OwnerKind::Foreign, namespace.clone(), format!("{kind}/{name}").into())
}

#[derive(Debug, Default)]
pub struct Owners {
    by_name: BTreeMap<WorkloadKey, Workload>,
    /// The workloads that name the one with this UID as their controller.
    children: BTreeMap<Uid, BTreeSet<WorkloadKey>>,
    /// Kinds that we may not read: a reference to one of these ends a chain.
    unreadable: BTreeSet<OwnerKind>,
    /// The owners of foreign kinds that pods and workloads name.
    pub(in crate::cluster) foreign: ForeignOwners,
}

/// Which pods may have other owners than before, because of an event about workloads.
#[derive(Debug, PartialEq, Eq)]
pub enum OwnershipChange {
    Nothing,
    /// The pods that have one of the workloads with these UIDs among their owners, now or before: the workload of the event, and
    /// those above and below it.
    Of(BTreeSet<Uid>),
    All,
}

impl Owners {
    /// Applies an event about workloads of `kind`, and returns which pods may have other owners than before.
    pub fn apply(
        &mut self,
        kind: OwnerKind,
        event: WatchEvent<Workload>,
        changes: &mut Vec<Change>,
    ) -> OwnershipChange {
        match event {
            WatchEvent::Applied(workload) => {
                let key = key(&workload);
                if !self.changes_ownership(&key, &workload) {
                    self.insert(workload, changes);
                    return OwnershipChange::Nothing;
                }
                let mut family = self.family(&key);
                self.insert(workload, changes);
                family.extend(self.family(&key));
                OwnershipChange::Of(family)
            }
            WatchEvent::Deleted(workload) => {
                let key = key(&workload);
                if self.by_name.get(&key).is_none_or(|known| known.uid != workload.uid) {
                    return OwnershipChange::Nothing;
                }
                let family = self.family(&key);
                self.remove(&key, changes);
                OwnershipChange::Of(family)
            }
            WatchEvent::Relisted(live) => {
                self.unreadable.remove(&kind);
                let known: Vec<WorkloadKey> =
                    self.by_name.keys().filter(|(of, _, _)| *of == kind).cloned().collect();
                for key in &known {
                    self.remove(key, changes);
                }
                for workload in live {
                    self.insert(workload, changes);
                }
                OwnershipChange::All
            }
        }
    }

    /// The owners of `pod`, nearest first: only those that were read in the pod's own namespace, and that have the kind, name and
    /// UID which the reference below them names.
    pub fn chain<'o>(&'o self, pod: &Pod) -> Vec<&'o Workload> {
        let mut chain: Vec<&Workload> = Vec::new();
        while chain.len() < CHAIN_LEN_MAX
            && let Some(owner) =
                self.claimed(pod, &chain).and_then(|claim| self.find(&pod.key.namespace, claim))
        {
            chain.push(owner);
        }
        chain
    }

    /// Whether `pod` or one of its owners names a controller of a kind that we read, and that controller has not been read.
    pub fn is_missing_for(&self, pod: &Pod) -> bool {
        let chain = self.chain(pod);
        let open = self.claimed(pod, &chain).filter(|_| chain.len() < CHAIN_LEN_MAX);
        open.is_some_and(|claim| match claim.kind {
            Some(kind) => !self.unreadable.contains(&kind),
            // With any owner that was read there is an owner for a reservation, so a foreign one above is not waited for.
            None => {
                let claim = claim.foreign_in(&pod.key.namespace).filter(|_| chain.is_empty());
                claim.is_some_and(|claim| self.foreign.is_being_read(&claim))
            }
        })
    }

    /// The owner of a foreign kind at which the known chain of the pod's owners ends.
    pub fn foreign_claim(&self, pod: &Pod) -> Option<ForeignClaim> {
        let chain = self.chain(pod);
        let claim = self.claimed(pod, &chain).filter(|_| chain.len() < CHAIN_LEN_MAX)?;
        claim.foreign_in(&pod.key.namespace)
    }

    /// The workload of a foreign kind that `claim` names, if it was read and has that UID.
    pub fn foreign(&self, claim: &ForeignClaim) -> Option<&Workload> {
        let found = self.by_name.get(&foreign_key(&claim.kind, &claim.namespace, &claim.name));
        found.filter(|owner| owner.uid == claim.uid)
    }

    /// Whether workloads of `kind` can be read. If so, a workload that is not here does not exist.
    pub fn is_readable(&self, kind: OwnerKind) -> bool {
        !self.unreadable.contains(&kind)
    }

    pub fn children(&self, parent: &Workload) -> impl Iterator<Item = &Workload> {
        let keys = self.children.get(&parent.uid).into_iter().flatten();
        keys.filter_map(|key| self.by_name.get(key)).filter(|child| {
            child.namespace == parent.namespace
                && child.controller.as_ref().is_some_and(|claim| claim.refers_to(parent))
        })
    }

    pub(in crate::cluster) fn has_children(&self, uid: &Uid) -> bool {
        self.children.contains_key(uid)
    }

    /// Notes that workloads of `kind` cannot be read. Those that were read before stay.
    pub fn cannot_read(&mut self, kind: OwnerKind) {
        self.unreadable.insert(kind);
    }

    /// The controller that the last of `chain` names, or the pod itself if `chain` is empty.
    fn claimed<'c>(&self, pod: &'c Pod, chain: &[&'c Workload]) -> Option<&'c ControllerRef> {
        match chain.last() {
            Some(top) => top.controller.as_ref(),
            None => pod.controller.as_deref(),
        }
    }

    fn find(&self, namespace: &Text, claim: &ControllerRef) -> Option<&Workload> {
        let key = match &claim.foreign {
            Some(foreign) => foreign_key(foreign, namespace, &claim.name),
            None => (claim.kind?, namespace.clone(), claim.name.clone()),
        };
        self.by_name.get(&key).filter(|owner| owner.uid == claim.uid)
    }

    /// The UIDs of the workload under `key`, of those above it, and of those below it.
    fn family(&self, key: &WorkloadKey) -> BTreeSet<Uid> {
        let Some(own) = self.by_name.get(key) else { return BTreeSet::new() };
        let mut family = BTreeSet::from([own.uid.clone()]);
        let mut top = Some(own);
        while let Some(claim) = top.and_then(|top| top.controller.as_ref())
            && family.insert(claim.uid.clone())
        {
            top = self.find(&own.namespace, claim);
        }
        self.add_below(own, &mut family);
        family
    }

    fn add_below(&self, top: &Workload, family: &mut BTreeSet<Uid>) {
        let mut parents = vec![top];
        while let Some(parent) = parents.pop() {
            parents.extend(self.children(parent).filter(|child| family.insert(child.uid.clone())));
        }
    }

    /// The UIDs that pods of the workload with this UID may name as their controller: its own, and those of the workloads
    /// below it.
    pub(in crate::cluster) fn controllers_below(&self, uid: &Uid) -> BTreeSet<Uid> {
        let mut all = BTreeSet::from([uid.clone()]);
        let children = self.children.get(uid).into_iter().flatten().filter_map(|key| self.by_name.get(key));
        for child in children {
            if all.insert(child.uid.clone()) {
                self.add_below(child, &mut all);
            }
        }
        all
    }

    /// The workload of this kind and name, whichever UID it has.
    pub fn named(&self, kind: OwnerKind, namespace: &Text, name: &Text) -> Option<&Workload> {
        self.by_name.get(&(kind, namespace.clone(), name.clone()))
    }

    /// All workloads, by kind, namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = &Workload> {
        self.by_name.values()
    }

    /// The workload with this UID, to show it instead of a bare UID.
    pub fn by_uid(&self, uid: &Uid) -> Option<&Workload> {
        self.by_name.values().find(|workload| workload.uid == *uid)
    }

    /// Whether pods may have other owners than before once `workload` is stored under `key`.
    fn changes_ownership(&self, key: &WorkloadKey, workload: &Workload) -> bool {
        let known = self.by_name.get(key).filter(|known| known.uid == workload.uid);
        known.is_none_or(|known| {
            known.resource_version <= workload.resource_version
                && (&known.controller, &known.selector, &known.daemon)
                    != (&workload.controller, &workload.selector, &workload.daemon)
        })
    }

    /// Stores the workload unless a newer version of it is known.
    fn insert(&mut self, workload: Workload, changes: &mut Vec<Change>) {
        let key = key(&workload);
        let known = self.by_name.get(&key).filter(|known| known.uid == workload.uid);
        if known.is_some_and(|known| known.resource_version > workload.resource_version) {
            return;
        }
        let differs = self.changes_ownership(&key, &workload);
        let settings = |one: &Workload| (one.desired_pods, one.is_deleting, one.keep.clone());
        if differs || known.is_none_or(|known| settings(known) != settings(&workload)) {
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
    }

    fn remove(&mut self, key: &WorkloadKey, changes: &mut Vec<Change>) {
        let Some(removed) = self.by_name.remove(key) else { return };
        if let Some(claim) = &removed.controller
            && let Some(children) = self.children.get_mut(&claim.uid)
        {
            children.remove(key);
            if children.is_empty() {
                self.children.remove(&claim.uid);
            }
            // Its controller now has fewer pods.
            changes.push(Change::OwnerChanged(claim.uid.clone()));
        }
        changes.push(Change::OwnerChanged(removed.uid));
    }
}

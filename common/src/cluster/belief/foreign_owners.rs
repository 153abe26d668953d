//! Owners of kinds that are not watched, such as CloneSets: each one is read by itself, when a pod names it.
//!
//! Order of calls: [`Cluster::owner_to_read`] says which owner to read, [`Cluster::note_owner_being_read`] notes that the read has
//! begun, and [`crate::cluster::Event::OwnerRead`] brings the result. Such an owner counts as the owner of a pod only when it was read and
//! has the UID that the pod names.

use crate::cluster::Cluster;
use crate::cluster::belief::owners::OwnershipChange;
use crate::cluster::{Change, Owners, WatchEvent};
use crate::model::{ForeignClaim, ForeignKind, Owner, OwnerKind, Pod, Text, Uid, Workload};
use std::collections::BTreeMap;

/// How many owners of foreign kinds are remembered for a namespace. Anybody who may create pods can name any owner.
const PER_NAMESPACE_MAX: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub enum OwnerAnswer {
    /// The object of that kind and name; its UID may differ.
    Found(Box<Workload>),
    Gone,
    /// The object cannot be read, for this reason.
    Refused(Text),
    /// There was no answer.
    Unknown,
}

#[derive(Debug, Default)]
pub(in crate::cluster) struct ForeignOwners {
    claims: BTreeMap<ForeignClaim, ForeignOwnerState>,
    by_namespace: BTreeMap<Text, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ForeignOwnerState {
    /// The object is being read for the first time.
    BeingRead,
    Read,
    Gone,
    /// The object cannot be read, for this reason.
    Refused(Text),
}

impl ForeignOwners {
    pub(in crate::cluster) fn is_being_read(&self, claim: &ForeignClaim) -> bool {
        self.claims.get(claim) == Some(&ForeignOwnerState::BeingRead)
    }

    fn set(&mut self, claim: &ForeignClaim, known: ForeignOwnerState) {
        if self.claims.insert(claim.clone(), known).is_none() {
            *self.by_namespace.entry(claim.namespace.clone()).or_default() += 1;
        }
    }

    fn forget(&mut self, claim: &ForeignClaim) {
        if self.claims.remove(claim).is_some()
            && let Some(count) = self.by_namespace.get_mut(&claim.namespace)
        {
            *count -= 1;
            if *count == 0 {
                self.by_namespace.remove(&claim.namespace);
            }
        }
    }

    fn has_room(&self, namespace: &Text) -> bool {
        self.by_namespace.get(namespace).is_none_or(|count| *count < PER_NAMESPACE_MAX)
    }
}

impl Owners {
    /// The owner of a foreign kind that a reservation names. `Some(None)` if it is gone, `None` if that is unknown.
    pub(in crate::cluster) fn foreign_owner(&self, owner: &Owner) -> Option<Option<&Workload>> {
        let claim = ForeignClaim {
            uid: owner.uid.clone(),
            namespace: owner.namespace.clone(),
            kind: ForeignKind::parse(&owner.kind)?,
            name: owner.name.clone(),
        };
        match self.foreign.claims.get(&claim)? {
            ForeignOwnerState::Read => self.foreign(&claim).map(Some),
            ForeignOwnerState::Gone => Some(None),
            ForeignOwnerState::BeingRead | ForeignOwnerState::Refused(_) => None,
        }
    }
}

impl Cluster {
    /// The owner of a foreign kind that should be read because of `pod` and that was not asked for yet.
    pub fn owner_to_read(&self, pod: &Pod) -> Option<ForeignClaim> {
        pod.controller.as_ref().filter(|_| !pod.is_ended())?;
        self.owners.foreign_claim(pod).filter(|claim| self.is_to_be_read(claim))
    }

    /// The owner of a foreign kind that should be read because `below`, which was just read, names it.
    pub fn owner_above_to_read(&self, below: &Workload) -> Option<ForeignClaim> {
        let claim = below.controller.as_ref()?.foreign_in(&below.namespace);
        claim.filter(|claim| self.is_to_be_read(claim))
    }

    fn is_to_be_read(&self, claim: &ForeignClaim) -> bool {
        let foreign = &self.owners.foreign;
        !foreign.claims.contains_key(claim) && foreign.has_room(&claim.namespace) && has_safe_path(claim)
    }

    /// The owner that cannot be read and without which the pod gets no reservation, although `reserve/keep` applies to the pod; and
    /// why it cannot be read.
    pub fn unreadable_owner(&self, pod: &Pod) -> Option<(ForeignClaim, &Text)> {
        let claim = pod.controller.as_ref()?.foreign_in(&pod.key.namespace)?;
        let ForeignOwnerState::Refused(why) = self.owners.foreign.claims.get(&claim)? else { return None };
        self.reservation_life(pod).map(|_| (claim, why))
    }

    pub fn note_owner_being_read(&mut self, claim: &ForeignClaim) {
        if !self.owners.foreign.claims.contains_key(claim) {
            self.owners.foreign.set(claim, ForeignOwnerState::BeingRead);
        }
    }

    /// Every foreign owner that was to be read, so that they can be read again.
    pub fn foreign_claims(&self) -> impl Iterator<Item = &ForeignClaim> {
        self.owners.foreign.claims.keys()
    }

    /// Whether a pod, another owner or a reservation names the owner with this UID.
    pub fn is_named(&self, uid: &Uid) -> bool {
        self.active_pods.has(uid)
            || self.pods_by_controller.of(uid).next().is_some()
            || self.owners.has_children(uid)
            || self.reservation_index.of(uid).next().is_some()
    }

    pub fn forget_owner(&mut self, claim: &ForeignClaim) -> Vec<Change> {
        let mut changes = Vec::new();
        self.remove_foreign_owner(claim, &mut changes);
        self.owners.foreign.forget(claim);
        changes
    }

    pub(in crate::cluster) fn owner_read(
        &mut self,
        claim: &ForeignClaim,
        answer: OwnerAnswer,
        changes: &mut Vec<Change>,
    ) {
        let was_being_read = self.owners.foreign.is_being_read(claim);
        match answer {
            OwnerAnswer::Found(found) => {
                let is_same = found.uid == claim.uid;
                let change = self.owners.apply(OwnerKind::Foreign, WatchEvent::Applied(*found), changes);
                self.owners
                    .foreign
                    .set(claim, if is_same { ForeignOwnerState::Read } else { ForeignOwnerState::Gone });
                self.ownership_changed(change, changes);
            }
            OwnerAnswer::Gone => {
                self.remove_foreign_owner(claim, changes);
                self.owners.foreign.set(claim, ForeignOwnerState::Gone);
            }
            OwnerAnswer::Refused(why) => {
                // An owner that was read before stays.
                if self.owners.foreign(claim).is_none() {
                    self.owners.foreign.set(claim, ForeignOwnerState::Refused(why));
                }
            }
            // What was read before stays.
            OwnerAnswer::Unknown if was_being_read => self.owners.foreign.forget(claim),
            OwnerAnswer::Unknown => {}
        }
        if was_being_read {
            // Pods have waited for the answer.
            changes.push(Change::OwnerChanged(claim.uid.clone()));
            self.recompute_for_owners(&[claim.uid.clone()].into(), changes);
        }
    }

    fn remove_foreign_owner(&mut self, claim: &ForeignClaim, changes: &mut Vec<Change>) {
        if let Some(known) = self.owners.foreign(claim).cloned() {
            let change = self.owners.apply(OwnerKind::Foreign, WatchEvent::Deleted(known), changes);
            self.ownership_changed(change, changes);
        }
    }

    pub(in crate::cluster) fn ownership_changed(
        &mut self,
        change: OwnershipChange,
        changes: &mut Vec<Change>,
    ) {
        match change {
            OwnershipChange::Nothing => {}
            OwnershipChange::Of(owners) => self.recompute_for_owners(&owners, changes),
            OwnershipChange::All => {
                self.recompute_reserved_nodes();
                changes.push(Change::OwnersChanged);
            }
        }
    }
}

/// Whether the path of the object can be built safely, and its group has a dot, as those of custom resources have. The names come
/// from the creator of the pod and become part of the path.
fn has_safe_path(claim: &ForeignClaim) -> bool {
    let is_plain = |text: &str| {
        !text.is_empty()
            && text.len() <= 253
            && text.starts_with(|first: char| first.is_ascii_alphanumeric())
            && text.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '.' | '-'))
    };
    let Some((group, version)) = claim.kind.api_version.split_once('/') else { return false };
    group.contains('.')
        && [group, version, &claim.kind.kind, &claim.name].into_iter().all(is_plain)
        && !version.contains('.')
        && claim.uid.is_canonical()
}

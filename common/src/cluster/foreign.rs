//! Owners of kinds that are not followed, such as CloneSets: each is read by itself, when a pod claims it.
//!
//! Whoever reads them asks [`Cluster::owner_to_read`] which, notes them by [`Cluster::asks_for_owner`], and tells what came of it as [`super::Event::OwnerRead`]. A pod is believed to belong to such an owner only when that was read and has the claimed UID.

use super::event::{Change, Seen};
use super::owners::Altered;
use super::{Cluster, Owners};
use crate::model::Pod;
use crate::model::ids::{Text, Uid};
use crate::model::owner::{ForeignClaim, ForeignKind, Owner, OwnerKind, Workload};
use std::collections::BTreeMap;

/// So many owners of foreign kinds are remembered for a namespace. Anybody who may make pods can make claims.
const PER_NAMESPACE_MAX: usize = 200;

/// What came of reading an owner.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnerAnswer {
    /// The object of that kind and name, whichever UID it has.
    Found(Box<Workload>),
    /// There is no such object.
    Gone,
    /// It cannot be read; this is why.
    Refused(Text),
    /// Nobody knows: there was no answer.
    Unknown,
}

/// What is known of each claim that somebody asked about.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    claims: BTreeMap<ForeignClaim, Known>,
    by_namespace: BTreeMap<Text, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// It is being read for the first time.
    Asked,
    /// The object was read, and has the claimed UID.
    Good,
    /// There is no object of that UID.
    Gone,
    /// It cannot be read; this is why.
    Refused(Text),
}

impl Foreign {
    pub(super) fn is_asked(&self, claim: &ForeignClaim) -> bool {
        self.claims.get(claim) == Some(&Known::Asked)
    }

    fn set(&mut self, claim: &ForeignClaim, known: Known) {
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
    /// The owner of a foreign kind that a reservation names. `Some(None)` if it is gone, `None` if that cannot be told.
    pub(super) fn foreign_owner(&self, owner: &Owner) -> Option<Option<&Workload>> {
        let claim = ForeignClaim {
            uid: owner.uid.clone(),
            namespace: owner.namespace.clone(),
            kind: ForeignKind::parse(&owner.kind)?,
            name: owner.name.clone(),
        };
        match self.foreign.claims.get(&claim)? {
            Known::Good => self.foreign(&claim).map(Some),
            Known::Gone => Some(None),
            Known::Asked | Known::Refused(_) => None,
        }
    }
}

impl Cluster {
    /// The owner of a foreign kind that is to be read because of `pod`: nobody has asked for it yet.
    pub fn owner_to_read(&self, pod: &Pod) -> Option<ForeignClaim> {
        pod.controller.as_ref().filter(|_| !pod.is_ended())?;
        self.owners.foreign_claim(pod).filter(|claim| self.is_to_be_read(claim))
    }

    /// The same because of another owner, which was just read.
    pub fn owner_above_to_read(&self, below: &Workload) -> Option<ForeignClaim> {
        let claim = below.controller.as_ref()?.foreign_in(&below.namespace);
        claim.filter(|claim| self.is_to_be_read(claim))
    }

    fn is_to_be_read(&self, claim: &ForeignClaim) -> bool {
        let foreign = &self.owners.foreign;
        !foreign.claims.contains_key(claim) && foreign.has_room(&claim.namespace) && is_readable(claim)
    }

    /// The owner for want of which no place is kept for the pod, although somebody wishes it; and why it cannot be read.
    pub fn unreadable_owner(&self, pod: &Pod) -> Option<(ForeignClaim, &Text)> {
        let claim = pod.controller.as_ref()?.foreign_in(&pod.key.namespace)?;
        let Known::Refused(why) = self.owners.foreign.claims.get(&claim)? else { return None };
        self.life(pod).map(|_| (claim, why))
    }

    /// Notes that the owner is being read.
    pub fn asks_for_owner(&mut self, claim: &ForeignClaim) {
        if !self.owners.foreign.claims.contains_key(claim) {
            self.owners.foreign.set(claim, Known::Asked);
        }
    }

    /// Every claim that was asked about, for whoever reads them again.
    pub fn foreign_claims(&self) -> impl Iterator<Item = &ForeignClaim> {
        self.owners.foreign.claims.keys()
    }

    /// Whether anything names the owner: a pod, another owner, or a reservation.
    pub fn is_named(&self, uid: &Uid) -> bool {
        self.standing.has(uid)
            || self.claims.of(uid).next().is_some()
            || self.owners.has_children(uid)
            || self.seats.of(uid).next().is_some()
    }

    /// Forgets an owner that nothing names any more.
    pub fn forget_owner(&mut self, claim: &ForeignClaim) -> Vec<Change> {
        let mut changes = Vec::new();
        self.lose(claim, &mut changes);
        self.owners.foreign.forget(claim);
        changes
    }

    /// Learns what came of reading an owner.
    pub(super) fn owner_read(
        &mut self,
        claim: &ForeignClaim,
        answer: OwnerAnswer,
        changes: &mut Vec<Change>,
    ) {
        let was_asked = self.owners.foreign.is_asked(claim);
        match answer {
            OwnerAnswer::Found(found) => {
                let is_good = found.uid == claim.uid;
                let altered = self.owners.apply(OwnerKind::Foreign, Seen::Applied(*found), changes);
                self.owners.foreign.set(claim, if is_good { Known::Good } else { Known::Gone });
                self.altered(altered, changes);
            }
            OwnerAnswer::Gone => {
                self.lose(claim, changes);
                self.owners.foreign.set(claim, Known::Gone);
            }
            OwnerAnswer::Refused(why) => {
                // What was read while it could be read stays.
                if self.owners.foreign(claim).is_none() {
                    self.owners.foreign.set(claim, Known::Refused(why));
                }
            }
            // What was known before stays.
            OwnerAnswer::Unknown if was_asked => self.owners.foreign.forget(claim),
            OwnerAnswer::Unknown => {}
        }
        if was_asked {
            // Pods have waited for the answer, whatever it is.
            changes.push(Change::OwnerChanged(claim.uid.clone()));
            self.settle_for(&[claim.uid.clone()].into(), changes);
        }
    }

    /// The owner that a claim is about is not there any more.
    fn lose(&mut self, claim: &ForeignClaim, changes: &mut Vec<Change>) {
        if let Some(known) = self.owners.foreign(claim).cloned() {
            let altered = self.owners.apply(OwnerKind::Foreign, Seen::Deleted(known), changes);
            self.altered(altered, changes);
        }
    }

    /// Does the books again that follow from what was learnt about workloads.
    pub(super) fn altered(&mut self, altered: Altered, changes: &mut Vec<Change>) {
        match altered {
            Altered::Nothing => {}
            Altered::Of(owners) => self.settle_for(&owners, changes),
            Altered::All => {
                self.settle_all();
                changes.push(Change::OwnersChanged);
            }
        }
    }
}

/// Whether the claim can be made into the address of an object of a group that people add to a cluster. Names come from whoever made
/// the pod, and become part of a path.
fn is_readable(claim: &ForeignClaim) -> bool {
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

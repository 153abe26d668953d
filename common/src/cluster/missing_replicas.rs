//! How many pods an owner lacks.
//!
//! ```text
//!   short(owner) = pods wanted by the top owner − its pods that stand, over all its ReplicaSets
//! ```
//!
//! An owner that is gone or being deleted, or whose namespace is, wants none. A CronJob wants what its Jobs want. A pod
//! without an owner says nothing by being gone: whether it comes back is up to a person; once it is back on a node,
//! nothing is lacking.

use super::Cluster;
use super::standing::stands;
use crate::model::ids::PodKey;
use crate::model::owner::{Owner, OwnerKind, Workload};

/// Nothing real is deeper; references can form a circle.
const DEPTH_MAX: usize = 4;

impl Cluster {
    /// How many pods `owner` lacks; `None` if that cannot be told.
    pub fn short(&self, owner: &Owner) -> Option<u32> {
        if &*owner.kind == "Pod" {
            let key = PodKey { namespace: owner.namespace.clone(), name: owner.name.clone() };
            return self.pod(&key).is_some_and(|pod| stands(pod)).then_some(0);
        }
        match self.workload(owner)? {
            Some(workload) => self.short_of(workload),
            None => Some(0),
        }
    }

    /// The workload that `owner` names. `Some(None)` if it is gone, `None` if that cannot be told.
    fn workload(&self, owner: &Owner) -> Option<Option<&Workload>> {
        if owner.kind.contains('.') {
            return self.owners.foreign_owner(owner);
        }
        let kind = OwnerKind::ALL.into_iter().find(|kind| kind.as_str() == &*owner.kind)?;
        let found = self.owners.named(kind, &owner.namespace, &owner.name);
        match found.filter(|workload| workload.uid == owner.uid) {
            Some(workload) => Some(Some(workload)),
            None => self.owners.is_readable(kind).then_some(None),
        }
    }

    /// How many pods `workload` lacks.
    pub(super) fn short_of(&self, workload: &Workload) -> Option<u32> {
        let wanted = if self.is_ending(workload) { 0 } else { self.wanted(workload, 0)? };
        Some(wanted.saturating_sub(self.standing_of(workload, 0)))
    }

    /// Whether `owner` is gone, or about to be.
    pub fn is_owner_gone(&self, owner: &Owner) -> bool {
        matches!(self.workload(owner), Some(None))
            || matches!(self.workload(owner), Some(Some(workload)) if self.is_ending(workload))
    }

    fn is_ending(&self, workload: &Workload) -> bool {
        let namespace = self.catalog.namespaces.named(&workload.namespace);
        workload.is_deleting || namespace.is_some_and(|namespace| namespace.meta.is_deleting)
    }

    fn wanted(&self, workload: &Workload, depth: usize) -> Option<u32> {
        if workload.kind != OwnerKind::CronJob || depth == DEPTH_MAX {
            return workload.wanted;
        }
        let mut sum = 0_u32;
        for job in self.owners.children(workload) {
            sum = sum.saturating_add(self.wanted(job, depth + 1)?);
        }
        Some(sum)
    }

    fn standing_of(&self, workload: &Workload, depth: usize) -> u32 {
        let own = self.standing.of(workload);
        if depth == DEPTH_MAX {
            return own;
        }
        let children = self.owners.children(workload);
        children.map(|child| self.standing_of(child, depth + 1)).fold(own, u32::saturating_add)
    }
}

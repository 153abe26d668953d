//! How many pods an owner misses. Entry point: [`Cluster::missing_replicas`].
//!
//! ```text
//!   missing_replicas(owner) = pods that the top owner wants − its active pods, over all its ReplicaSets
//! ```
//!
//! An owner that is gone or being deleted, or whose namespace is, wants none. A CronJob wants what its Jobs want. For a bare pod
//! the number is unknown while the pod is gone, because only a person knows whether it comes back, and 0 once it is active.

use crate::cluster::Cluster;
use crate::cluster::reservations::active_pods::is_active;
use crate::model::{Owner, OwnerKind, PodKey, Workload};

/// How deep owners are followed. Real ones are not deeper, and references can form a circle.
const DEPTH_MAX: usize = 4;

impl Cluster {
    pub fn missing_replicas(&self, owner: &Owner) -> Option<u32> {
        if &*owner.kind == "Pod" {
            let key = PodKey { namespace: owner.namespace.clone(), name: owner.name.clone() };
            return self.pod(&key).is_some_and(|pod| is_active(pod)).then_some(0);
        }
        match self.workload(owner)? {
            Some(workload) => self.missing_replicas_of(workload),
            None => Some(0),
        }
    }

    /// The workload that `owner` names. `Some(None)` if it is gone, `None` if it is unknown whether it exists.
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

    pub(in crate::cluster) fn missing_replicas_of(&self, workload: &Workload) -> Option<u32> {
        let desired = if self.is_ending(workload) { 0 } else { self.desired_pods(workload, 0)? };
        Some(desired.saturating_sub(self.active_pods_of(workload, 0)))
    }

    pub fn is_owner_gone(&self, owner: &Owner) -> bool {
        matches!(self.workload(owner), Some(None))
            || matches!(self.workload(owner), Some(Some(workload)) if self.is_ending(workload))
    }

    fn is_ending(&self, workload: &Workload) -> bool {
        let namespace = self.catalog.namespaces.named(&workload.namespace);
        workload.is_deleting || namespace.is_some_and(|namespace| namespace.meta.is_deleting)
    }

    fn desired_pods(&self, workload: &Workload, depth: usize) -> Option<u32> {
        if workload.kind != OwnerKind::CronJob || depth == DEPTH_MAX {
            return workload.desired_pods;
        }
        let mut sum = 0_u32;
        for job in self.owners.children(workload) {
            sum = sum.saturating_add(self.desired_pods(job, depth + 1)?);
        }
        Some(sum)
    }

    fn active_pods_of(&self, workload: &Workload, depth: usize) -> u32 {
        let own = self.active_pods.of(workload);
        if depth == DEPTH_MAX {
            return own;
        }
        let children = self.owners.children(workload);
        children.map(|child| self.active_pods_of(child, depth + 1)).fold(own, u32::saturating_add)
    }
}

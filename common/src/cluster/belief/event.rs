//! The events that [`crate::cluster::Cluster::apply`] takes, and the changes that it returns.

use crate::cluster::belief::cluster_change::ClusterChange;
use crate::cluster::belief::foreign_owners::OwnerAnswer;
use crate::model::catalog_object::{CatalogKind, CatalogObject};
use crate::model::ids::{NodeName, PodKey, Text, Uid};
use crate::model::owner::{ForeignClaim, Owner, OwnerKind, Workload};
use crate::model::{Node, Pod, Replica};
use std::sync::Arc;

/// News about the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    Nodes(WatchEvent<Node>),
    Pods(WatchEvent<Pod>),
    /// All changes of nodes up to this resource version were seen, as a bookmark or a list says.
    NodesUpTo(u64),
    /// All changes of pods up to this resource version were seen.
    PodsUpTo(u64),
    Workloads(OwnerKind, WatchEvent<Workload>),
    /// Workloads of this kind cannot be read, at least for now.
    WorkloadsUnreadable(OwnerKind),
    OwnerRead(Box<ForeignClaim>, OwnerAnswer),
    CatalogObjects(CatalogKind, WatchEvent<CatalogObject>),
    /// Objects of this kind cannot be read, at least for now, or are not served. Decisions do not wait for them.
    CatalogKindUnreadable(CatalogKind),
    /// A watch event about replicas of the daemon. Decisions do not wait for a first list of them.
    Replicas(WatchEvent<Replica>),
}

/// One event of the watch of a kind, as in kube-rs.
#[derive(Debug, Clone, PartialEq)]
pub enum WatchEvent<T> {
    Applied(T),
    Deleted(T),
    /// All objects of the kind were listed again. Objects that are not in the list are gone.
    Relisted(Vec<T>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Something that decisions read about an object, or about the reservations of a node.
    Cluster(Arc<ClusterChange>),
    /// A pod waits for a node; it is new, or its owners changed, or it changed itself, of which a [`Change::Cluster`] tells.
    PodWaiting(PodKey),
    /// A pod does not wait for a node: it was bound, changed on its node, or is gone.
    PodNotWaiting(PodKey),
    /// The owners of any pod may have changed. Where it is known which pods, there is a [`Change::PodWaiting`] for each waiting
    /// one instead.
    OwnersChanged,
    /// The owner with this UID is new or gone, wants another number of pods, or has another `reserve/keep`. This alone makes no
    /// waiting pod schedulable.
    OwnerChanged(Uid),
    /// The value of an owner's `reserve/keep`, here shortened, is invalid.
    KeepInvalid(Box<Owner>, Text),
    /// The annotations of a node have other reservations than before.
    ReservationsChanged(NodeName),
    /// Replicas of the daemon were added or removed, or their Leases changed.
    ReplicasChanged,
}

impl From<ClusterChange> for Change {
    fn from(change: ClusterChange) -> Self {
        Self::Cluster(Arc::new(change))
    }
}

impl<T> WatchEvent<T> {
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        match self {
            Self::Applied(object) | Self::Deleted(object) => std::slice::from_ref(object).iter(),
            Self::Relisted(live) => live.iter(),
        }
    }

    /// The event with its objects as `U`; `None` if its one object is not a `U`.
    pub(in crate::cluster) fn narrow<U: TryFrom<T>>(self) -> Option<WatchEvent<U>> {
        match self {
            Self::Applied(object) => U::try_from(object).ok().map(WatchEvent::Applied),
            Self::Deleted(object) => U::try_from(object).ok().map(WatchEvent::Deleted),
            Self::Relisted(live) => Some(WatchEvent::Relisted(
                live.into_iter().filter_map(|object| U::try_from(object).ok()).collect(),
            )),
        }
    }
}

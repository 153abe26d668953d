//! What can be learnt about the cluster, and what learning it can alter.

use super::foreign::OwnerAnswer;
use crate::model::ids::{NodeName, PodKey, Text, Uid};
use crate::model::other::{Other, OtherKind};
use crate::model::owner::{ForeignClaim, Owner, OwnerKind, Workload};
use crate::model::{Node, Pod, Replica};

/// Everything that can be learnt.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// About nodes.
    Nodes(Seen<Node>),
    /// About pods.
    Pods(Seen<Pod>),
    /// Everything about nodes up to this version was seen, whether or not there was anything.
    NodesUpTo(u64),
    /// The same about pods.
    PodsUpTo(u64),
    /// About workloads of one kind.
    Workloads(OwnerKind, Seen<Workload>),
    /// Workloads of this kind cannot be read, at least for now.
    Unreadable(OwnerKind),
    /// What came of reading an owner of a foreign kind.
    OwnerRead(Box<ForeignClaim>, OwnerAnswer),
    /// About objects of another kind.
    Others(OtherKind, Seen<Other>),
    /// Objects of this kind cannot be read, at least for now, or are not served. What there is of them is not known,
    /// and it is not waited for.
    OthersUnreadable(OtherKind),
    /// About replicas of the daemon. Nothing waits for them: without any there is nobody to wait for.
    Replicas(Seen<Replica>),
}

/// One thing seen of a kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen<T> {
    /// An object as it is now.
    Applied(T),
    /// An object as it last was; it is gone.
    Deleted(T),
    /// All objects of the kind. What is not among them is gone.
    Relisted(Vec<T>),
}

/// What an event altered, as far as waiting pods care.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A node is new, or anything about it changed: its amounts, taints, reservations.
    NodeChanged(NodeName),
    /// A node is gone.
    NodeGone(NodeName),
    /// A pod left a node, ended there, or asks for something else there than before.
    RoomFreed(NodeName),
    /// A pod waits to be placed; it is new, or something about it or about its owners changed.
    PodWaiting(PodKey),
    /// A pod no longer waits to be placed.
    PodSettled(PodKey),
    /// Any pods may belong to others than before. Where it is known which, each waiting one is told by itself, as
    /// [`Change::PodWaiting`].
    OwnersChanged,
    /// The owner with this UID is new or gone, wants another number of pods, or has another wish about them. Nothing
    /// that a waiting pod could hope for.
    OwnerChanged(Uid),
    /// The value of an owner's `reserve/keep` makes no sense; this is it, shortened.
    KeepInvalid(Box<Owner>, Text),
    /// Something about objects of this kind changed.
    OthersChanged(OtherKind),
    /// The reservations on a node are others than before.
    ReservationsChanged(NodeName),
    /// Replicas of the daemon came, went, or have seen more.
    ReplicasChanged,
}

impl<T> Seen<T> {
    /// The objects that were seen.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        match self {
            Self::Applied(object) | Self::Deleted(object) => std::slice::from_ref(object).iter(),
            Self::Relisted(live) => live.iter(),
        }
    }

    /// The same, seen of a narrower type; `None` if nothing of that type was seen.
    pub(super) fn narrow<U: TryFrom<T>>(self) -> Option<Seen<U>> {
        match self {
            Self::Applied(object) => U::try_from(object).ok().map(Seen::Applied),
            Self::Deleted(object) => U::try_from(object).ok().map(Seen::Deleted),
            Self::Relisted(live) => {
                Some(Seen::Relisted(live.into_iter().filter_map(|object| U::try_from(object).ok()).collect()))
            }
        }
    }
}

//! What kind of change happened, in the words of kube-scheduler: the resource, and what was done to it.
//!
//! [`ClusterEvent`] is also what a plugin registers for: the changes that may help a pod which it refused.

use crate::model::pod::Pod;
use crate::model::{CatalogKind, Node, Resources};
use std::fmt;
use std::ops::BitOr;

/// The resource of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventResource {
    /// A pod on a node, bound or assumed; or one that is nominated to a node, for pods that it keeps room from.
    AssignedPod,
    /// The waiting pod itself.
    TargetPod,
    /// A pod without a node, another one than the waiting pod.
    UnscheduledPod,
    Node,
    /// An object of the catalog.
    Catalog(CatalogKind),
    /// The reservations of a node, when no object changed: one has expired, or its owner changed. kube-scheduler has no such
    /// resource.
    Reservation,
    /// The owners of any pod may have changed. Every pod is moved, as by kube-scheduler's wildcard events.
    WildCard,
}

/// What was done to the resource; several at once are possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionType(u32);

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterEvent {
    pub resource: EventResource,
    pub actions: ActionType,
}

/// The names of the single actions, in the order of their bits.
const ACTIONS: [&str; 14] = [
    "Add",
    "Delete",
    "UpdateNodeAllocatable",
    "UpdateNodeLabel",
    "UpdateNodeTaint",
    "UpdateNodeCondition",
    "UpdateNodeAnnotation",
    "UpdateNodeDeclaredFeature",
    "UpdatePodLabel",
    "UpdatePodScaleDown",
    "UpdatePodScaleUp",
    "UpdatePodToleration",
    "UpdatePodSchedulingGatesEliminated",
    "Update",
];

impl ActionType {
    /// Nothing that a plugin reads.
    pub const NONE: Self = Self(0);
    pub const ADD: Self = Self(1);
    pub const DELETE: Self = Self(1 << 1);
    pub const UPDATE_NODE_ALLOCATABLE: Self = Self(1 << 2);
    pub const UPDATE_NODE_LABEL: Self = Self(1 << 3);
    /// Also: the node is no longer cordoned.
    pub const UPDATE_NODE_TAINT: Self = Self(1 << 4);
    pub const UPDATE_NODE_CONDITION: Self = Self(1 << 5);
    /// Of the annotations only reservations are read.
    pub const UPDATE_NODE_ANNOTATION: Self = Self(1 << 6);
    pub const UPDATE_NODE_DECLARED_FEATURE: Self = Self(1 << 7);
    pub const UPDATE_POD_LABEL: Self = Self(1 << 8);
    pub const UPDATE_POD_SCALE_DOWN: Self = Self(1 << 9);
    pub const UPDATE_POD_SCALE_UP: Self = Self(1 << 10);
    pub const UPDATE_POD_TOLERATION: Self = Self(1 << 11);
    pub const UPDATE_POD_SCHEDULING_GATES_ELIMINATED: Self = Self(1 << 12);
    const UPDATE_OTHER: Self = Self(1 << 13);
    /// Any update.
    pub const UPDATE: Self = Self((1 << 14) - 4);
    pub const ALL: Self = Self((1 << 14) - 1);

    /// Both sets of actions, in constants.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it is more than an update of something that no plugin reads.
    pub fn is_specific(self) -> bool {
        self.intersects(Self(Self::ALL.0 & !Self::UPDATE_OTHER.0))
    }

    /// Whether the two have an action in common.
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What differs between two versions of a node.
    pub fn of_node(old: &Node, new: &Node) -> Self {
        let is_uncordoned = old.unschedulable && !new.unschedulable;
        [
            (old.allocatable != new.allocatable || old.problem != new.problem, Self::UPDATE_NODE_ALLOCATABLE),
            (old.labels != new.labels, Self::UPDATE_NODE_LABEL),
            (old.taints != new.taints || is_uncordoned, Self::UPDATE_NODE_TAINT),
            (old.is_ready != new.is_ready, Self::UPDATE_NODE_CONDITION),
            (old.reservations != new.reservations, Self::UPDATE_NODE_ANNOTATION),
            (old.features != new.features, Self::UPDATE_NODE_DECLARED_FEATURE),
        ]
        .into_iter()
        .filter_map(|(differs, action)| differs.then_some(action))
        .fold(Self::NONE, BitOr::bitor)
    }

    /// What differs between two versions of a pod.
    pub fn of_pod(old: &Pod, new: &Pod) -> Self {
        let (was, is) = (old.spec.requests.counted(), new.spec.requests.counted());
        let is_more =
            |one: &Resources, other: &Resources| one.iter().any(|(name, amount)| amount > other.get(&name));
        let is_ungated = !old.spec.gates.is_empty() && new.spec.gates.is_empty();
        let all = [
            (old.labels != new.labels, Self::UPDATE_POD_LABEL),
            (is_more(was, is), Self::UPDATE_POD_SCALE_DOWN),
            (is_more(is, was), Self::UPDATE_POD_SCALE_UP),
            (old.spec.tolerations.len() != new.spec.tolerations.len(), Self::UPDATE_POD_TOLERATION),
            (is_ungated, Self::UPDATE_POD_SCHEDULING_GATES_ELIMINATED),
        ];
        let all = all.into_iter().filter_map(|(differs, action)| differs.then_some(action));
        match all.fold(Self::NONE, BitOr::bitor) {
            Self::NONE => Self::UPDATE_OTHER,
            actions => actions,
        }
    }
}

impl BitOr for ActionType {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.or(other)
    }
}

impl ClusterEvent {
    pub const fn new(resource: EventResource, actions: ActionType) -> Self {
        Self { resource, actions }
    }

    /// An event about objects of this kind of the catalog.
    pub const fn catalog(kind: CatalogKind, actions: ActionType) -> Self {
        Self::new(EventResource::Catalog(kind), actions)
    }

    /// Whether a plugin that registered for this event is asked about `event`.
    pub fn covers(self, event: ClusterEvent) -> bool {
        self.resource == event.resource && self.actions.intersects(event.actions)
    }
}

/// kube-scheduler's label of the event, as in the metric `scheduler_queue_incoming_pods_total`. Of several actions the first is
/// named.
impl fmt::Display for ClusterEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = match self.actions {
            ActionType::UPDATE => ActionType::UPDATE_OTHER,
            actions => actions,
        };
        let action = ACTIONS.get(first.0.trailing_zeros() as usize).unwrap_or(&"Update");
        match self.resource {
            EventResource::Catalog(kind) if kind.group().is_empty() => write!(f, "{kind}{action}"),
            EventResource::Catalog(kind) => write!(f, "{}/{kind}{action}", kind.group()),
            resource => write!(f, "{resource:?}{action}"),
        }
    }
}

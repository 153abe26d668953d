//! One change of the cluster with the object before and after, which the hints of plugins judge.

use crate::cluster::belief::cluster_event::{ActionType, ClusterEvent, EventResource};
use crate::model::ids::{NodeName, PodKey};
use crate::model::{CatalogKind, CatalogObject, Node, Pod};
use std::sync::Arc;

/// A change, with the object before and after. An object that was not there before is `None`, as is one that is gone.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterChange {
    pub event: ClusterEvent,
    pub old: Option<ChangedObject>,
    pub new: Option<ChangedObject>,
}

/// The object of a change.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangedObject {
    Pod(Arc<Pod>),
    Node(Arc<Node>),
    Catalog(CatalogObject),
    /// The reservations of this node.
    Reservations(NodeName),
}

impl ClusterChange {
    /// A change without objects: of many at once, or of none.
    pub fn of_any(resource: EventResource, actions: ActionType) -> Self {
        Self { event: ClusterEvent::new(resource, actions), old: None, new: None }
    }

    /// The reservations of this node keep another amount than before, although the node did not change.
    pub fn of_reservations(node: NodeName) -> Self {
        let new = Some(ChangedObject::Reservations(node));
        Self { new, ..Self::of_any(EventResource::Reservation, ActionType::UPDATE) }
    }

    /// A pod came to a node, changed there, or left it.
    pub fn of_assigned(old: Option<Arc<Pod>>, new: Option<Arc<Pod>>) -> Self {
        Self::of_pods(EventResource::AssignedPod, old, new)
    }

    pub fn of_pods(resource: EventResource, old: Option<Arc<Pod>>, new: Option<Arc<Pod>>) -> Self {
        let actions = actions(&old, &new, ActionType::of_pod);
        let event = ClusterEvent::new(resource, actions);
        Self { event, old: old.map(ChangedObject::Pod), new: new.map(ChangedObject::Pod) }
    }

    pub fn of_node(old: Option<Arc<Node>>, new: Option<Arc<Node>>) -> Self {
        let event = ClusterEvent::new(EventResource::Node, actions(&old, &new, ActionType::of_node));
        Self { event, old: old.map(ChangedObject::Node), new: new.map(ChangedObject::Node) }
    }

    pub fn of_catalog(kind: CatalogKind, old: Option<CatalogObject>, new: Option<CatalogObject>) -> Self {
        let actions = match (&old, &new) {
            (None, None) => ActionType::ALL,
            (None, Some(_)) => ActionType::ADD,
            (Some(_), None) => ActionType::DELETE,
            (Some(_), Some(_)) => ActionType::UPDATE,
        };
        let event = ClusterEvent::catalog(kind, actions);
        Self { event, old: old.map(ChangedObject::Catalog), new: new.map(ChangedObject::Catalog) }
    }

    /// The pod before and after, of a change of a pod.
    pub fn pods(&self) -> (Option<&Arc<Pod>>, Option<&Arc<Pod>>) {
        fn pod(object: &ChangedObject) -> Option<&Arc<Pod>> {
            if let ChangedObject::Pod(pod) = object { Some(pod) } else { None }
        }
        (self.old.as_ref().and_then(pod), self.new.as_ref().and_then(pod))
    }

    /// The node before and after, of a change of a node.
    pub fn nodes(&self) -> (Option<&Node>, Option<&Node>) {
        fn node(object: &ChangedObject) -> Option<&Node> {
            if let ChangedObject::Node(node) = object { Some(node) } else { None }
        }
        (self.old.as_ref().and_then(node), self.new.as_ref().and_then(node))
    }

    /// The object of the catalog before and after, of a change of a `T`.
    pub fn catalog_objects<'c, T>(&'c self) -> (Option<&'c T>, Option<&'c T>)
    where
        &'c T: TryFrom<&'c CatalogObject>,
    {
        fn object<'c, T>(object: &'c ChangedObject) -> Option<&'c T>
        where
            &'c T: TryFrom<&'c CatalogObject>,
        {
            if let ChangedObject::Catalog(object) = object { object.try_into().ok() } else { None }
        }
        (self.old.as_ref().and_then(object), self.new.as_ref().and_then(object))
    }

    /// The node whose room or reservations changed: the node of the pod, the node that it was nominated to, or the node itself.
    pub fn node_name(&self) -> Option<&NodeName> {
        match self.new.as_ref().or(self.old.as_ref())? {
            ChangedObject::Pod(pod) => pod.node.as_ref().or(pod.nominated_node.as_deref()),
            ChangedObject::Node(node) => Some(&node.name),
            ChangedObject::Reservations(node) => Some(node),
            ChangedObject::Catalog(_) => None,
        }
    }

    /// The pod that changed.
    pub fn pod_key(&self) -> Option<&PodKey> {
        let (old, new) = self.pods();
        new.or(old).map(|pod| &pod.key)
    }

    /// Whether the change concerns the pod under `key` by its kind: news of a waiting pod is for itself, and news of what became of a
    /// pod on a node is for others, so that a pod does not wake itself.
    pub fn is_for(&self, key: &PodKey) -> bool {
        match self.event.resource {
            EventResource::TargetPod => self.pod_key() == Some(key),
            EventResource::AssignedPod | EventResource::UnscheduledPod => self.pod_key() != Some(key),
            _ => true,
        }
    }

    /// Whether it is about a nominated pod that yields to `pod`, and so kept no room from it.
    pub fn is_kept_below(&self, pod: &Pod) -> bool {
        let (old, new) = self.pods();
        let other = new.or(old).filter(|other| other.node.is_none() && other.nominated_node.is_some());
        self.event.resource == EventResource::AssignedPod
            && other.is_some_and(|other| other.spec.priority < pod.spec.priority)
    }
}

fn actions<T>(old: &Option<Arc<T>>, new: &Option<Arc<T>>, of: fn(&T, &T) -> ActionType) -> ActionType {
    match (old, new) {
        (Some(old), Some(new)) => of(old, new),
        (None, _) => ActionType::ADD,
        (Some(_), None) => ActionType::DELETE,
    }
}

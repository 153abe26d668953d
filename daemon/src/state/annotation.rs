//! The effects of the controller: writes of reservations into annotations of nodes, and events about any object.

use common::api::names;
use common::model::{
    ForeignKind, Namespace, NodeName, Owner, OwnerKind, Pod, PodKey, Reservation, ReservationId, Text, Uid,
};
use jiff::Timestamp;
use std::sync::Arc;

/// A change of the annotations of one node, in one write.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationWrite {
    pub node: NodeName,
    /// The node's UID; a precondition of the write.
    pub uid: Uid,
    pub change: ReservationChange,
}

/// A change names what it was decided on, the request or the whole reservation as it was judged: another reservation under the same
/// key, or one that was changed meanwhile, is left alone.
#[derive(Debug, Clone, PartialEq)]
pub enum ReservationChange {
    Reserve(Box<Reservation>),
    /// Let it expire later.
    Extend {
        id: ReservationId,
        request: Text,
        expires: Timestamp,
    },
    /// Let it expire earlier.
    Shorten {
        judged: Arc<Reservation>,
        expires: Timestamp,
    },
    /// Remove it. The reason is one word, for logs and metrics.
    Release {
        judged: Arc<Reservation>,
        why: &'static str,
    },
}

/// The reason for the release of an expired reservation.
pub const EXPIRED: &str = "expired";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnnotationOutcome {
    /// The node is as the change wants it, by this write or already before it.
    Done { version: u64 },
    /// The write was certainly not done.
    Refused { why: String, refusal: WriteRefusal },
    /// There was no answer: the write may have been done.
    Unknown { why: String },
}

/// Why a write was refused, and so when it may be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteRefusal {
    /// Never: the node or the reservation is gone, or is another one.
    Final,
    /// After some seconds.
    Later,
    /// Very soon: an admission policy refused it, such as the fence while it does not know yet who leads. Other nodes are not
    /// concerned.
    Denied,
    /// When an administrator lets the daemon write reservations (RBAC). This concerns every node.
    NotAllowed,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ObjectEvent {
    pub about: ObjectRef,
    pub related: Option<ObjectRef>,
    /// Whether its type is `Warning`, not `Normal`.
    pub is_warning: bool,
    pub reason: &'static str,
    pub note: String,
    /// The name after `#` in `reserve/keep`, if the pod has one: the event is the answer for whoever wrote it.
    pub answers: Option<Text>,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRef {
    pub api_version: Text,
    pub kind: Text,
    /// The namespace; empty for a kind that has none.
    pub namespace: Text,
    pub name: Text,
    pub uid: Uid,
}

impl AnnotationWrite {
    pub fn id(&self) -> &ReservationId {
        match &self.change {
            ReservationChange::Reserve(reservation) => &reservation.id,
            ReservationChange::Extend { id, .. } => id,
            ReservationChange::Shorten { judged, .. } | ReservationChange::Release { judged, .. } => {
                &judged.id
            }
        }
    }
}

impl ObjectEvent {
    /// An event of type `Warning`; the caller sets its time.
    pub fn warning(about: ObjectRef, reason: &'static str, note: String) -> Self {
        let at = Timestamp::UNIX_EPOCH;
        Self { about, related: None, is_warning: true, reason, note, answers: None, at }
    }

    /// An event of type `Normal`; the caller sets its time.
    pub fn normal(about: ObjectRef, reason: &'static str, note: String) -> Self {
        Self { is_warning: false, ..Self::warning(about, reason, note) }
    }
}

impl ObjectRef {
    pub fn node(name: &NodeName, uid: &Uid) -> Self {
        Self::core("Node", "", name.as_str(), uid)
    }

    pub fn namespace(namespace: &Namespace) -> Self {
        Self::core("Namespace", "", &namespace.meta.name, &namespace.meta.uid)
    }

    pub fn pod(pod: &PodKey, uid: &Uid) -> Self {
        Self::core("Pod", &pod.namespace, &pod.name, uid)
    }

    fn core(kind: &str, namespace: &str, name: &str, uid: &Uid) -> Self {
        Self {
            api_version: "v1".into(),
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
            uid: uid.clone(),
        }
    }

    /// The namespace of events about it: its own; for a Namespace that namespace itself; for other cluster-scoped objects the one
    /// in which kubectl looks for them.
    pub fn events_namespace(&self) -> &str {
        match (&*self.namespace, &*self.kind) {
            ("", "Namespace") => &self.name,
            ("", _) => names::EVENTS_NAMESPACE,
            (namespace, _) => namespace,
        }
    }
}

impl From<&Pod> for ObjectRef {
    fn from(pod: &Pod) -> Self {
        Self::pod(&pod.key, &pod.uid)
    }
}

impl From<&Owner> for ObjectRef {
    fn from(owner: &Owner) -> Self {
        if let Some(foreign) = ForeignKind::parse(&owner.kind) {
            let object = Self::core(&foreign.kind, &owner.namespace, &owner.name, &owner.uid);
            return Self { api_version: foreign.api_version, ..object };
        }
        let kind = OwnerKind::ALL.into_iter().find(|kind| kind.as_str() == &*owner.kind);
        let api_version = match kind.map_or("", OwnerKind::group) {
            "" => "v1".into(),
            group => format!("{group}/v1").into(),
        };
        Self { api_version, ..Self::core(&owner.kind, &owner.namespace, &owner.name, &owner.uid) }
    }
}

//! What the controller wishes for: writes to nodes, and words about anything.

use common::api::names;
use common::model::ids::Text;
use common::model::owner::{ForeignKind, Owner, OwnerKind};
use common::model::{Namespace, NodeName, Pod, Reservation, ReservationId, Uid};
use jiff::Timestamp;
use std::sync::Arc;

/// A change of the annotations of one node, in one write.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// The node.
    pub node: NodeName,
    /// Which node of that name; a precondition of the write.
    pub uid: Uid,
    /// What is to change.
    pub change: Rewrite,
}

/// What is to become of a reservation.
#[derive(Debug, Clone, PartialEq)]
pub enum Rewrite {
    /// It is made.
    Reserve(Box<Reservation>),
    /// It lives longer.
    Extend {
        /// Which one.
        id: ReservationId,
        /// The request that made it: another one under the same key is left alone.
        request: Text,
        /// Until when it lives.
        expires: Timestamp,
    },
    /// It ends earlier.
    Shorten {
        /// The whole reservation that was judged: one that is different by now is left alone.
        judged: Arc<Reservation>,
        /// Until when it lives.
        expires: Timestamp,
    },
    /// It is removed.
    Release {
        /// The whole reservation that was judged: one that was extended or made anew meanwhile is left alone.
        judged: Arc<Reservation>,
        /// Why, in one word.
        why: &'static str,
    },
}

/// Why a reservation is released whose time is over.
pub const EXPIRED: &str = "expired";

/// What has become of a change of annotations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Annotated {
    /// It is so.
    Done {
        /// The version of the node that says so.
        version: u64,
    },
    /// It is not so, for certain.
    Refused {
        /// Why.
        why: String,
        /// When the same may be tried again.
        refusal: Refusal,
    },
    /// Nobody knows.
    Unknown {
        /// Why.
        why: String,
    },
}

/// When a write that was refused may be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Never: what was to be changed is no longer there, or is another one.
    Final,
    /// After a pause of seconds.
    Later,
    /// Very soon: an admission policy refused it, such as the fence that has yet to hear who leads. Other nodes are not concerned.
    Denied,
    /// When somebody gives the daemon the right to write reservations. This concerns every node.
    NotAllowed,
}

/// An event about anything.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectEvent {
    /// What it is about.
    pub about: ObjectRef,
    /// What else it is about.
    pub related: Option<ObjectRef>,
    /// Whether somebody should look into it.
    pub is_warning: bool,
    /// In one word.
    pub reason: &'static str,
    /// In a sentence.
    pub note: String,
    /// Whose wish it answers, if somebody waits for that.
    pub answers: Option<Text>,
    /// When.
    pub at: Timestamp,
}

/// An object, as events refer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRef {
    /// As in `apiVersion:`.
    pub api_version: Text,
    /// As in `kind:`.
    pub kind: Text,
    /// The namespace; empty for a kind that has none.
    pub namespace: Text,
    /// The name.
    pub name: Text,
    /// The UID.
    pub uid: Uid,
}

impl Annotation {
    /// The reservation that it is about.
    pub fn id(&self) -> &ReservationId {
        match &self.change {
            Rewrite::Reserve(reservation) => &reservation.id,
            Rewrite::Extend { id, .. } => id,
            Rewrite::Shorten { judged, .. } | Rewrite::Release { judged, .. } => &judged.id,
        }
    }
}

impl ObjectEvent {
    /// Something that somebody should look into.
    pub fn warning(about: ObjectRef, reason: &'static str, note: String) -> Self {
        let at = Timestamp::UNIX_EPOCH;
        Self { about, related: None, is_warning: true, reason, note, answers: None, at }
    }

    /// Something that is as it should be.
    pub fn normal(about: ObjectRef, reason: &'static str, note: String) -> Self {
        Self { is_warning: false, ..Self::warning(about, reason, note) }
    }
}

impl ObjectRef {
    /// A node.
    pub fn node(name: &NodeName, uid: &Uid) -> Self {
        Self::core("Node", "", name.as_str(), uid)
    }

    /// A namespace.
    pub fn namespace(namespace: &Namespace) -> Self {
        Self::core("Namespace", "", &namespace.meta.name, &namespace.meta.uid)
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

    /// Where events about it are kept: in its namespace; those of a namespace in itself, and those of other things
    /// without one where kubectl looks for them.
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
        Self::core("Pod", &pod.key.namespace, &pod.key.name, &pod.uid)
    }
}

impl From<&Owner> for ObjectRef {
    fn from(owner: &Owner) -> Self {
        if let Some(foreign) = ForeignKind::parse(&owner.kind) {
            let thing = Self::core(&foreign.kind, &owner.namespace, &owner.name, &owner.uid);
            return Self { api_version: foreign.api_version, ..thing };
        }
        let kind = OwnerKind::ALL.into_iter().find(|kind| kind.as_str() == &*owner.kind);
        let api_version = match kind.map_or("", OwnerKind::group) {
            "" => "v1".into(),
            group => format!("{group}/v1").into(),
        };
        Self { api_version, ..Self::core(&owner.kind, &owner.namespace, &owner.name, &owner.uid) }
    }
}

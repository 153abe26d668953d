//! A filter's verdict on a node as a value: which plugin rejects, and the reason with its numbers.

use super::{BlockerClass, PluginError, RefusalCode, RefusalKind, StaticReason};
use crate::model::ids::Text;
use crate::model::reservation::ReservationId;
use crate::model::taint::Taint;
use crate::model::{HostPort, ResourceName};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The pod fits, as far as this filter checks.
    Fits,
    /// The pod does not fit, for these reasons; never empty.
    Rejects(Rejections),
    /// The pod does not fit, for a reason with a constant text. It allocates nothing: a filter that rejects very many nodes stays
    /// cheap.
    RejectsStatic {
        plugin: &'static str,
        reason: &'static StaticReason,
    },
    Fails(PluginError),
}

/// The reasons why a pod does not fit a node. Most nodes have exactly one.
pub type Rejections = SmallVec<[Rejection; 1]>;

/// One reason why a pod does not fit a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    pub plugin: &'static str,
    pub reason: Reason,
}

/// Why a pod does not fit a node. `Display` writes kube-scheduler's text, without taint keys and owners, so that none of them
/// reaches an event. The variants hold the details, for callers that may read nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    OtherNode,
    Unschedulable,
    Taint(Taint),
    TooManyPods(Numbers),
    /// The node has too little of a resource left.
    Insufficient {
        /// The resource of which there is too little.
        resource: ResourceName,
        numbers: Numbers,
        /// The reservations without which the pod would fit; empty if it would not fit without them either.
        blocked_by: Box<[BlockingReservation]>,
    },
    /// Host ports that the pod requests are not free.
    Ports {
        ports: Box<[HostPort]>,
        /// The reservations that keep these ports; empty if pods use them.
        blocked_by: Box<[ReservationId]>,
    },
    Gates(Box<[Text]>),
    /// The node's allocatable amounts cannot be parsed.
    Unreadable(Box<str>),
    ExcludedByPreFilter(Box<[&'static str]>),
    /// No node is allowed by all of these PreFilter plugins.
    NoNodeAllowed(Box<[&'static str]>),
    /// A reason of one plugin. The plugin says what it is about, and the text is for people only.
    Text {
        kind: RefusalKind,
        text: Cow<'static, str>,
    },
}

/// The amounts of one resource on a node, in the integer unit of the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    pub asks: i64,
    pub allocatable: i64,
    /// The sum of the requests of the pods on the node.
    pub used: i64,
    /// What reservations keep on the node for other pods.
    pub reserved: i64,
}

/// A reservation that keeps room which the pod would need.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockingReservation {
    pub reservation: ReservationId,
    /// How much it keeps of the resource that is short.
    pub amount: i64,
}

impl Verdict {
    /// `Rejects`, or `Fits` if there are no rejections.
    pub fn from_rejections(rejections: Rejections) -> Self {
        if rejections.is_empty() { Self::Fits } else { Self::Rejects(rejections) }
    }

    pub fn rejects(plugin: &'static str, reason: Reason) -> Self {
        Self::Rejects(smallvec![Rejection::new(plugin, reason)])
    }
}

impl Reason {
    /// A text of a plugin that has no codes of its own; preemption could help.
    pub fn message(text: impl Into<Cow<'static, str>>) -> Self {
        RefusalKind::resolvable(RefusalCode::Plugin, BlockerClass::Spec).with(text)
    }

    /// A text of a plugin that has no codes of its own; preemption cannot help.
    pub fn unresolvable_message(text: impl Into<Cow<'static, str>>) -> Self {
        RefusalKind::unresolvable(RefusalCode::Plugin, BlockerClass::Spec).with(text)
    }

    /// Whether both reasons display the same text; only their details may differ.
    pub fn has_same_text(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Insufficient { resource, .. }, Self::Insufficient { resource: other, .. }) => {
                resource == other
            }
            (Self::Text { text, .. }, Self::Text { text: other, .. }) => text == other,
            (Self::Gates(gates), Self::Gates(other)) => gates == other,
            (Self::ExcludedByPreFilter(plugins), Self::ExcludedByPreFilter(other)) => plugins == other,
            (Self::NoNodeAllowed(plugins), Self::NoNodeAllowed(other)) => plugins == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Whether the pod would not fit even if all other pods left the node, so that preemption does not help.
    pub fn is_unresolvable(&self) -> bool {
        match self {
            Self::OtherNode | Self::Unschedulable | Self::Taint(_) | Self::Unreadable(_) => true,
            Self::Gates(_) | Self::ExcludedByPreFilter(_) | Self::NoNodeAllowed(_) => true,
            Self::TooManyPods(_) | Self::Ports { .. } => false,
            Self::Text { kind, .. } => kind.is_unresolvable,
            Self::Insufficient { numbers, .. } => numbers.asks > numbers.allocatable,
        }
    }
}

impl Numbers {
    /// What is free for the pod; negative when pods and reservations have more than is allocatable.
    pub fn free(&self) -> i64 {
        self.allocatable.saturating_sub(self.used).saturating_sub(self.reserved)
    }

    /// How much the pod requests beyond what is free; 0 if it fits.
    pub fn short(&self) -> i64 {
        self.asks.saturating_sub(self.free()).max(0)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherNode => f.write_str("node(s) didn't match the requested node name"),
            Self::Unschedulable => f.write_str("node(s) were unschedulable"),
            Self::Taint(_) => f.write_str("node(s) had untolerated taint(s)"),
            Self::TooManyPods(_) => f.write_str("Too many pods"),
            Self::Insufficient { resource, .. } => write!(f, "Insufficient {resource}"),
            Self::Ports { .. } => f.write_str("node(s) didn't have free ports for the requested pod ports"),
            Self::Gates(gates) => write!(f, "waiting for scheduling gates: [{}]", gates.join(" ")),
            Self::Unreadable(_) => f.write_str("node(s) had amounts that cannot be read"),
            Self::ExcludedByPreFilter(plugins) => {
                write!(f, "node(s) didn't satisfy plugin(s) [{}]", plugins.join(" "))
            }
            Self::NoNodeAllowed(plugins) if plugins.len() == 1 => {
                write!(f, "node(s) didn't satisfy plugin {}", plugins.join(" "))
            }
            Self::NoNodeAllowed(plugins) => {
                write!(f, "node(s) didn't satisfy plugin(s) [{}] simultaneously", plugins.join(" "))
            }
            Self::Text { text, .. } => f.write_str(text),
        }
    }
}

//! A refusal as a value: who refuses, why, with the numbers, and what could cure it.

use crate::model::ids::Text;
use crate::model::reservation::ReservationId;
use crate::model::taint::Taint;
use crate::model::{HostPort, ResourceName};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::fmt;

/// A filter's answer for one node.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The pod could run there, as far as this filter knows.
    Fits,
    /// It could not, for these reasons; never empty.
    Rejects(Rejections),
    /// It could not, for a reason that is always told in the same words. Said of very many nodes, most of which nobody
    /// asks why, it costs next to nothing.
    Says(Phrase),
    /// It cannot be said: something is wrong, and the pod is not placed.
    Fails(Box<str>),
}

/// A refusal in set words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phrase {
    /// The plugin that says so.
    pub plugin: &'static str,
    /// In these words.
    pub words: &'static str,
    /// Whether preempting pods could never help.
    pub unresolvable: bool,
    /// What could.
    pub cure: Cure,
}

/// Reasons why a pod cannot run on a node. Mostly there is one, for each of many nodes.
pub type Rejections = SmallVec<[Rejection; 1]>;

/// One reason why a pod cannot run on a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    /// The plugin that says so.
    pub plugin: &'static str,
    /// Why.
    pub reason: Reason,
    /// What could change it.
    pub cure: Cure,
}

/// Why a pod cannot run on a node. Displays as upstream words it, so that no taint key and no owner reaches an
/// event; whoever may read nodes finds the particulars in the variant.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The pod names another node.
    OtherNode,
    /// The node is cordoned.
    Unschedulable,
    /// The node has a taint that the pod does not tolerate.
    Taint(Taint),
    /// The node has as many pods as it may have.
    TooManyPods(Numbers),
    /// The node has too little of something left.
    Insufficient {
        /// Of what.
        resource: ResourceName,
        /// How much it is about.
        numbers: Numbers,
        /// For whom some of it is kept, when that is what is in the way.
        kept: Box<[Keeper]>,
    },
    /// Ports of the node that the pod wants are not free.
    Ports {
        /// Which ones.
        ports: Box<[HostPort]>,
        /// The reservations that keep them, when those are what is in the way.
        kept: Box<[ReservationId]>,
    },
    /// The pod waits for whoever put these gates there.
    Gates(Box<[Text]>),
    /// The node's amounts cannot be read.
    Unreadable(Box<str>),
    /// The node was left out before it was looked at, by these plugins.
    LeftOut(Box<[&'static str]>),
    /// These plugins leave no node that all of them allow.
    NoneLeft(Box<[&'static str]>),
    /// The words of one plugin that has nothing more to say about it.
    Said {
        /// In which words.
        words: Cow<'static, str>,
        /// Whether preempting pods could never help.
        unresolvable: bool,
        /// What could.
        cure: Cure,
    },
}

/// The arithmetic of a refusal, in the resource's integer unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// What the pod asks for.
    pub asks: i64,
    /// What the node has for pods.
    pub allocatable: i64,
    /// What pods on the node have asked for.
    pub used: i64,
    /// What is kept there for others.
    pub reserved: i64,
}

/// A reservation that stands in the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Keeper {
    /// Which one.
    pub reservation: ReservationId,
    /// How much it keeps of the resource in question.
    pub amount: i64,
}

/// What could turn a refusal into a yes; the queue waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cure {
    /// Room on the node: a pod leaves, a reservation ends, the node grows.
    Room,
    /// The node changes.
    Node,
    /// An owner that the pod claims becomes known.
    Owner,
    /// Other pods come, leave or change, anywhere.
    Pods,
    /// A volume, a claim, a storage class or what drivers say changes.
    Storage,
    /// The pod itself changes.
    Pod,
}

impl Verdict {
    /// A refusal, if there are any reasons for one.
    pub fn from_rejections(rejections: Rejections) -> Self {
        if rejections.is_empty() { Self::Fits } else { Self::Rejects(rejections) }
    }

    /// A refusal for one reason.
    pub fn rejects(plugin: &'static str, reason: Reason) -> Self {
        Self::Rejects(smallvec![Rejection::new(plugin, reason)])
    }
}

impl From<Phrase> for Rejection {
    fn from(phrase: Phrase) -> Self {
        let Phrase { plugin, words, unresolvable, cure } = phrase;
        Self { plugin, reason: Reason::Said { words: words.into(), unresolvable, cure }, cure }
    }
}

impl Reason {
    /// Words that say it all; preempting pods could help.
    pub fn said(words: impl Into<Cow<'static, str>>, cure: Cure) -> Self {
        Self::Said { words: words.into(), unresolvable: false, cure }
    }

    /// Words that say it all; preempting pods could never help.
    pub fn said_for_good(words: impl Into<Cow<'static, str>>, cure: Cure) -> Self {
        Self::Said { words: words.into(), unresolvable: true, cure }
    }

    /// Whether it is worded like `other`, which nothing but the particulars tells apart.
    pub fn reads_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Insufficient { resource, .. }, Self::Insufficient { resource: other, .. }) => {
                resource == other
            }
            (Self::Said { words, .. }, Self::Said { words: other, .. }) => words == other,
            (Self::Gates(gates), Self::Gates(other)) => gates == other,
            (Self::LeftOut(plugins), Self::LeftOut(other)) => plugins == other,
            (Self::NoneLeft(plugins), Self::NoneLeft(other)) => plugins == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// What could change it.
    pub fn cure(&self) -> Cure {
        match self {
            Self::TooManyPods(_) | Self::Insufficient { .. } | Self::Ports { .. } => Cure::Room,
            Self::Gates(_) => Cure::Pod,
            Self::Said { cure, .. } => *cure,
            _ => Cure::Node,
        }
    }

    /// Whether the pod would be kept off the node even if all others left it, so that preempting them is no use.
    pub fn is_unresolvable(&self) -> bool {
        match self {
            Self::OtherNode | Self::Unschedulable | Self::Taint(_) | Self::Unreadable(_) => true,
            Self::Gates(_) | Self::LeftOut(_) | Self::NoneLeft(_) => true,
            Self::TooManyPods(_) | Self::Ports { .. } => false,
            Self::Said { unresolvable, .. } => *unresolvable,
            Self::Insufficient { numbers, .. } => numbers.asks > numbers.allocatable,
        }
    }
}

impl Numbers {
    /// What is left for the pod; negative when more is promised than there is.
    pub fn free(&self) -> i64 {
        self.allocatable.saturating_sub(self.used).saturating_sub(self.reserved)
    }

    /// What is missing.
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
            Self::LeftOut(plugins) => write!(f, "node(s) didn't satisfy plugin(s) [{}]", plugins.join(" ")),
            Self::NoneLeft(plugins) if plugins.len() == 1 => {
                write!(f, "node(s) didn't satisfy plugin {}", plugins.join(" "))
            }
            Self::NoneLeft(plugins) => {
                write!(f, "node(s) didn't satisfy plugin(s) [{}] simultaneously", plugins.join(" "))
            }
            Self::Said { words, .. } => f.write_str(words),
        }
    }
}

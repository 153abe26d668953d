//! What a refusal is about, as values: a stable code, and the class by which nodes are ranked. The plugin that refuses gives them,
//! so that nobody has to find them out from a text.

use super::Reason;
use crate::model::taint::Taint;
use std::borrow::Cow;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockerClass {
    /// The pod requests more than the node's allocatable amount.
    Never,
    /// The pod's spec and the node do not match: selector, taint, port.
    Spec,
    /// The node takes no pods now: cordoned, not ready, under pressure.
    State,
    Room,
    /// Pods that must not be near are near, or pods that must be near are not.
    Placement,
    /// The pod's volumes cannot be used there.
    Storage,
    /// Reservations hold the room for other pods.
    Hold,
}

/// What a refusal is about. The names of the variants are the words that programs see (`kubectl reserve explain -o json`), so a
/// variant is never renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefusalCode {
    OtherNode,
    Cordoned,
    NotReady,
    /// The node's kubelet does not answer.
    Unreachable,
    /// The node has too little memory left for what runs there.
    MemoryPressure,
    /// The node has too little disk left for what runs there.
    DiskPressure,
    /// The node has too few process ids left for what runs there.
    PidPressure,
    /// The node's network is not set up.
    NetworkUnavailable,
    /// The cloud provider has not set the node up yet.
    Uninitialized,
    /// A taint that is not of Kubernetes itself.
    Taint,
    TooManyPods,
    /// Too little of a resource. Programs see the resource behind the word: `InsufficientCpu`.
    Insufficient,
    /// Reservations keep the resource for other pods. Programs see the resource behind the word: `ReservedCpu`.
    Reserved,
    PortInUse,
    PortReserved,
    /// The node's amounts cannot be parsed.
    Unreadable,
    Gated,
    LeftOut,
    /// The node affinity that the scheduler's configuration adds.
    SchedulerAffinity,
    NodeAffinity,
    /// A label that the scheduler's configuration requires.
    NodeLabel,
    /// A label that the scheduler's configuration forbids.
    LabelGate,
    /// The kubelet lacks a feature that the pod uses.
    NodeFeatures,
    /// The node has no label with the topology key of a spread constraint.
    SpreadLabel,
    Spread,
    ExistingAntiAffinity,
    AntiAffinity,
    Affinity,
    VolumeLimit,
    /// The volumes cannot be attached, most often for want of a driver.
    VolumeDriver,
    /// Another pod uses a claim with ReadWriteOncePod.
    ClaimInUse,
    DiskInUse,
    VolumeZone,
    /// The volume's node affinity.
    VolumeElsewhere,
    NoVolume,
    /// Too little storage to provision a volume.
    StorageFull,
    VolumeGone,
    Refused,
    /// A plugin without a code of its own. Programs see the name of the plugin.
    Plugin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalKind {
    pub code: RefusalCode,
    pub class: BlockerClass,
    /// true: preemption cannot help.
    pub is_unresolvable: bool,
}

/// A reason with a constant text. A plugin declares a `const` for each that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticReason {
    pub kind: RefusalKind,
    /// The text of kube-scheduler.
    pub text: &'static str,
}

impl BlockerClass {
    /// The class as a stable word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Spec => "spec",
            Self::State => "state",
            Self::Room => "room",
            Self::Placement => "placement",
            Self::Storage => "storage",
            Self::Hold => "hold",
        }
    }
}

impl RefusalCode {
    /// The code for a taint: Kubernetes itself sets some, for conditions of the node.
    pub fn of_taint(taint: &Taint) -> Self {
        match &*taint.key {
            "node.kubernetes.io/not-ready" => Self::NotReady,
            "node.kubernetes.io/unreachable" => Self::Unreachable,
            "node.kubernetes.io/memory-pressure" => Self::MemoryPressure,
            "node.kubernetes.io/disk-pressure" => Self::DiskPressure,
            "node.kubernetes.io/pid-pressure" => Self::PidPressure,
            "node.kubernetes.io/network-unavailable" => Self::NetworkUnavailable,
            "node.kubernetes.io/unschedulable" => Self::Cordoned,
            "node.cloudprovider.kubernetes.io/uninitialized" => Self::Uninitialized,
            _ => Self::Taint,
        }
    }
}

impl fmt::Display for RefusalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl RefusalKind {
    /// A refusal that preemption could help.
    pub const fn resolvable(code: RefusalCode, class: BlockerClass) -> Self {
        Self { code, class, is_unresolvable: false }
    }

    /// A refusal that preemption cannot help.
    pub const fn unresolvable(code: RefusalCode, class: BlockerClass) -> Self {
        Self { code, class, is_unresolvable: true }
    }

    pub const fn with_text(self, text: &'static str) -> StaticReason {
        StaticReason { kind: self, text }
    }

    /// A reason of this kind whose text has particulars of the pod or the node.
    pub fn with(self, text: impl Into<Cow<'static, str>>) -> Reason {
        Reason::Text { kind: self, text: text.into() }
    }
}

impl From<StaticReason> for Reason {
    fn from(StaticReason { kind, text }: StaticReason) -> Self {
        kind.with(text)
    }
}

impl Reason {
    pub fn code(&self) -> RefusalCode {
        match self {
            Self::OtherNode => RefusalCode::OtherNode,
            Self::Unschedulable => RefusalCode::Cordoned,
            Self::Taint(taint) => RefusalCode::of_taint(taint),
            Self::TooManyPods(_) => RefusalCode::TooManyPods,
            Self::Insufficient { blocked_by, .. } if blocked_by.is_empty() => RefusalCode::Insufficient,
            Self::Insufficient { .. } => RefusalCode::Reserved,
            Self::Ports { blocked_by, .. } if blocked_by.is_empty() => RefusalCode::PortInUse,
            Self::Ports { .. } => RefusalCode::PortReserved,
            Self::Gates(_) => RefusalCode::Gated,
            Self::Unreadable(_) => RefusalCode::Unreadable,
            Self::ExcludedByPreFilter(_) | Self::NoNodeAllowed(_) => RefusalCode::LeftOut,
            Self::Text { kind, .. } => kind.code,
        }
    }

    pub fn class(&self) -> BlockerClass {
        let is_condition = |taint| RefusalCode::of_taint(taint) != RefusalCode::Taint;
        match self {
            Self::Text { kind, .. } => kind.class,
            Self::Unreadable(_) => BlockerClass::Never,
            Self::TooManyPods(numbers) | Self::Insufficient { numbers, .. }
                if numbers.asks > numbers.allocatable =>
            {
                BlockerClass::Never
            }
            Self::Insufficient { blocked_by, .. } if !blocked_by.is_empty() => BlockerClass::Hold,
            Self::Ports { blocked_by, .. } if !blocked_by.is_empty() => BlockerClass::Hold,
            Self::TooManyPods(_) | Self::Insufficient { .. } => BlockerClass::Room,
            Self::Unschedulable => BlockerClass::State,
            Self::Taint(taint) if is_condition(taint) => BlockerClass::State,
            Self::OtherNode | Self::Taint(_) | Self::Ports { .. } | Self::Gates(_) => BlockerClass::Spec,
            Self::ExcludedByPreFilter(_) | Self::NoNodeAllowed(_) => BlockerClass::Spec,
        }
    }
}

//! Classifies rejections: a code for programs, a label for people, and the class by which nodes are ranked. Entry point: [`of`].

use common::framework::{Reason, Rejection};
use common::model::ResourceName;
use common::model::taint::Taint;

/// The class of a blocker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockerClass {
    /// The pod requests more than the node's allocatable amount.
    Never,
    /// The pod's spec and the node do not match: selector, taint, port.
    Spec,
    /// The node takes no pods now: cordoned, not ready, under pressure.
    State,
    /// The node is full.
    Room,
    /// Pods that must not be near are near, or pods that must be near are not.
    Placement,
    /// The pod's volumes cannot be used there.
    Storage,
    /// Reservations hold the room for other pods.
    Hold,
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

/// The code, the class and the label of a rejection.
pub(super) struct RejectionKind {
    pub(super) code: String,
    pub(super) class: BlockerClass,
    pub(super) label: String,
}

impl RejectionKind {
    /// Whether the rejection is about an amount, so that its numbers are enough to explain it.
    pub(super) fn is_amount(&self) -> bool {
        matches!(self.class, BlockerClass::Never | BlockerClass::Room | BlockerClass::Hold)
            && self.code != "Unreadable"
    }
}

fn kind(code: &str, class: BlockerClass, label: &str) -> RejectionKind {
    RejectionKind { code: code.to_owned(), class, label: label.to_owned() }
}

/// Classifies a rejection by a Filter plugin.
pub(super) fn of(rejection: &Rejection) -> RejectionKind {
    match &rejection.reason {
        Reason::OtherNode => kind("OtherNode", BlockerClass::Spec, "not the node named"),
        Reason::Unschedulable => kind("Cordoned", BlockerClass::State, "cordoned"),
        Reason::Taint(taint) => from_taint(taint),
        Reason::TooManyPods(numbers) if numbers.asks > numbers.allocatable => {
            kind("TooManyPods", BlockerClass::Never, "takes no pods")
        }
        Reason::TooManyPods(_) => kind("TooManyPods", BlockerClass::Room, "too many pods"),
        Reason::Insufficient { resource, numbers, blocked_by } => {
            let (class, label) = match () {
                () if numbers.asks > numbers.allocatable => {
                    (BlockerClass::Never, format!("{resource} larger than node"))
                }
                () if blocked_by.is_empty() => (BlockerClass::Room, format!("{resource} too low")),
                () => (BlockerClass::Hold, format!("{resource} kept for others")),
            };
            let code = if blocked_by.is_empty() { insufficient(resource) } else { reserved(resource) };
            RejectionKind { code, class, label }
        }
        Reason::Ports { blocked_by, .. } if blocked_by.is_empty() => {
            kind("PortInUse", BlockerClass::Spec, "port in use")
        }
        Reason::Ports { .. } => kind("PortReserved", BlockerClass::Hold, "port kept for others"),
        Reason::Unreadable(_) => kind("Unreadable", BlockerClass::Never, "unreadable"),
        Reason::Gates(_) => kind("Gated", BlockerClass::Spec, "gated"),
        Reason::ExcludedByPreFilter(_) | Reason::NoNodeAllowed(_) => {
            kind("LeftOut", BlockerClass::Spec, "left out")
        }
        Reason::Message { text: words, .. } => from_message(rejection.plugin, words),
    }
}

/// Classifies a rejection by a PreFilter plugin, before any node is looked at.
pub(super) fn refused(rejection: &Rejection) -> RejectionKind {
    let class = if rejection.plugin.contains("Volume") { BlockerClass::Storage } else { BlockerClass::Spec };
    kind("Refused", class, &rejection.reason.to_string())
}

fn insufficient(resource: &ResourceName) -> String {
    format!("Insufficient{}", camel(resource))
}

fn reserved(resource: &ResourceName) -> String {
    format!("Reserved{}", camel(resource))
}

/// `ephemeral-storage` as `EphemeralStorage`, `nvidia.com/gpu` as `NvidiaComGpu`.
fn camel(resource: &ResourceName) -> String {
    let words = resource.as_str().split(|letter: char| !letter.is_ascii_alphanumeric());
    words
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string())
                + letters.as_str()
        })
        .collect()
}

/// The taints that Kubernetes itself sets for conditions of a node: key, code, label.
const CONDITIONS: [(&str, &str, &str); 8] = [
    ("node.kubernetes.io/not-ready", "NotReady", "not ready"),
    ("node.kubernetes.io/unreachable", "Unreachable", "unreachable"),
    ("node.kubernetes.io/memory-pressure", "MemoryPressure", "memory pressure"),
    ("node.kubernetes.io/disk-pressure", "DiskPressure", "disk pressure"),
    ("node.kubernetes.io/pid-pressure", "PidPressure", "pid pressure"),
    ("node.kubernetes.io/network-unavailable", "NetworkUnavailable", "network unavailable"),
    ("node.kubernetes.io/unschedulable", "Cordoned", "cordoned"),
    ("node.cloudprovider.kubernetes.io/uninitialized", "Uninitialized", "not initialised yet"),
];

fn from_taint(taint: &Taint) -> RejectionKind {
    match CONDITIONS.iter().find(|(key, ..)| **key == *taint.key) {
        Some((_, code, label)) => kind(code, BlockerClass::State, label),
        None => kind("Taint", BlockerClass::Spec, "taint"),
    }
}

/// Whether it is the taint of a cordoned node.
pub(super) fn is_cordon(taint: &Taint) -> bool {
    &*taint.key == "node.kubernetes.io/unschedulable"
}

/// Whether Kubernetes itself sets and removes the taint.
pub(super) fn is_condition(taint: &Taint) -> bool {
    CONDITIONS.iter().any(|(key, ..)| **key == *taint.key)
}

/// Messages of plugins that return only text: plugin, part of the message, code, class, label. The first match counts.
const MESSAGES: [(&str, &str, &str, BlockerClass, &str); 16] = [
    ("NodeAffinity", "scheduler-enforced", "SchedulerAffinity", BlockerClass::Spec, "not for this scheduler"),
    ("NodeAffinity", "", "NodeAffinity", BlockerClass::Spec, "wrong label"),
    ("NodeLabel", "", "NodeLabel", BlockerClass::Spec, "label missing"),
    ("LabelGate", "", "LabelGate", BlockerClass::Spec, "kept out by a label"),
    ("NodeDeclaredFeatures", "", "NodeFeatures", BlockerClass::Spec, "feature missing"),
    ("PodTopologySpread", "missing required label", "SpreadLabel", BlockerClass::Spec, "no topology label"),
    ("PodTopologySpread", "", "Spread", BlockerClass::Placement, "spread too uneven"),
    (
        "InterPodAffinity",
        "existing pods",
        "ExistingAntiAffinity",
        BlockerClass::Placement,
        "kept apart by a pod",
    ),
    ("InterPodAffinity", "anti-affinity", "AntiAffinity", BlockerClass::Placement, "pods too near"),
    ("InterPodAffinity", "", "Affinity", BlockerClass::Placement, "no pod to be near to"),
    ("NodeVolumeLimits", "max volume count", "VolumeLimit", BlockerClass::Room, "volume limit"),
    ("NodeVolumeLimits", "", "VolumeDriver", BlockerClass::Storage, "no volume driver"),
    ("VolumeRestrictions", "ReadWriteOncePod", "ClaimInUse", BlockerClass::Storage, "claim in use"),
    ("VolumeRestrictions", "", "DiskInUse", BlockerClass::Storage, "disk in use"),
    ("VolumeZone", "", "VolumeZone", BlockerClass::Storage, "volume elsewhere"),
    ("VolumeBinding", "node affinity", "VolumeElsewhere", BlockerClass::Storage, "volume elsewhere"),
];

fn from_message(plugin: &str, words: &str) -> RejectionKind {
    let known = MESSAGES.iter().find(|(of, part, ..)| *of == plugin && words.contains(part));
    match (plugin, known) {
        (_, Some((_, _, code, class, label))) => kind(code, *class, label),
        ("VolumeBinding", None) if words.contains("enough free storage") => {
            kind("StorageFull", BlockerClass::Storage, "no storage left")
        }
        ("VolumeBinding", None) if words.contains("non-existent") => {
            kind("VolumeGone", BlockerClass::Storage, "volume gone")
        }
        ("VolumeBinding", None) => kind("NoVolume", BlockerClass::Storage, "no volume to bind"),
        _ => kind(if plugin.is_empty() { "Refused" } else { plugin }, BlockerClass::Spec, words),
    }
}

//! What sort of thing a refusal is: a word for machines, a few for people, and the class by which nodes are ranked.

use common::framework::{Reason, Rejection};
use common::model::ResourceName;
use common::model::taint::Taint;

/// What sort of thing is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The pod asks for more than the node has at all.
    Never,
    /// What the pod says and what the node is do not match: selector, taint, port.
    Spec,
    /// The node is not open now: cordoned, not ready, under pressure.
    State,
    /// The node is full.
    Room,
    /// Other pods are near, or missing.
    Placement,
    /// The pod's volumes cannot be had there.
    Storage,
    /// Reservations keep the room for others.
    Hold,
}

impl Class {
    /// The class in one word.
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

/// The code, the class and the label of a refusal.
pub(super) struct Kind {
    pub(super) code: String,
    pub(super) class: Class,
    pub(super) label: String,
}

impl Kind {
    /// Whether it is about amounts, so that numbers say it all.
    pub(super) fn is_amount(&self) -> bool {
        matches!(self.class, Class::Never | Class::Room | Class::Hold) && self.code != "Unreadable"
    }
}

fn kind(code: &str, class: Class, label: &str) -> Kind {
    Kind { code: code.to_owned(), class, label: label.to_owned() }
}

/// What sort of thing the refusal is.
pub(super) fn of(rejection: &Rejection) -> Kind {
    match &rejection.reason {
        Reason::OtherNode => kind("OtherNode", Class::Spec, "not the node named"),
        Reason::Unschedulable => kind("Cordoned", Class::State, "cordoned"),
        Reason::Taint(taint) => tainted(taint),
        Reason::TooManyPods(numbers) if numbers.asks > numbers.allocatable => {
            kind("TooManyPods", Class::Never, "takes no pods")
        }
        Reason::TooManyPods(_) => kind("TooManyPods", Class::Room, "too many pods"),
        Reason::Insufficient { resource, numbers, kept } => {
            let (class, label) = match () {
                () if numbers.asks > numbers.allocatable => {
                    (Class::Never, format!("{resource} larger than node"))
                }
                () if kept.is_empty() => (Class::Room, format!("{resource} too low")),
                () => (Class::Hold, format!("{resource} kept for others")),
            };
            let code = if kept.is_empty() { insufficient(resource) } else { reserved(resource) };
            Kind { code, class, label }
        }
        Reason::Ports { kept, .. } if kept.is_empty() => kind("PortInUse", Class::Spec, "port in use"),
        Reason::Ports { .. } => kind("PortReserved", Class::Hold, "port kept for others"),
        Reason::Unreadable(_) => kind("Unreadable", Class::Never, "unreadable"),
        Reason::Gates(_) => kind("Gated", Class::Spec, "gated"),
        Reason::LeftOut(_) | Reason::NoneLeft(_) => kind("LeftOut", Class::Spec, "left out"),
        Reason::Said { words, .. } => said(rejection.plugin, words),
    }
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

/// The taints by which Kubernetes itself says how a node is.
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

fn tainted(taint: &Taint) -> Kind {
    match CONDITIONS.iter().find(|(key, ..)| **key == *taint.key) {
        Some((_, code, label)) => kind(code, Class::State, label),
        None => kind("Taint", Class::Spec, "taint"),
    }
}

/// Whether the taint only repeats that the node is cordoned.
pub(super) fn is_cordon(taint: &Taint) -> bool {
    &*taint.key == "node.kubernetes.io/unschedulable"
}

/// Whether Kubernetes itself sets and removes the taint.
pub(super) fn is_condition(taint: &Taint) -> bool {
    CONDITIONS.iter().any(|(key, ..)| **key == *taint.key)
}

/// What plugins say that have no more than words.
const SAID: [(&str, &str, &str, Class, &str); 16] = [
    ("NodeAffinity", "scheduler-enforced", "SchedulerAffinity", Class::Spec, "not for this scheduler"),
    ("NodeAffinity", "", "NodeAffinity", Class::Spec, "wrong label"),
    ("NodeLabel", "", "NodeLabel", Class::Spec, "label missing"),
    ("LabelGate", "", "LabelGate", Class::Spec, "kept out by a label"),
    ("NodeDeclaredFeatures", "", "NodeFeatures", Class::Spec, "feature missing"),
    ("PodTopologySpread", "missing required label", "SpreadLabel", Class::Spec, "no topology label"),
    ("PodTopologySpread", "", "Spread", Class::Placement, "spread too uneven"),
    ("InterPodAffinity", "existing pods", "ExistingAntiAffinity", Class::Placement, "kept apart by a pod"),
    ("InterPodAffinity", "anti-affinity", "AntiAffinity", Class::Placement, "pods too near"),
    ("InterPodAffinity", "", "Affinity", Class::Placement, "no pod to be near to"),
    ("NodeVolumeLimits", "max volume count", "VolumeLimit", Class::Room, "volume limit"),
    ("NodeVolumeLimits", "", "VolumeDriver", Class::Storage, "no volume driver"),
    ("VolumeRestrictions", "ReadWriteOncePod", "ClaimInUse", Class::Storage, "claim in use"),
    ("VolumeRestrictions", "", "DiskInUse", Class::Storage, "disk in use"),
    ("VolumeZone", "", "VolumeZone", Class::Storage, "volume elsewhere"),
    ("VolumeBinding", "node affinity", "VolumeElsewhere", Class::Storage, "volume elsewhere"),
];

fn said(plugin: &str, words: &str) -> Kind {
    let known = SAID.iter().find(|(of, part, ..)| *of == plugin && words.contains(part));
    match (plugin, known) {
        (_, Some((_, _, code, class, label))) => kind(code, *class, label),
        ("VolumeBinding", None) if words.contains("enough free storage") => {
            kind("StorageFull", Class::Storage, "no storage left")
        }
        ("VolumeBinding", None) if words.contains("non-existent") => {
            kind("VolumeGone", Class::Storage, "volume gone")
        }
        ("VolumeBinding", None) => kind("NoVolume", Class::Storage, "no volume to bind"),
        _ => kind(if plugin.is_empty() { "Refused" } else { plugin }, Class::Spec, words),
    }
}

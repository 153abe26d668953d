//! Words for rejections: the code as programs see it, and a label for people. What a rejection is about, its plugin says.

use common::framework::{BlockerClass, Reason, RefusalCode, Rejection};
use common::model::ResourceName;

/// The code, the class and the label of a rejection.
pub(super) struct RejectionKind {
    pub(super) code: RefusalCode,
    /// The code as programs see it.
    pub(super) code_name: String,
    pub(super) class: BlockerClass,
    pub(super) label: String,
}

impl RejectionKind {
    /// The words for a rejection by a Filter plugin.
    pub(super) fn of_filter(rejection: &Rejection) -> Self {
        let (code, class) = (rejection.reason.code(), rejection.reason.class());
        Self { code, code_name: code_name(rejection), class, label: label(&rejection.reason) }
    }

    /// The words for a rejection by a PreFilter plugin, before any node is looked at.
    pub(super) fn of_pre_filter(rejection: &Rejection) -> Self {
        let (code, reason) = (RefusalCode::Refused, &rejection.reason);
        Self { code, code_name: code.to_string(), class: reason.class(), label: reason.to_string() }
    }

    /// Whether the rejection is about an amount, so that its numbers are enough to explain it.
    pub(super) fn is_amount(&self) -> bool {
        matches!(self.class, BlockerClass::Never | BlockerClass::Room | BlockerClass::Hold)
            && self.code != RefusalCode::Unreadable
    }
}

fn code_name(rejection: &Rejection) -> String {
    let code = rejection.reason.code();
    match (&rejection.reason, rejection.plugin) {
        (Reason::Insufficient { resource, .. }, _) => format!("{code}{}", camel(resource)),
        (_, "") if code == RefusalCode::Plugin => RefusalCode::Refused.to_string(),
        (_, plugin) if code == RefusalCode::Plugin => plugin.to_owned(),
        _ => code.to_string(),
    }
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

/// The resource of which the node has too little left, if the reason is that.
pub(super) fn too_low(reason: &Reason) -> Option<&ResourceName> {
    match reason {
        Reason::Insufficient { resource, .. } if reason.class() == BlockerClass::Room => Some(resource),
        _ => None,
    }
}

/// A few words for people.
fn label(reason: &Reason) -> String {
    match reason {
        Reason::Insufficient { resource, .. } => match reason.class() {
            BlockerClass::Never => format!("{resource} larger than node"),
            BlockerClass::Hold => format!("{resource} kept for others"),
            _ => format!("{resource} too low"),
        },
        Reason::TooManyPods(_) if reason.class() == BlockerClass::Never => "takes no pods".to_owned(),
        reason => static_label(reason.code()).map_or_else(|| reason.to_string(), str::to_owned),
    }
}

/// The label of a code that always has the same; `None`: kube-scheduler's text is shown.
fn static_label(code: RefusalCode) -> Option<&'static str> {
    Some(match code {
        RefusalCode::OtherNode => "not the node named",
        RefusalCode::Cordoned => "cordoned",
        RefusalCode::NotReady => "not ready",
        RefusalCode::Unreachable => "unreachable",
        RefusalCode::MemoryPressure => "memory pressure",
        RefusalCode::DiskPressure => "disk pressure",
        RefusalCode::PidPressure => "pid pressure",
        RefusalCode::NetworkUnavailable => "network unavailable",
        RefusalCode::Uninitialized => "not initialised yet",
        RefusalCode::Taint => "taint",
        RefusalCode::TooManyPods => "too many pods",
        RefusalCode::PortInUse => "port in use",
        RefusalCode::PortReserved => "port kept for others",
        RefusalCode::Unreadable => "unreadable",
        RefusalCode::Gated => "gated",
        RefusalCode::LeftOut => "left out",
        RefusalCode::SchedulerAffinity => "not for this scheduler",
        RefusalCode::NodeAffinity => "wrong label",
        RefusalCode::NodeLabel => "label missing",
        RefusalCode::LabelGate => "kept out by a label",
        RefusalCode::NodeFeatures => "feature missing",
        RefusalCode::SpreadLabel => "no topology label",
        RefusalCode::Spread => "spread too uneven",
        RefusalCode::ExistingAntiAffinity => "kept apart by a pod",
        RefusalCode::AntiAffinity => "pods too near",
        RefusalCode::Affinity => "no pod to be near to",
        RefusalCode::VolumeLimit => "volume limit",
        RefusalCode::VolumeDriver => "no volume driver",
        RefusalCode::ClaimInUse => "claim in use",
        RefusalCode::DiskInUse => "disk in use",
        RefusalCode::VolumeZone | RefusalCode::VolumeElsewhere => "volume elsewhere",
        RefusalCode::StorageFull => "no storage left",
        RefusalCode::VolumeGone => "volume gone",
        RefusalCode::NoVolume => "no volume to bind",
        RefusalCode::Insufficient | RefusalCode::Reserved => return None,
        RefusalCode::Refused | RefusalCode::Plugin => return None,
    })
}

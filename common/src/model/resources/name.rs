//! The names of resources: which of them the scheduler counts, and how an amount is shown.

use std::fmt;

use crate::model::label_syntax::is_key;
use crate::model::quantity::Quantity;

const HUGE_PAGES: &str = "hugepages-";

/// The name of a resource, as one word or `domain/word`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceName {
    /// `cpu`, counted in milli.
    Cpu,
    /// `memory`, in bytes.
    Memory,
    /// `ephemeral-storage`, in bytes.
    EphemeralStorage,
    /// `pods`: how many a node may run.
    Pods,
    /// Everything else: `hugepages-2Mi`, `nvidia.com/gpu`.
    Scalar(Box<str>),
}

impl ResourceName {
    /// The name in the API.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::EphemeralStorage => "ephemeral-storage",
            Self::Pods => "pods",
            Self::Scalar(name) => name,
        }
    }

    /// An amount of this resource as kubectl would show it: `1500m` of cpu, `128Mi` of memory, `3` of a device.
    pub fn format(&self, amount: i64) -> String {
        match self {
            Self::Cpu => format!("{amount}m"),
            Self::Memory | Self::EphemeralStorage => format_bytes(amount),
            Self::Scalar(name) if name.starts_with(HUGE_PAGES) => format_bytes(amount),
            Self::Pods | Self::Scalar(_) => amount.to_string(),
        }
    }
}

impl From<&str> for ResourceName {
    fn from(name: &str) -> Self {
        match name {
            "cpu" => Self::Cpu,
            "memory" => Self::Memory,
            "ephemeral-storage" => Self::EphemeralStorage,
            "pods" => Self::Pods,
            other => Self::Scalar(other.into()),
        }
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// Whether kube-scheduler counts this resource as a scalar: extended resources, huge pages, everything under
/// `kubernetes.io/`, attachable volumes. It ignores other names.
pub fn is_scalar_name(name: &str) -> bool {
    name.contains("kubernetes.io/")
        || name.starts_with(HUGE_PAGES)
        || name.starts_with("attachable-volumes-")
        || is_extended_name(name)
}

/// Whether this is the name of an extended resource: `domain/word` that is still a qualified name with the prefix `requests.`,
/// which quotas add.
pub fn is_extended_name(name: &str) -> bool {
    name.contains('/')
        && !name.contains("kubernetes.io/")
        && !name.starts_with("requests.")
        && is_key(&format!("requests.{name}"))
}

/// In powers of 1024 if that is exact, else in powers of 1000: `128Mi`, `2M`, `1500`.
fn format_bytes(bytes: i64) -> String {
    if bytes % 1024 == 0 {
        Quantity::from_bytes(bytes).to_string()
    } else {
        Quantity::from_units(bytes).to_string()
    }
}

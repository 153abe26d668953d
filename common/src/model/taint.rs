//! Taints and tolerations, and whether a toleration matches a taint.

use super::ids::Text;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaintEffect {
    /// New pods are not scheduled to the node.
    NoSchedule,
    /// New pods are scheduled to other nodes if possible.
    PreferNoSchedule,
    /// New pods are not scheduled to the node, and running pods are evicted.
    NoExecute,
    /// An effect of a newer API. It keeps no pod away, as in kube-scheduler.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Taint {
    pub key: Text,
    /// The taint's value, often empty.
    pub value: Text,
    pub effect: TaintEffect,
}

/// How a toleration compares its value with the taint's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TolerationOperator {
    Equal,
    /// The value does not matter.
    Exists,
    /// An operator that is off by the default feature gates. It matches no taint.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Toleration {
    /// The key; empty for any key.
    pub key: Text,
    pub operator: TolerationOperator,
    pub value: Text,
    /// The effect; `None` for any effect.
    pub effect: Option<TaintEffect>,
}

impl TaintEffect {
    pub fn from_name(name: &str) -> Self {
        match name {
            "NoSchedule" => Self::NoSchedule,
            "PreferNoSchedule" => Self::PreferNoSchedule,
            "NoExecute" => Self::NoExecute,
            _ => Self::Other,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
            Self::Other => "unknown effect",
        }
    }

    /// Whether an untolerated taint of this effect keeps a pod off the node.
    pub fn repels(self) -> bool {
        matches!(self, Self::NoSchedule | Self::NoExecute)
    }
}

impl Toleration {
    /// Whether this toleration matches `taint`.
    ///
    /// As in kube-scheduler, an empty key with `Equal` matches a taint of any key if the values are equal.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        let effect_matches = self.effect.is_none_or(|effect| effect == taint.effect);
        let key_matches = self.key.is_empty() || self.key == taint.key;
        let value_matches = match self.operator {
            TolerationOperator::Exists => true,
            TolerationOperator::Equal => self.value == taint.value,
            TolerationOperator::Other => false,
        };
        effect_matches && key_matches && value_matches
    }
}

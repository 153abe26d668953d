//! Taints and tolerations, and whether one tolerates the other.

use super::ids::Text;

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// New pods stay away.
    NoSchedule,
    /// New pods rather stay away.
    PreferNoSchedule,
    /// New pods stay away and running ones are evicted.
    NoExecute,
    /// A word of a newer API: it repels nobody here, as in kube-scheduler.
    Other,
}

/// A node's taint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Taint {
    /// The taint's key.
    pub key: Text,
    /// The taint's value, often empty.
    pub value: Text,
    /// What it does.
    pub effect: Effect,
}

/// How a toleration compares its value with the taint's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// The values are equal.
    Equal,
    /// The value does not matter.
    Exists,
    /// An operator that the default feature gates do not serve; it tolerates nothing.
    Other,
}

/// A pod's toleration. An empty key or no effect stand for any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Toleration {
    /// The key; empty for any key.
    pub key: Text,
    /// How the value is compared.
    pub operator: Operator,
    /// The value.
    pub value: Text,
    /// The effect; `None` for any effect.
    pub effect: Option<Effect>,
}

impl Effect {
    /// The effect by its API name.
    pub fn from_name(name: &str) -> Self {
        match name {
            "NoSchedule" => Self::NoSchedule,
            "PreferNoSchedule" => Self::PreferNoSchedule,
            "NoExecute" => Self::NoExecute,
            _ => Self::Other,
        }
    }

    /// The API name.
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
    /// Whether this toleration accepts `taint`.
    ///
    /// As upstream, an empty key with `Equal` matches any key whose value is equal.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        let effect_matches = self.effect.is_none_or(|effect| effect == taint.effect);
        let key_matches = self.key.is_empty() || self.key == taint.key;
        let value_matches = match self.operator {
            Operator::Exists => true,
            Operator::Equal => self.value == taint.value,
            Operator::Other => false,
        };
        effect_matches && key_matches && value_matches
    }
}

//! A storage class: who makes volumes of it, when, and for which nodes.

use crate::model::ids::Text;
use crate::model::labels::Labels;
use crate::model::object::Meta;

/// A StorageClass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageClass {
    /// Its name, and what else identifies it.
    pub meta: Meta,
    /// Who makes volumes of it.
    pub provisioner: Text,
    /// When claims of it get a volume; `None` if it does not say, which is an error to whoever asks.
    pub binding_mode: Option<BindingMode>,
    /// For which nodes volumes can be made: those that meet every requirement of one of these; all if there are none.
    pub allowed_topologies: Box<[Box<[TopologyRequirement]>]>,
}

/// When a claim gets its volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingMode {
    /// At once, whatever pod will use it.
    Immediate,
    /// When a pod that uses it is placed.
    WaitForFirstConsumer,
}

/// A label that a node must have, with one of these values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyRequirement {
    /// The label's key.
    pub key: Text,
    /// The values that will do.
    pub values: Box<[Text]>,
}

/// What stands for no provisioner at all.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

impl StorageClass {
    /// Whether volumes are made when they are claimed; otherwise somebody has to make them beforehand.
    pub fn is_provisioned(&self) -> bool {
        !self.provisioner.is_empty() && *self.provisioner != *NO_PROVISIONER
    }

    /// Whether a volume can be made for a node with these labels.
    pub fn allows(&self, labels: &Labels) -> bool {
        let meets = |one: &TopologyRequirement| {
            labels.get(&one.key).is_some_and(|value| one.values.iter().any(|will_do| **will_do == *value))
        };
        let terms = &self.allowed_topologies;
        terms.is_empty() || terms.iter().any(|term| !term.is_empty() && term.iter().all(meets))
    }
}

impl BindingMode {
    /// The mode that the API calls `name`.
    pub fn from_name(name: &str) -> Self {
        if name == "WaitForFirstConsumer" { Self::WaitForFirstConsumer } else { Self::Immediate }
    }
}

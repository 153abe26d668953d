//! A StorageClass: which provisioner makes its volumes, when, and for which nodes.

use crate::model::{Labels, ObjectMeta, Text};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageClass {
    pub meta: ObjectMeta,
    pub provisioner: Text,
    /// When claims of this class get a volume. `None` if the field is missing, which callers treat as an error.
    pub binding_mode: Option<BindingMode>,
    /// The nodes for which volumes can be provisioned: nodes that meet all requirements of at least one term; all nodes if there
    /// are no terms.
    pub allowed_topologies: Box<[Box<[TopologyRequirement]>]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingMode {
    /// Immediately, independently of the pod that will use it.
    Immediate,
    /// When a pod that uses the claim is scheduled.
    WaitForFirstConsumer,
}

/// A label that a node must have with one of these values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyRequirement {
    pub key: Text,
    pub values: Box<[Text]>,
}

/// The value of `provisioner` of a class without a provisioner.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

impl StorageClass {
    /// Whether volumes are provisioned dynamically. Otherwise an administrator makes them beforehand.
    pub fn has_provisioner(&self) -> bool {
        !self.provisioner.is_empty() && *self.provisioner != *NO_PROVISIONER
    }

    pub fn allows(&self, labels: &Labels) -> bool {
        let meets = |one: &TopologyRequirement| {
            labels.get(&one.key).is_some_and(|value| one.values.iter().any(|accepted| **accepted == *value))
        };
        let terms = &self.allowed_topologies;
        terms.is_empty() || terms.iter().any(|term| !term.is_empty() && term.iter().all(meets))
    }
}

impl BindingMode {
    pub fn from_name(name: &str) -> Self {
        if name == "WaitForFirstConsumer" { Self::WaitForFirstConsumer } else { Self::Immediate }
    }
}

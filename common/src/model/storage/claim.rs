//! A claim: the volume that a pod asks for, and how far it has come.

use super::mode::{AccessModes, VolumeMode};
use crate::model::ids::{NodeName, Text, Uid};
use crate::model::object::Meta;
use crate::model::quantity::Quantity;
use crate::model::selector::Selector;

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, PartialEq)]
pub struct PersistentVolumeClaim {
    /// Its name, and what else identifies it.
    pub meta: Meta,
    /// The volume that it has, or wants to have and no other.
    pub volume_name: Option<Text>,
    /// The storage class; the old annotation counts before the field, and an empty name is none.
    pub class: Option<Text>,
    /// How it is to be used.
    pub access_modes: AccessModes,
    /// Filesystem or device.
    pub volume_mode: VolumeMode,
    /// How much it asks for; `None` if it does not say.
    pub requested: Option<Quantity>,
    /// Which volumes will do; any if it does not say.
    pub selector: Option<Selector>,
    /// The class of attributes that the volume must have; an empty name is none.
    pub attributes_class: Option<Text>,
    /// How far it has come, by its status.
    pub phase: ClaimPhase,
    /// Whether the binding is complete, by an annotation.
    pub is_bind_completed: bool,
    /// The node for which a volume is being made.
    pub selected_node: Option<NodeName>,
    /// The UID of whoever controls it, as it claims: the pod, if it was made for an ephemeral volume.
    pub controller: Option<Uid>,
}

/// How far a claim has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClaimPhase {
    /// It has no volume yet.
    #[default]
    Pending,
    /// It has one.
    Bound,
    /// It had one, which is gone.
    Lost,
}

impl PersistentVolumeClaim {
    /// Whether it has its volume for good.
    pub fn is_bound(&self) -> bool {
        self.volume_name.is_some() && self.is_bind_completed
    }
}

impl ClaimPhase {
    /// The phase that the API calls `name`.
    pub fn from_name(name: &str) -> Self {
        match name {
            "Bound" => Self::Bound,
            "Lost" => Self::Lost,
            _ => Self::Pending,
        }
    }
}

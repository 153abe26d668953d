//! A PersistentVolumeClaim: the volume that a pod asks for, and whether it is bound.

use super::mode::{AccessModes, VolumeMode};
use crate::model::{NodeName, ObjectMeta, Quantity, Selector, Text, Uid};

#[derive(Clone, Debug, PartialEq)]
pub struct PersistentVolumeClaim {
    pub meta: ObjectMeta,
    /// The volume that the claim has, or the only volume that it accepts (`spec.volumeName`).
    pub volume_name: Option<Text>,
    /// The storage class. The beta annotation takes precedence over the field, and an empty name is `None`.
    pub class: Option<Text>,
    pub access_modes: AccessModes,
    pub volume_mode: VolumeMode,
    /// The requested size; `None` if there is no request.
    pub requested: Option<Quantity>,
    /// Which volumes are acceptable; `None` for any.
    pub selector: Option<Selector>,
    /// The VolumeAttributesClass that the volume must have; an empty name is `None`.
    pub attributes_class: Option<Text>,
    pub phase: ClaimPhase,
    /// Whether the annotation `pv.kubernetes.io/bind-completed` is present.
    pub is_bind_completed: bool,
    pub selected_node: Option<NodeName>,
    /// The UID of its controller, as its `ownerReferences` claim: a pod, if the claim was made for an ephemeral volume.
    pub controller: Option<Uid>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClaimPhase {
    #[default]
    Pending,
    Bound,
    /// The volume of the claim was deleted.
    Lost,
}

impl PersistentVolumeClaim {
    pub fn is_bound(&self) -> bool {
        self.volume_name.is_some() && self.is_bind_completed
    }
}

impl ClaimPhase {
    pub fn from_name(name: &str) -> Self {
        match name {
            "Bound" => Self::Bound,
            "Lost" => Self::Lost,
            _ => Self::Pending,
        }
    }
}

//! A PersistentVolumeClaim: the volume that a pod asks for, and whether it is bound.

use super::mode::{AccessModes, VolumeMode};
use crate::model::ids::{NodeName, Text, Uid};
use crate::model::object::ObjectMeta;
use crate::model::quantity::Quantity;
use crate::model::selector::Selector;

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, PartialEq)]
pub struct PersistentVolumeClaim {
    /// Identity and version of the object.
    pub meta: ObjectMeta,
    /// The volume that the claim has, or the only volume that it accepts (`spec.volumeName`).
    pub volume_name: Option<Text>,
    /// The storage class. The beta annotation takes precedence over the field, and an empty name is `None`.
    pub class: Option<Text>,
    /// The access modes that the volume must have.
    pub access_modes: AccessModes,
    /// Filesystem or block device.
    pub volume_mode: VolumeMode,
    /// The requested size; `None` if there is no request.
    pub requested: Option<Quantity>,
    /// Which volumes are acceptable; `None` for any.
    pub selector: Option<Selector>,
    /// The VolumeAttributesClass that the volume must have; an empty name is `None`.
    pub attributes_class: Option<Text>,
    /// `status.phase`.
    pub phase: ClaimPhase,
    /// Whether the annotation `pv.kubernetes.io/bind-completed` is present.
    pub is_bind_completed: bool,
    /// The node for which a volume is being provisioned.
    pub selected_node: Option<NodeName>,
    /// The UID of its controller, as its `ownerReferences` claim: a pod, if the claim was made for an ephemeral volume.
    pub controller: Option<Uid>,
}

/// The phase of a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClaimPhase {
    /// The claim has no volume yet.
    #[default]
    Pending,
    /// The claim has a volume.
    Bound,
    /// The volume of the claim was deleted.
    Lost,
}

impl PersistentVolumeClaim {
    /// Whether the binding to a volume is complete.
    pub fn is_bound(&self) -> bool {
        self.volume_name.is_some() && self.is_bind_completed
    }
}

impl ClaimPhase {
    /// The phase with this name in the API.
    pub fn from_name(name: &str) -> Self {
        match name {
            "Bound" => Self::Bound,
            "Lost" => Self::Lost,
            _ => Self::Pending,
        }
    }
}

//! A VolumeAttachment: a volume that is attached to a node, or is about to be.

use crate::model::ids::{NodeName, Text};
use crate::model::object::ObjectMeta;

/// A VolumeAttachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeAttachment {
    /// Identity and version of the object.
    pub meta: ObjectMeta,
    /// The CSI driver that attaches the volume.
    pub attacher: Text,
    /// The node that the volume is attached to.
    pub node: NodeName,
    /// The name of the PersistentVolume; `None` for an inline volume, which is not counted.
    pub volume: Option<Text>,
}

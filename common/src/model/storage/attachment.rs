//! A VolumeAttachment: a volume that is attached to a node, or is about to be.

use crate::model::{NodeName, ObjectMeta, Text};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeAttachment {
    pub meta: ObjectMeta,
    /// The CSI driver that attaches the volume.
    pub attacher: Text,
    pub node: NodeName,
    /// The name of the PersistentVolume; `None` for an inline volume, which is not counted.
    pub volume: Option<Text>,
}

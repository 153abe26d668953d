//! A volume that is attached to a node, or about to be.

use crate::model::ids::{NodeName, Text};
use crate::model::object::Meta;

/// A VolumeAttachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeAttachment {
    /// Its name, and what else identifies it.
    pub meta: Meta,
    /// The driver that attaches it.
    pub attacher: Text,
    /// The node.
    pub node: NodeName,
    /// The volume; `None` for one that is written out in a pod, which nobody counts.
    pub volume: Option<Text>,
}

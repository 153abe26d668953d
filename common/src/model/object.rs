//! What all objects that are stored by namespace and name have in common.

use super::ids::{Text, Uid};

/// The fields of `metadata` by which objects are stored and compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectMeta {
    /// The namespace; empty for a cluster-scoped kind.
    pub namespace: Text,
    pub name: Text,
    /// The UID.
    pub uid: Uid,
    /// `metadata.resourceVersion` of the object that was read.
    pub resource_version: u64,
    /// Whether the object is being deleted.
    pub is_deleting: bool,
}

/// An object that is stored by namespace and name.
pub trait Object {
    /// Identity and version of the object.
    fn meta(&self) -> &ObjectMeta;

    /// [`Self::meta`], mutable.
    fn meta_mut(&mut self) -> &mut ObjectMeta;

    /// A second key by which the object can be found, such as the node of a VolumeAttachment.
    fn group(&self) -> Option<&str> {
        None
    }
}

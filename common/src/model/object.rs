//! What all objects that are stored by namespace and name have in common.

use super::ids::{Text, Uid};

/// The fields of `metadata` by which objects are stored and compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectMeta {
    /// The namespace; empty for a cluster-scoped kind.
    pub namespace: Text,
    pub name: Text,
    pub uid: Uid,
    /// `metadata.resourceVersion` of the object that was read.
    pub resource_version: u64,
    pub is_deleting: bool,
}

/// An object that is stored by namespace and name.
pub trait Object {
    fn meta(&self) -> &ObjectMeta;

    fn meta_mut(&mut self) -> &mut ObjectMeta;

    /// A second key by which the object can be found, such as the node of a VolumeAttachment.
    fn group(&self) -> Option<&str> {
        None
    }
}

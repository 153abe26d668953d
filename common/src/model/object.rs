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

pub trait Object {
    fn meta(&self) -> &ObjectMeta;

    fn meta_mut(&mut self) -> &mut ObjectMeta;

    /// A second key by which the object can be found, such as the node of a VolumeAttachment.
    fn group(&self) -> Option<&str> {
        None
    }
}

/// The URL path under which the API server lists a kind: in `namespace`, or everywhere if that is empty.
pub fn list_path(group: &str, namespace: &str, plural: &str) -> String {
    let api = if group.is_empty() { "/api/v1".to_owned() } else { format!("/apis/{group}/v1") };
    match namespace {
        "" => format!("{api}/{plural}"),
        namespace => format!("{api}/namespaces/{namespace}/{plural}"),
    }
}

//! What every object that is kept by its name has in common.

use super::ids::{Text, Uid};

/// The parts of `metadata` that the belief goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The namespace; empty for a kind that has none.
    pub namespace: Text,
    /// The name.
    pub name: Text,
    /// The UID.
    pub uid: Uid,
    /// The version of the object that was read.
    pub resource_version: u64,
    /// Whether it is being deleted.
    pub is_deleting: bool,
}

/// An object that is kept by its namespace and name.
pub trait Object {
    /// What the belief goes by.
    fn meta(&self) -> &Meta;

    /// The same, to alter it.
    fn meta_mut(&mut self) -> &mut Meta;

    /// What it can be found by besides its name, such as the node of an attachment; one text at most.
    fn group(&self) -> Option<&str> {
        None
    }
}

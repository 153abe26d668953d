//! A ResourceQuota: the most that the pods of a namespace may request together.

use super::object::Meta;
use super::resources::ResourceName;

/// A ResourceQuota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceQuota {
    /// Its namespace and name, and what else identifies it.
    pub meta: Meta,
    /// The most of each resource that all pods of the namespace may request together. One with scopes speaks of some pods only, and
    /// has none here.
    pub hard: Box<[(ResourceName, i64)]>,
}

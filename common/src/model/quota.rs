//! A ResourceQuota: the most that the pods of a namespace may request together.

use super::{ObjectMeta, ResourceName};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceQuota {
    pub meta: ObjectMeta,
    /// The most of each resource that all pods of the namespace may request together. Empty for a quota with scopes, which limits
    /// only some pods.
    pub hard: Box<[(ResourceName, i64)]>,
}

//! A write to the API server that a claim of a pod needs before the pod is bound.

use super::{CatalogKind, Text};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectWrite {
    pub kind: CatalogKind,
    /// Its namespace; `None` for a kind without namespaces.
    pub namespace: Option<Text>,
    pub name: Text,
    /// Whether the status is written, by the subresource `status`.
    pub is_status: bool,
    /// The JSON merge patch. It has the resource version that was decided on, so that the write fails if the object has changed.
    pub patch: String,
}

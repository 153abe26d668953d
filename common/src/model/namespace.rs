//! A Namespace: its labels, by which affinity terms select, and its `reserve/keep` annotation.

use super::keep::Keep;
use super::labels::Labels;
use super::object::ObjectMeta;

/// A Namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Identity and version of the object.
    pub meta: ObjectMeta,
    /// Its labels.
    pub labels: Labels,
    /// Its `reserve/keep` annotation, which holds for all its pods.
    pub keep: Option<Keep>,
}

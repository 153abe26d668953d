//! A namespace: its labels, which affinity terms select by, and what it wishes to be kept for its pods.

use super::keep::Keep;
use super::labels::Labels;
use super::object::Meta;

/// A namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its name, and what else identifies it.
    pub meta: Meta,
    /// Its labels.
    pub labels: Labels,
    /// What is to be kept for its pods.
    pub keep: Option<Keep>,
}

//! A Namespace: its labels, by which affinity terms select, and its `reserve/keep` annotation.

use super::keep::Keep;
use super::labels::Labels;
use super::object::ObjectMeta;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    pub meta: ObjectMeta,
    pub labels: Labels,
    /// Its `reserve/keep` annotation, which holds for all its pods.
    pub keep: Option<Keep>,
}

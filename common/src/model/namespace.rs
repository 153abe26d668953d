//! A Namespace: its labels, by which affinity terms select, and its `reserve/keep` annotation.

use super::{Keep, Labels, ObjectMeta};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    pub meta: ObjectMeta,
    pub labels: Labels,
    /// Its `reserve/keep` annotation, which holds for all its pods.
    pub keep: Option<Keep>,
}

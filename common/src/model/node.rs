//! What scheduling needs of a Node.

use super::ids::{NodeName, Text, Uid};
use super::labels::Labels;
use super::reservation::Parsed;
use super::resources::Resources;
use super::taint::Taint;
use std::sync::Arc;

/// A node, reduced to what decisions read. Its annotations are gone: of them only the reservations remain.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name.
    pub name: NodeName,
    /// Its UID; a node recreated under the same name has another one.
    pub uid: Uid,
    /// The version of the object that was read.
    pub resource_version: u64,
    /// Its labels.
    pub labels: Labels,
    /// Its taints.
    pub taints: Box<[Taint]>,
    /// Whether it is cordoned.
    pub unschedulable: bool,
    /// Whether its kubelet is well, as far as is known: only a condition that says otherwise makes it not so.
    pub is_ready: bool,
    /// What it can give to pods.
    pub allocatable: Resources,
    /// The container images that it has, as its kubelet reports them.
    pub images: Box<[Arc<Image>]>,
    /// What it declares that it can do (`status.declaredFeatures`), sorted.
    pub features: Box<[Text]>,
    /// What its annotations reserve, sorted by key, the unreadable ones included.
    pub reservations: Box<[Parsed]>,
    /// How much its annotations are.
    pub annotations: AnnotationSize,
    /// Why no pod can be judged against this node, when its amounts cannot be read.
    pub problem: Option<Box<str>>,
}

/// How much the annotations of a node are. The API server takes no more than 256 KiB of them, whoever wrote them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnnotationSize {
    /// Keys and values of all of them, in bytes.
    pub bytes: u32,
    /// The same of ours.
    pub our_bytes: u32,
    /// How many of them are ours.
    pub our_keys: u32,
}

/// A container image on a node. Nodes of one pool have the same ones, and share them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Image {
    /// All names that it goes by.
    pub names: Box<[Text]>,
    /// How many bytes it is.
    pub size: i64,
}

impl Node {
    /// Whether it declares all of `needs`.
    pub fn declares(&self, needs: &[Text]) -> bool {
        needs.iter().all(|need| self.features.binary_search(need).is_ok())
    }

    /// Whether `other` is a version of this node that makes no difference to any pod.
    pub fn offers_same(&self, other: &Node) -> bool {
        // All by name, so that a new field cannot be forgotten.
        let Self {
            name,
            uid,
            resource_version: _,
            // Others write annotations all the time.
            annotations: _,
            labels,
            taints,
            unschedulable,
            is_ready,
            allocatable,
            images,
            features,
            reservations,
            problem,
        } = self;
        (labels, images, taints, unschedulable, allocatable, features)
            == (
                &other.labels,
                &other.images,
                &other.taints,
                &other.unschedulable,
                &other.allocatable,
                &other.features,
            )
            && (name, uid, is_ready, reservations, problem)
                == (&other.name, &other.uid, &other.is_ready, &other.reservations, &other.problem)
    }
}

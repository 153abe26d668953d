//! A Node, reduced to the fields that scheduling reads.

use super::{Labels, NodeName, ParsedReservation, Resources, Taint, Text, Uid};
use std::sync::Arc;

/// A node, reduced to what decisions read. Of its annotations only the reservations and the total size are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub name: NodeName,
    /// The UID. A node that is recreated under the same name has another UID.
    pub uid: Uid,
    pub resource_version: u64,
    pub labels: Labels,
    pub taints: Box<[Taint]>,
    /// Whether the node is cordoned.
    pub unschedulable: bool,
    /// `false` only if there is a Ready condition that is not `True`.
    pub is_ready: bool,
    /// `status.allocatable`: how much of each resource pods can have.
    pub allocatable: Resources,
    /// The container images on the node, as its kubelet reports them.
    pub images: Box<[Arc<Image>]>,
    /// The features that the node declares (`status.declaredFeatures`), sorted.
    pub features: Box<[Text]>,
    /// The reservations in its annotations, sorted by key, invalid ones included.
    pub reservations: Box<[ParsedReservation]>,
    pub annotations: AnnotationSize,
    /// Why this node takes no pods, if the object or its amounts cannot be read.
    pub problem: Option<Box<str>>,
}

/// The size of the annotations of a node. The API server accepts at most 256 KiB, whichever program wrote them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnnotationSize {
    /// Keys and values of all annotations, in bytes.
    pub bytes: u32,
    /// Keys and values of our annotations (`reserve.*`), in bytes.
    pub our_bytes: u32,
    pub our_keys: u32,
}

/// A container image on a node. Nodes of one pool have the same images, and share these values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Image {
    pub names: Box<[Text]>,
    /// The size in bytes.
    pub size: i64,
}

impl Node {
    pub fn declares(&self, needs: &[Text]) -> bool {
        needs.iter().all(|need| self.features.binary_search(need).is_ok())
    }

    /// Whether `other` is a version of this node that differs in nothing that a scheduling decision reads.
    pub fn is_same_for_scheduling(&self, other: &Node) -> bool {
        // All fields are listed, so that the compiler reports a new field that is missing here.
        let Self {
            name,
            uid,
            resource_version: _,
            // Other programs write annotations all the time.
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

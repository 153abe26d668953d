//! The particulars behind a refusal: which taint, label, port, volume, pod or topology domain. Finding them may take a look at all
//! pods, so no decision does; `explain` asks a filter for them with [`Filter::evidence`](super::Filter::evidence), for the few nodes
//! that it shows.

use crate::model::{HostPort, NodeName, PodKey, Requirement, Selector, Taint, Text};

/// The particulars behind the verdict of a filter about one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    Taints(Vec<Taint>),
    /// What the pod requires of the node's labels, and the node does not have.
    Labels(Vec<UnmetRequirement>),
    /// The host ports that are not free, each with the pod that uses it; `None` if a reservation keeps it.
    Ports(Vec<(HostPort, Option<PodKey>)>),
    /// The spread constraints of the pod, those that the node meets included.
    Spread(Vec<SpreadStatus>),
    PodAffinity(Vec<UnmetPodAffinity>),
    /// A volume in other zones or regions than the node.
    VolumeZone {
        volume: Text,
        /// The label that differs.
        key: Text,
        /// The values of the volume's label.
        values: Vec<Text>,
        /// The value of the node's label.
        has: Option<Text>,
    },
    /// A volume whose node affinity does not match the node.
    VolumeElsewhere {
        volume: Text,
        /// What the volume requires of the node's labels; `None` if no single label is to blame.
        requirement: Option<Requirement>,
        /// The value of the node's label.
        has: Option<Text>,
    },
    UnboundClaim {
        claim: Text,
        /// The claim's storage class.
        class: Option<Text>,
    },
    /// The drivers of the node, and how many volumes each attaches at most.
    VolumeLimits(Vec<(Text, i32)>),
    ClaimInUse {
        claim: Text,
        pod: PodKey,
    },
    DiskInUse {
        /// The name of the volume in the pod's spec.
        volume: Text,
        pod: PodKey,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetRequirement {
    pub requirement: Requirement,
    /// Whether it is about the node's name and not about a label.
    pub is_field: bool,
    pub has: Option<Text>,
}

/// A spread constraint of the pod, and whether one node meets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpreadStatus {
    pub is_met: bool,
    /// The topology key.
    pub key: Text,
    /// `maxSkew`: by how many pods the domains may differ.
    pub max_skew: i32,
    /// The domain of the node; `None` if it lacks the topology key.
    pub domain: Option<Text>,
    /// The number of matching pods in each domain.
    pub counts: Vec<(Text, i64)>,
    /// The most pods that a domain may have before this pod is added.
    pub most: i64,
}

/// A required term that a node does not meet: an affinity or anti-affinity term of the pod, or an anti-affinity term of an existing
/// pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnmetPodAffinity {
    /// The pod requires a matching pod in the node's domain, and there is none.
    NoMatchingPod {
        /// The topology key.
        key: Text,
        /// The label selector of the term; `None` matches no pod.
        selector: Option<Selector>,
    },
    /// The pod's anti-affinity matches an existing pod in the node's domain.
    AntiAffinity {
        /// The topology key.
        key: Text,
        pod: PodKey,
        /// The node of the existing pod.
        node: NodeName,
    },
    /// The anti-affinity of an existing pod in the node's domain matches the pod.
    ExistingAntiAffinity {
        /// The topology key.
        key: Text,
        pod: PodKey,
        /// The node of the existing pod.
        node: NodeName,
    },
}

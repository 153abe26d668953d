//! What scheduling needs of a Pod.

use super::affinity::Affinity;
use super::ids::{NodeName, PodKey, Text, Uid};
use super::keep::Keep;
use super::labels::Labels;
use super::moment::Moment;
use super::owner::ControllerRef;
use super::port::HostPort;
use super::requests::PodRequests;
use super::spread::SpreadConstraint;
use super::taint::Toleration;
use super::volume::PodVolume;
use jiff::Timestamp;
use std::sync::Arc;

/// Pods of this priority and above are `system-cluster-critical` or `system-node-critical`: the API server lets
/// nobody else have it.
pub const SYSTEM_CRITICAL_PRIORITY: i32 = 2_000_000_000;

/// A pod, reduced to what decisions read.
#[derive(Clone, Debug, PartialEq)]
pub struct Pod {
    /// Its namespace and name.
    pub key: PodKey,
    /// Its UID.
    pub uid: Uid,
    /// The version of the object that was read.
    pub resource_version: u64,
    /// `metadata.generation`, which conditions repeat as the generation they speak of.
    pub generation: i64,
    /// Its labels.
    pub labels: Arc<Labels>,
    /// What it asks for: the same for all that were made from one template.
    pub spec: Arc<PodSpec>,
    /// Who controls it, as it claims.
    pub controller: Option<Arc<ControllerRef>>,
    /// The value of its `reserve/seat` annotation, written by whoever bound it.
    pub stamp: Option<Text>,
    /// What few pods have. Boxed, so that the others need no room for it.
    pub rare: Option<Box<Rare>>,
    /// When it was created.
    pub created: Option<Moment>,
    /// When its kubelet began with it.
    pub started: Option<Moment>,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// Whether its kubelet made it for a file on the node: it comes back by itself, past any scheduler.
    pub is_mirror: bool,
    /// Whether its kubelet ends it because the node runs out of something: its condition DisruptionTarget says so.
    pub evicted_by_node_pressure: bool,
    /// Whether it has to go because a scheduler gives its place to another: its condition DisruptionTarget says so.
    pub preempted: bool,
    /// Where it is bound.
    pub node: Option<NodeName>,
    /// Where room is being made for it (`status.nominatedNodeName`). Boxed, since few have one.
    pub nominated: Option<Box<NodeName>>,
    /// How far it has come.
    pub phase: Phase,
    /// Its PodScheduled condition.
    pub scheduled: Option<Scheduled>,
    /// Why it cannot be judged. When it is its amounts that cannot be read, it counts as if it filled its node.
    pub problem: Option<Box<str>>,
}

/// What few pods have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rare {
    /// The value of its `reserve/build-image` annotation: the image that it will build on.
    pub build_image: Option<Text>,
    /// What its own `reserve/keep` annotation wishes to be kept.
    pub keep: Option<Keep>,
    /// When its grace ends, if it is being deleted (`metadata.deletionTimestamp`).
    pub grace_ends: Option<Moment>,
}

/// What a pod asks for. Pods made from one template share one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodSpec {
    /// Who is asked to place it.
    pub scheduler_name: Text,
    /// Its priority.
    pub priority: i32,
    /// Whether pods of a lower priority may have to go for it.
    pub preempts: bool,
    /// What it tolerates.
    pub tolerations: Box<[Toleration]>,
    /// What it asks for.
    pub requests: PodRequests,
    /// The labels that its node must have; `None` for any.
    pub node_selector: Option<Labels>,
    /// Where it wants to be.
    pub affinity: Option<Box<Affinity>>,
    /// How it is to be spread.
    pub spread: Box<[SpreadConstraint]>,
    /// The ports that it takes of its node for as long as it runs.
    pub ports: Box<[HostPort]>,
    /// Its volumes, as far as not every node can mount them.
    pub volumes: Box<[PodVolume]>,
    /// Its images: one for each init container, container and image volume, in this order, each with a tag.
    pub images: Box<[Text]>,
    /// What it waits for before it may be placed (`spec.schedulingGates`).
    pub gates: Box<[Text]>,
    /// What its node must declare that it can do, sorted.
    pub needs: Box<[Text]>,
    /// Whether it claims devices (`spec.resourceClaims`).
    pub claims_devices: bool,
    /// The environment variables of its containers that speak of an image, as far as they are written out.
    pub env: Box<[(Text, Text)]>,
    /// What it uses that only some plugins understand.
    pub features: Features,
}

/// A pod's phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not all containers were started.
    Pending,
    /// Running, or unknown: it still has its room.
    Running,
    /// All containers ended well.
    Succeeded,
    /// All containers ended, some badly; or the kubelet refused it.
    Failed,
}

/// The PodScheduled condition. That of a bound pod takes no memory of its own: there are many of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheduled {
    /// Its status is `True`.
    True {
        /// When that last changed.
        since: Option<Moment>,
    },
    /// Its status is `False`, or something else that is not `True`.
    False(Box<Unscheduled>),
}

/// A PodScheduled condition that is not true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unscheduled {
    /// When that last changed.
    pub since: Option<Moment>,
    /// Its reason, such as `Unschedulable`.
    pub reason: Text,
    /// Its message.
    pub message: Text,
}

/// Things a pod can ask for that need a plugin of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features {
    bits: u16,
}

/// One of [`Features`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Feature {
    /// `spec.schedulingGates`.
    SchedulingGates = 1 << 0,
    /// `spec.nodeSelector` or `spec.affinity.nodeAffinity`.
    NodeAffinity = 1 << 1,
    /// Host ports.
    NodePorts = 1 << 2,
    /// Volumes that only some nodes can mount.
    Volumes = 1 << 3,
    /// `spec.topologySpreadConstraints`.
    PodTopologySpread = 1 << 4,
    /// `spec.affinity.podAffinity` or `podAntiAffinity`.
    InterPodAffinity = 1 << 5,
    /// `spec.resourceClaims`.
    DynamicResources = 1 << 6,
    /// `podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution`, which speaks about *other* pods too.
    RequiredAntiAffinity = 1 << 7,
    /// `spec.schedulingGroup`: pods that start together or not at all.
    Gang = 1 << 8,
    /// What only nodes that declare it can do: host network with user namespaces, restarting all containers by rule,
    /// options of bind mounts.
    NodeDeclaredFeatures = 1 << 9,
}

impl Pod {
    /// Whether it takes room on its node: bound, and not yet ended. A terminating pod still counts.
    pub fn is_counted(&self) -> bool {
        self.node.is_some() && !self.is_ended()
    }

    /// Whether it came to its node in order: a scheduler bound it, or its kubelet has accepted it. A pod that was created with the name
    /// of a node in it is on that node for everybody, also while the kubelet is about to refuse it.
    pub fn is_admitted(&self) -> bool {
        let is_bound = matches!(self.scheduled, Some(Scheduled::True { .. }));
        is_bound || self.started.is_some() || self.phase != Phase::Pending
    }

    /// Whether all its containers have ended.
    pub fn is_ended(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    /// Whether it waits to be placed.
    pub fn is_waiting(&self) -> bool {
        self.node.is_none() && !self.is_ended() && !self.deleting
    }

    /// Whether it is one of the pods that the cluster itself cannot do without.
    pub fn is_system_critical(&self) -> bool {
        self.spec.priority >= SYSTEM_CRITICAL_PRIORITY
    }

    /// Whether it is on its way out because a scheduler gave its place to another.
    pub fn is_victim(&self) -> bool {
        self.deleting && self.preempted
    }

    /// When it is to be gone, if it is being deleted: after its grace.
    pub fn gone_by(&self) -> Option<Timestamp> {
        self.rare.as_ref()?.grace_ends.map(Moment::time)
    }

    /// The image that it will build on.
    pub fn build_image(&self) -> Option<&Text> {
        self.rare.as_ref()?.build_image.as_ref()
    }

    /// What its own annotation wishes to be kept.
    pub fn keep(&self) -> Option<&Keep> {
        self.rare.as_ref()?.keep.as_ref()
    }

    /// Whether `other` is a version of this waiting pod about which everything was decided already: only what others
    /// say about it differs.
    pub fn asks_same(&self, other: &Pod) -> bool {
        let aside = |pod: &Pod| Pod {
            resource_version: 0,
            generation: 0,
            scheduled: None,
            started: None,
            nominated: None,
            preempted: false,
            ..pod.clone()
        };
        aside(self) == aside(other)
    }

    /// The pod as it will be once it is bound.
    #[must_use]
    pub fn bound(&self, node: NodeName, stamp: Option<Text>, since: Option<Timestamp>) -> Pod {
        let scheduled = Scheduled::True { since: since.map(Moment::from) };
        Pod { node: Some(node), stamp, scheduled: Some(scheduled), ..self.clone() }
    }

    /// When its PodScheduled condition turned true.
    pub fn scheduled_at(&self) -> Option<Timestamp> {
        match &self.scheduled {
            Some(Scheduled::True { since }) => since.map(Moment::time),
            Some(Scheduled::False(_)) | None => None,
        }
    }

    /// Its PodScheduled condition, if there is one that is not true.
    pub fn unscheduled(&self) -> Option<&Unscheduled> {
        match &self.scheduled {
            Some(Scheduled::False(condition)) => Some(condition),
            Some(Scheduled::True { .. }) | None => None,
        }
    }
}

impl Feature {
    const ALL: [Feature; 10] = [
        Feature::SchedulingGates,
        Feature::NodeAffinity,
        Feature::NodePorts,
        Feature::Volumes,
        Feature::PodTopologySpread,
        Feature::InterPodAffinity,
        Feature::DynamicResources,
        Feature::RequiredAntiAffinity,
        Feature::Gang,
        Feature::NodeDeclaredFeatures,
    ];

    /// Whether no plugin of ours understands it, so that a pod that uses it is not placed at all rather than placed
    /// wrongly.
    pub fn is_unserved(self) -> bool {
        matches!(self, Self::DynamicResources | Self::Gang)
    }

    /// Where in a pod's spec it is asked for.
    pub fn field(self) -> &'static str {
        match self {
            Self::SchedulingGates => "spec.schedulingGates",
            Self::NodeAffinity => "spec.nodeSelector or spec.affinity.nodeAffinity",
            Self::NodePorts => "hostPort",
            Self::Volumes => "spec.volumes with claims or disks",
            Self::PodTopologySpread => "spec.topologySpreadConstraints",
            Self::InterPodAffinity => "spec.affinity.podAffinity or podAntiAffinity",
            Self::DynamicResources => "spec.resourceClaims",
            Self::RequiredAntiAffinity => "a required podAntiAffinity",
            Self::Gang => "spec.schedulingGroup",
            Self::NodeDeclaredFeatures => {
                "hostUsers: false with hostNetwork, RestartAllContainers or bindMountOptions"
            }
        }
    }
}

impl Features {
    /// The features, in a fixed order.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.into_iter().filter(move |feature| self.contains(*feature))
    }

    /// Adds `feature`.
    pub fn insert(&mut self, feature: Feature) {
        self.bits |= feature as u16;
    }

    /// Whether `feature` is used.
    pub fn contains(self, feature: Feature) -> bool {
        self.bits & feature as u16 != 0
    }

    /// Adds `feature` when `used`.
    pub fn insert_if(&mut self, used: bool, feature: Feature) {
        if used {
            self.insert(feature);
        }
    }
}

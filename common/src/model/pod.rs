//! A Pod, reduced to the fields that decisions read.

pub use super::feature::{Feature, Features};

use super::{
    Affinity, ControllerRef, HostPort, Keep, Labels, Moment, NodeName, PodKey, PodRequests, PodVolume, Text,
    Toleration, TopologySpreadConstraint, Uid,
};
use jiff::Timestamp;
use std::sync::Arc;

/// Pods of this priority and above are `system-cluster-critical` or `system-node-critical`: the API server reserves these
/// priorities for the two classes.
pub const SYSTEM_CRITICAL_PRIORITY: i32 = 2_000_000_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Pod {
    pub key: PodKey,
    pub uid: Uid,
    pub resource_version: u64,
    /// `metadata.generation`, which conditions repeat as `observedGeneration`.
    pub generation: i64,
    pub labels: Arc<Labels>,
    /// The spec. Pods that were made from one template share it.
    pub spec: Arc<PodSpec>,
    /// The controller, as its `ownerReferences` claim.
    pub controller: Option<Arc<ControllerRef>>,
    /// The value of its `reserve/seat` annotation, which the scheduler writes with the binding.
    pub stamp: Option<Text>,
    /// Fields that few pods have. Boxed, so that the other pods need no memory for them.
    pub rare: Option<Box<RareFields>>,
    pub created: Option<Moment>,
    /// When its kubelet accepted the pod (`status.startTime`).
    pub started: Option<Moment>,
    pub deleting: bool,
    /// Whether this is the mirror pod of a static pod. The kubelet recreates it by itself, without any scheduler.
    pub is_mirror: bool,
    /// Whether its kubelet terminates it because of node pressure, by the condition DisruptionTarget.
    pub evicted_by_node_pressure: bool,
    /// Whether a scheduler preempts it in favour of another pod, by the condition DisruptionTarget.
    pub preempted: bool,
    /// The node that the pod is bound to (`spec.nodeName`).
    pub node: Option<NodeName>,
    /// The node on which other pods are preempted for it (`status.nominatedNodeName`). Boxed, since few pods have one.
    pub nominated_node: Option<Box<NodeName>>,
    pub phase: Phase,
    pub scheduled: Option<ScheduledCondition>,
    /// Why the pod cannot be scheduled: a part of it is invalid. If its amounts cannot be read, it counts as if it filled its node.
    pub problem: Option<Box<str>>,
}

/// Fields that few pods have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RareFields {
    /// The value of its `reserve/build-image` annotation: the image that its build will use.
    pub build_image: Option<Text>,
    pub keep: Option<Keep>,
    /// `metadata.deletionTimestamp`: when its grace period ends, if it is being deleted.
    pub deletion_timestamp: Option<Moment>,
}

/// The spec of a pod. Pods that were made from one template share one value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodSpec {
    pub scheduler_name: Text,
    pub priority: i32,
    /// Whether pods of a lower priority may be preempted for it (`spec.preemptionPolicy` is not `Never`).
    pub preempts: bool,
    pub tolerations: Box<[Toleration]>,
    /// The sums of its resource requests.
    pub requests: PodRequests,
    pub node_selector: Option<Labels>,
    pub affinity: Option<Box<Affinity>>,
    pub spread: Box<[TopologySpreadConstraint]>,
    /// The host ports that it uses for as long as it runs.
    pub ports: Box<[HostPort]>,
    /// Its volumes, without those that every node can mount.
    pub volumes: Box<[PodVolume]>,
    /// The images of its init containers, containers and image volumes, in this order, each with a tag.
    pub images: Box<[Text]>,
    /// `spec.schedulingGates`: while there are any, the pod is not scheduled.
    pub gates: Box<[Text]>,
    /// The features that its node must declare, sorted.
    pub needs: Box<[Text]>,
    pub claims_devices: bool,
    /// The environment variables of its containers whose name contains `IMAGE` and whose value is given literally.
    pub env: Box<[(Text, Text)]>,
    /// The parts of its spec that need a plugin of their own.
    pub features: Features,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Pending,
    /// Running, or a phase that we do not know: its resources are not free.
    Running,
    Succeeded,
    /// All containers ended, at least one with an error; or the kubelet rejected the pod.
    Failed,
}

/// The PodScheduled condition. The condition of a bound pod needs no allocation, since there are many bound pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduledCondition {
    /// `since` is `lastTransitionTime`.
    True { since: Option<Moment> },
    /// The status is anything but `True`.
    False(Box<UnscheduledCondition>),
}

/// A PodScheduled condition whose status is not `True`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnscheduledCondition {
    /// `lastTransitionTime`.
    pub since: Option<Moment>,
    /// The reason, such as `Unschedulable`.
    pub reason: Text,
    pub message: Text,
}

impl Pod {
    /// Whether the pod uses resources of its node: it is bound and has not ended. A terminating pod still counts.
    pub fn is_counted(&self) -> bool {
        self.node.is_some() && !self.is_ended()
    }

    /// Whether a scheduler bound the pod or its kubelet has accepted it. A pod that was created with `spec.nodeName` counts on that
    /// node for every scheduler, although the kubelet may still reject it.
    pub fn is_admitted(&self) -> bool {
        let is_bound = matches!(self.scheduled, Some(ScheduledCondition::True { .. }));
        is_bound || self.started.is_some() || self.phase != Phase::Pending
    }

    /// Whether all containers have ended.
    pub fn is_ended(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    pub fn is_waiting(&self) -> bool {
        self.node.is_none() && !self.is_ended() && !self.deleting
    }

    /// Whether the priority is that of a `system-*-critical` class.
    pub fn is_system_critical(&self) -> bool {
        self.spec.priority >= SYSTEM_CRITICAL_PRIORITY
    }

    /// Whether the pod is being deleted because a scheduler preempted it.
    pub fn is_victim(&self) -> bool {
        self.deleting && self.preempted
    }

    /// When the grace period ends, if the pod is being deleted.
    pub fn deletion_timestamp(&self) -> Option<Timestamp> {
        self.rare.as_ref()?.deletion_timestamp.map(Moment::time)
    }

    pub fn build_image(&self) -> Option<&Text> {
        self.rare.as_ref()?.build_image.as_ref()
    }

    /// The pod's own `reserve/keep` annotation.
    pub fn keep(&self) -> Option<&Keep> {
        self.rare.as_ref()?.keep.as_ref()
    }

    /// Whether `other` is a version of this waiting pod that needs no new scheduling decision: at most fields that schedulers and
    /// kubelets write differ.
    pub fn is_same_for_scheduling(&self, other: &Pod) -> bool {
        let comparable = |pod: &Pod| Pod {
            resource_version: 0,
            generation: 0,
            scheduled: None,
            started: None,
            nominated_node: None,
            preempted: false,
            ..pod.clone()
        };
        comparable(self) == comparable(other)
    }

    /// The pod as it will be after the binding to `node`.
    #[must_use]
    pub fn bound(&self, node: NodeName, stamp: Option<Text>, since: Option<Timestamp>) -> Pod {
        let scheduled = ScheduledCondition::True { since: since.map(Moment::from) };
        Pod { node: Some(node), stamp, scheduled: Some(scheduled), ..self.clone() }
    }

    /// When the PodScheduled condition became `True`.
    pub fn scheduled_at(&self) -> Option<Timestamp> {
        match &self.scheduled {
            Some(ScheduledCondition::True { since }) => since.map(Moment::time),
            Some(ScheduledCondition::False(_)) | None => None,
        }
    }

    /// The PodScheduled condition, if its status is not `True`.
    pub fn unscheduled(&self) -> Option<&UnscheduledCondition> {
        match &self.scheduled {
            Some(ScheduledCondition::False(condition)) => Some(condition),
            Some(ScheduledCondition::True { .. }) | None => None,
        }
    }
}

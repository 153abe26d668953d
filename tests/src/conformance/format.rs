//! Results as both sides print them, and lines of cases as the core reads them: see `docs/conformance.md`.

use std::collections::BTreeMap;

use common::model::{OtherKind, OwnerKind};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A line of a case file, with the objects still as JSON.
#[derive(Deserialize)]
pub struct Line<'a> {
    /// Names the case in results and reports.
    #[serde(default)]
    pub id: String,
    /// A cluster, for the pods that follow.
    #[serde(borrow)]
    pub cluster: Option<Objects<'a>>,
    /// A pod to be placed.
    #[serde(borrow)]
    pub pod: Option<&'a RawValue>,
    /// Whether the pod counts on the first of its best nodes from then on.
    #[serde(default)]
    pub assume: bool,
    /// Whether every filter's verdict is wanted for every node.
    #[serde(default)]
    pub all: bool,
}

/// The objects of a cluster, still as JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Objects<'a> {
    /// The nodes, in node order.
    #[serde(borrow, default)]
    pub nodes: Vec<&'a RawValue>,
    /// The pods, assigned or not.
    #[serde(borrow, default)]
    pub pods: Vec<&'a RawValue>,
    /// Controllers of pods.
    #[serde(borrow, default)]
    pub replication_controllers: Vec<&'a RawValue>,
    /// Controllers of pods.
    #[serde(borrow, default)]
    pub replica_sets: Vec<&'a RawValue>,
    /// Controllers of pods.
    #[serde(borrow, default)]
    pub stateful_sets: Vec<&'a RawValue>,
    /// All namespaces, with their labels.
    #[serde(borrow, default)]
    pub namespaces: Vec<&'a RawValue>,
    /// Services.
    #[serde(borrow, default)]
    pub services: Vec<&'a RawValue>,
    /// Claims.
    #[serde(borrow, default)]
    pub persistent_volume_claims: Vec<&'a RawValue>,
    /// Volumes.
    #[serde(borrow, default)]
    pub persistent_volumes: Vec<&'a RawValue>,
    /// Classes of volumes.
    #[serde(borrow, default)]
    pub storage_classes: Vec<&'a RawValue>,
    /// Which drivers a node has.
    #[serde(borrow, default)]
    pub csi_nodes: Vec<&'a RawValue>,
    /// Drivers of volumes.
    #[serde(borrow, default)]
    pub csi_drivers: Vec<&'a RawValue>,
    /// What drivers have left.
    #[serde(borrow, default)]
    pub csi_storage_capacities: Vec<&'a RawValue>,
    /// Which volume is attached where.
    #[serde(borrow, default)]
    pub volume_attachments: Vec<&'a RawValue>,
    /// How many pods may be taken away.
    #[serde(borrow, default)]
    pub pod_disruption_budgets: Vec<&'a RawValue>,
}

impl<'a> Objects<'a> {
    /// The workloads of `kind`; none of a kind that cases do not have.
    pub fn workloads(&self, kind: OwnerKind) -> &[&'a RawValue] {
        match kind {
            OwnerKind::ReplicationController => &self.replication_controllers,
            OwnerKind::ReplicaSet => &self.replica_sets,
            OwnerKind::StatefulSet => &self.stateful_sets,
            _ => &[],
        }
    }

    /// The objects of `kind`.
    pub fn others(&self, kind: OtherKind) -> &[&'a RawValue] {
        match kind {
            OtherKind::Namespace => &self.namespaces,
            OtherKind::Service => &self.services,
            OtherKind::PersistentVolumeClaim => &self.persistent_volume_claims,
            OtherKind::PersistentVolume => &self.persistent_volumes,
            OtherKind::StorageClass => &self.storage_classes,
            OtherKind::CsiNode => &self.csi_nodes,
            OtherKind::CsiDriver => &self.csi_drivers,
            OtherKind::CsiStorageCapacity => &self.csi_storage_capacities,
            OtherKind::VolumeAttachment => &self.volume_attachments,
            OtherKind::PodDisruptionBudget => &self.pod_disruption_budgets,
            // No decision reads them.
            OtherKind::ResourceQuota => &[],
        }
    }
}

/// What is said about one pod.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Outcome {
    /// Which case.
    pub id: String,
    /// Who keeps the pod from being looked at, sorted by plugin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pre_enqueue: Vec<Verdict>,
    /// Who refuses the pod whatever the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_filter: Option<Verdict>,
    /// Who left nodes out before they were looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_by: Vec<String>,
    /// One entry for each node, in the order of the cluster line.
    pub nodes: Vec<NodeOutcome>,
    /// The nodes with the highest total, in the same order.
    pub best: Vec<String>,
    /// The node that is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The words of the FailedScheduling event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What preemption came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption: Option<Preemption>,
    /// Why nothing could be decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What is said about one node.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct NodeOutcome {
    /// Its name.
    pub node: String,
    /// Who rejects it first; nobody if the pod fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Verdict>,
    /// All filters that reject it, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<Verdict>,
    /// What each score says, if there was a choice.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<String, Scored>,
    /// The sum of the final scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
}

/// A refusal.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// By whom; empty for a node that was left out before.
    pub plugin: String,
    /// `U` if preemption could help, `UU` if not.
    pub code: String,
    /// Why, sorted.
    pub reasons: Vec<String>,
}

/// A plugin's score of a node.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Scored {
    /// As the plugin counts.
    pub raw: i64,
    /// Normalised, times the weight.
    #[serde(rename = "final")]
    pub weighted: i64,
}

/// What preemption came to.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Preemption {
    /// The node that is nominated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nominated: Option<String>,
    /// Every node that would do, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub candidates: BTreeMap<String, Candidate>,
}

/// A node that would do without its victims.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Candidate {
    /// `namespace/name` of the pods that would have to go, the most important first.
    pub victims: Vec<String>,
    /// How many victims would break a disruption budget.
    pub violations: i64,
    /// The highest priority among the victims.
    pub highest_priority: i64,
    /// The sum of their priorities, each counted from the lowest there is.
    pub priority_sum: i64,
    /// When the first of those with the highest priority has started; none if none of them has, which counts as now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earliest_start: Option<Timestamp>,
}

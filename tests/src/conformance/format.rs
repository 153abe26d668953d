//! The format of cases and of results, which both sides use: see `docs/conformance.md`.

use std::collections::BTreeMap;

use common::model::{CatalogKind, OwnerKind};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A line of a case file. The objects are undecoded JSON.
#[derive(Deserialize)]
pub struct CaseLine<'a> {
    /// The id of the case in results and reports.
    #[serde(default)]
    pub id: String,
    /// A cluster, for the pods of the following lines.
    #[serde(borrow)]
    pub cluster: Option<CaseObjects<'a>>,
    /// A pod to schedule.
    #[serde(borrow)]
    pub pod: Option<&'a RawValue>,
    /// Whether the pod counts as assumed on the first of its best nodes for the following lines.
    #[serde(default)]
    pub assume: bool,
    /// Whether the outcome has every filter's verdict about every node.
    #[serde(default)]
    pub all: bool,
    /// What happens after the pod was refused. The outcome then has hints, and nothing else.
    #[serde(borrow)]
    pub change: Option<CaseChange<'a>>,
}

/// A change of the cluster, with the object before and after as undecoded JSON.
#[derive(Deserialize)]
pub struct CaseChange<'a> {
    /// `AssignedPod`, `TargetPod`, `Node`, or a kind of the catalog as kube-scheduler writes it.
    pub kind: String,
    /// The object as it is in the cluster; `None` for a new one.
    #[serde(borrow)]
    pub old: Option<&'a RawValue>,
    /// The object afterwards; `None` for a deleted one.
    #[serde(borrow)]
    pub new: Option<&'a RawValue>,
}

/// The objects of a cluster, as undecoded JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseObjects<'a> {
    /// The nodes, in node order.
    #[serde(borrow, default)]
    pub nodes: Vec<&'a RawValue>,
    /// The pods, assigned or not.
    #[serde(borrow, default)]
    pub pods: Vec<&'a RawValue>,
    /// Workloads.
    #[serde(borrow, default)]
    pub replication_controllers: Vec<&'a RawValue>,
    /// Workloads.
    #[serde(borrow, default)]
    pub replica_sets: Vec<&'a RawValue>,
    /// Workloads.
    #[serde(borrow, default)]
    pub stateful_sets: Vec<&'a RawValue>,
    /// All namespaces, with their labels.
    #[serde(borrow, default)]
    pub namespaces: Vec<&'a RawValue>,
    /// Services.
    #[serde(borrow, default)]
    pub services: Vec<&'a RawValue>,
    /// PersistentVolumeClaims.
    #[serde(borrow, default)]
    pub persistent_volume_claims: Vec<&'a RawValue>,
    /// PersistentVolumes.
    #[serde(borrow, default)]
    pub persistent_volumes: Vec<&'a RawValue>,
    /// StorageClasses.
    #[serde(borrow, default)]
    pub storage_classes: Vec<&'a RawValue>,
    /// CSINodes.
    #[serde(borrow, default)]
    pub csi_nodes: Vec<&'a RawValue>,
    /// CSIDrivers.
    #[serde(borrow, default)]
    pub csi_drivers: Vec<&'a RawValue>,
    /// CSIStorageCapacities.
    #[serde(borrow, default)]
    pub csi_storage_capacities: Vec<&'a RawValue>,
    /// VolumeAttachments.
    #[serde(borrow, default)]
    pub volume_attachments: Vec<&'a RawValue>,
    /// PodDisruptionBudgets.
    #[serde(borrow, default)]
    pub pod_disruption_budgets: Vec<&'a RawValue>,
}

impl<'a> CaseObjects<'a> {
    /// The workloads of `kind`; empty for kinds that cases do not have.
    pub fn workloads(&self, kind: OwnerKind) -> &[&'a RawValue] {
        match kind {
            OwnerKind::ReplicationController => &self.replication_controllers,
            OwnerKind::ReplicaSet => &self.replica_sets,
            OwnerKind::StatefulSet => &self.stateful_sets,
            _ => &[],
        }
    }

    /// The objects of `kind`.
    pub fn others(&self, kind: CatalogKind) -> &[&'a RawValue] {
        match kind {
            CatalogKind::Namespace => &self.namespaces,
            CatalogKind::Service => &self.services,
            CatalogKind::PersistentVolumeClaim => &self.persistent_volume_claims,
            CatalogKind::PersistentVolume => &self.persistent_volumes,
            CatalogKind::StorageClass => &self.storage_classes,
            CatalogKind::CsiNode => &self.csi_nodes,
            CatalogKind::CsiDriver => &self.csi_drivers,
            CatalogKind::CsiStorageCapacity => &self.csi_storage_capacities,
            CatalogKind::VolumeAttachment => &self.volume_attachments,
            CatalogKind::PodDisruptionBudget => &self.pod_disruption_budgets,
            // No decision reads them.
            CatalogKind::ResourceQuota => &[],
        }
    }
}

/// The outcome of one pod.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct CaseOutcome {
    /// The id of the case.
    pub id: String,
    /// The PreEnqueue plugins that reject the pod, sorted by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pre_enqueue: Vec<Verdict>,
    /// The PreFilter plugin that rejects the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_filter: Option<Verdict>,
    /// The PreFilter plugins that excluded nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_by: Vec<String>,
    /// One entry for each node, in the order of the cluster line.
    pub nodes: Vec<NodeOutcome>,
    /// The nodes with the highest total, in the same order.
    pub best: Vec<String>,
    /// The chosen node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The message of the FailedScheduling event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The result of preemption.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption: Option<Preemption>,
    /// The error that prevented a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Of each plugin whether the change may help the pod.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub hints: BTreeMap<String, bool>,
    /// Whether the node of the changed pod has room for the pod, without the pods that it could preempt. Only the oracle says so.
    #[serde(skip_serializing)]
    pub room: bool,
}

/// The verdicts and scores of one node.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct NodeOutcome {
    /// The name of the node.
    pub node: String,
    /// The first rejection; `None` if the pod fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Verdict>,
    /// The verdicts of all filters that reject the node, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<Verdict>,
    /// The score of each plugin, if more than one node is feasible.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<String, NodeScore>,
    /// The sum of the final scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
}

/// A rejection by one plugin.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The plugin; empty for a node that a PreFilter plugin excluded.
    pub plugin: String,
    /// `U` if preemption could help, `UU` if not.
    pub code: String,
    /// The reasons, sorted.
    pub reasons: Vec<String>,
}

/// A plugin's score of a node.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct NodeScore {
    /// Before normalisation.
    pub raw: i64,
    /// Normalised and multiplied by the plugin's weight.
    #[serde(rename = "final")]
    pub weighted: i64,
}

/// The result of preemption.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Preemption {
    /// The nominated node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nominated: Option<String>,
    /// Every candidate, by the name of its node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub candidates: BTreeMap<String, Candidate>,
}

/// A node on which the pod would fit without the victims.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Candidate {
    /// `namespace/name` of the victims, the most important first.
    pub victims: Vec<String>,
    /// How many victims violate a disruption budget.
    pub violations: i64,
    /// The highest priority among the victims.
    pub highest_priority: i64,
    /// The sum of the victims' priorities, each counted from the lowest possible priority.
    pub priority_sum: i64,
    /// The earliest start of the victims with the highest priority. `None`: none of them has started, which counts as now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earliest_start: Option<Timestamp>,
}

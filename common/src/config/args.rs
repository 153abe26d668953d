//! What each plugin can be told, with kube-scheduler's defaults.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde_json::Value;

use super::ours::OurArgs;

/// The arguments of all plugins of a profile, whether they run or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PluginArgs {
    /// DefaultPreemption's.
    pub default_preemption: DefaultPreemptionArgs,
    /// DynamicResources'.
    pub dynamic_resources: DynamicResourcesArgs,
    /// InterPodAffinity's.
    pub inter_pod_affinity: InterPodAffinityArgs,
    /// NodeAffinity's.
    pub node_affinity: NodeAffinityArgs,
    /// NodeResourcesBalancedAllocation's.
    pub balanced_allocation: BalancedAllocationArgs,
    /// NodeResourcesFit's.
    pub node_resources_fit: NodeResourcesFitArgs,
    /// PodTopologySpread's.
    pub pod_topology_spread: PodTopologySpreadArgs,
    /// VolumeBinding's.
    pub volume_binding: VolumeBindingArgs,
    /// Those of our own plugins.
    pub ours: OurArgs,
    /// Those of the caller's plugins, as they were written; each plugin knows what its fields mean.
    pub others: BTreeMap<String, RawArgs>,
}

/// Arguments as they were written.
pub type RawArgs = Value;

/// How many nodes preemption tries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultPreemptionArgs {
    /// At least this percentage of the nodes.
    pub min_candidate_nodes_percentage: i32,
    /// At least this many nodes.
    pub min_candidate_nodes_absolute: i32,
}

impl Default for DefaultPreemptionArgs {
    fn default() -> Self {
        Self { min_candidate_nodes_percentage: 10, min_candidate_nodes_absolute: 100 }
    }
}

/// How long the plugin for devices may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicResourcesArgs {
    /// For one node; zero: no limit.
    pub filter_timeout: SignedDuration,
    /// Before the binding.
    pub binding_timeout: SignedDuration,
}

impl Default for DynamicResourcesArgs {
    fn default() -> Self {
        Self {
            filter_timeout: SignedDuration::from_secs(10),
            binding_timeout: SignedDuration::from_secs(600),
        }
    }
}

/// How affinity between pods is scored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterPodAffinityArgs {
    /// What a required term of another pod counts.
    pub hard_pod_affinity_weight: i32,
    /// Whether other pods' preferences count only for pods that have some themselves.
    pub ignore_preferred_terms_of_existing_pods: bool,
}

impl Default for InterPodAffinityArgs {
    fn default() -> Self {
        Self { hard_pod_affinity_weight: 1, ignore_preferred_terms_of_existing_pods: false }
    }
}

/// An affinity that every pod has besides its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeAffinityArgs {
    /// The affinity.
    pub added_affinity: Option<AddedAffinity>,
}

/// Which nodes, and which of them rather.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddedAffinity {
    /// One of these terms must match. An empty list matches no node.
    pub required: Option<Vec<NodeTerm>>,
    /// Each term that matches adds its weight.
    pub preferred: Vec<(i32, NodeTerm)>,
}

/// Requirements that all must hold; a term without any matches no node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeTerm {
    /// Of the node's labels.
    pub match_expressions: Vec<NodeRequirement>,
    /// Of the node's fields.
    pub match_fields: Vec<NodeRequirement>,
}

/// One requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRequirement {
    /// The label or field.
    pub key: String,
    /// One of `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`.
    pub operator: String,
    /// What the operator compares with.
    pub values: Vec<String>,
}

/// The resources whose balance is scored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BalancedAllocationArgs {
    /// Each once, all of weight 1.
    pub resources: Vec<ResourceWeight>,
}

impl Default for BalancedAllocationArgs {
    fn default() -> Self {
        Self { resources: default_resources() }
    }
}

/// A resource and how much it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceWeight {
    /// The resource's name.
    pub name: String,
    /// From 1 to 100.
    pub weight: i64,
}

/// cpu and memory, equally.
pub(super) fn default_resources() -> Vec<ResourceWeight> {
    ["cpu", "memory"].map(|name| ResourceWeight { name: name.to_owned(), weight: 1 }).to_vec()
}

/// What must fit, and what fits well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeResourcesFitArgs {
    /// Extended resources that the filter passes over.
    pub ignored_resources: Vec<String>,
    /// Groups of them: what stands before the slash.
    pub ignored_resource_groups: Vec<String>,
    /// How what fits is scored.
    pub strategy: ScoringStrategy,
    /// What the score looks at.
    pub resources: Vec<ResourceWeight>,
}

impl Default for NodeResourcesFitArgs {
    fn default() -> Self {
        Self {
            ignored_resources: Vec::new(),
            ignored_resource_groups: Vec::new(),
            strategy: ScoringStrategy::LeastAllocated,
            resources: default_resources(),
        }
    }
}

/// Which nodes score high.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScoringStrategy {
    /// Those with much left.
    LeastAllocated,
    /// Those with little left.
    MostAllocated,
    /// As the shape says.
    RequestedToCapacityRatio(Vec<ShapePoint>),
}

/// A point of a line from utilization to score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapePoint {
    /// From 0 to 100.
    pub utilization: i32,
    /// From 0 to 10.
    pub score: i32,
}

/// How pods that do not say themselves are spread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PodTopologySpreadArgs {
    /// As kube-scheduler does: over hosts and zones.
    #[default]
    System,
    /// As these constraints say.
    List(Vec<SpreadConstraint>),
}

/// How evenly pods are spread over a kind of place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpreadConstraint {
    /// How many more pods one place may have than another.
    pub max_skew: i32,
    /// The node label whose values are the places.
    pub topology_key: String,
    /// Whether a node that breaks it is refused; if not, it only scores low.
    pub do_not_schedule: bool,
    /// How many places there must be.
    pub min_domains: Option<i32>,
    /// Whether nodes that the pod may not use count; `None`: the pod API's default.
    pub node_affinity_policy: Option<String>,
    /// Whether nodes with taints that the pod does not tolerate count; `None`: the pod API's default.
    pub node_taints_policy: Option<String>,
    /// Labels of the pod whose values the counted pods must share.
    pub match_label_keys: Vec<String>,
}

/// How volumes are bound and scored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeBindingArgs {
    /// How long a binding may take.
    pub bind_timeout_seconds: i64,
    /// From how full a volume would be to a score.
    pub shape: Vec<ShapePoint>,
}

impl Default for VolumeBindingArgs {
    fn default() -> Self {
        let shape = [(0, 10), (100, 0)].map(|(utilization, score)| ShapePoint { utilization, score });
        Self { bind_timeout_seconds: 600, shape: shape.to_vec() }
    }
}

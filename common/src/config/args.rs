//! The arguments of kube-scheduler's plugins, with its defaults.

use jiff::SignedDuration;
use serde_json::Value;

use super::file_value::{FileMap, FileValue};
use super::findings::Findings;
use crate::model::affinity::NodeAffinity;

/// Arguments as they are in the file.
pub type RawArgs = Value;

/// The arguments of a plugin as a type: how a file writes them, with defaults and checks.
pub(crate) trait PluginArgs: Sized {
    /// The fields of the arguments in a file.
    const FIELDS: &'static [&'static str];

    /// Reads the arguments. A field that is absent has its default.
    fn read(object: &FileMap<'_>, found: &mut Findings) -> Self;

    /// The arguments as a file has them, with all defaults.
    fn to_value(&self) -> RawArgs;

    /// The arguments of a profile, which were checked when the file was loaded.
    fn from_value(args: &RawArgs) -> Self {
        let mut checked_before = Findings::default();
        let object = FileValue::root(args).any_object(&mut checked_before).unwrap_or_default();
        Self::read(&object, &mut checked_before)
    }
}

/// How many nodes preemption tries: at least both minimums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultPreemptionArgs {
    pub min_candidate_nodes_percentage: i32,
    pub min_candidate_nodes_absolute: i32,
}

impl Default for DefaultPreemptionArgs {
    fn default() -> Self {
        Self { min_candidate_nodes_percentage: 10, min_candidate_nodes_absolute: 100 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DynamicResourcesArgs {
    /// The timeout of the filter for one node; zero: no limit.
    pub filter_timeout: SignedDuration,
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterPodAffinityArgs {
    /// The weight of a required affinity term of another pod.
    pub hard_pod_affinity_weight: i32,
    /// Whether preferred terms of other pods count only for pods that have preferred terms themselves.
    pub ignore_preferred_terms_of_existing_pods: bool,
}

impl Default for InterPodAffinityArgs {
    fn default() -> Self {
        Self { hard_pod_affinity_weight: 1, ignore_preferred_terms_of_existing_pods: false }
    }
}

/// A node affinity that every pod has besides its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeAffinityArgs {
    pub added_affinity: Option<NodeAffinity>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BalancedAllocationArgs {
    /// Each resource once, with weight 1.
    pub resources: Vec<ResourceWeight>,
}

impl Default for BalancedAllocationArgs {
    fn default() -> Self {
        Self { resources: default_resources() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceWeight {
    pub name: String,
    /// From 1 to 100.
    pub weight: i64,
}

pub(super) fn default_resources() -> Vec<ResourceWeight> {
    ["cpu", "memory"].map(|name| ResourceWeight { name: name.to_owned(), weight: 1 }).to_vec()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeResourcesFitArgs {
    /// Extended resources that the filter ignores.
    pub ignored_resources: Vec<String>,
    /// Groups of extended resources that the filter ignores: the part before the slash.
    pub ignored_resource_groups: Vec<String>,
    pub strategy: ScoringStrategy,
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScoringStrategy {
    /// Nodes with much room left.
    LeastAllocated,
    /// Nodes with little room left.
    MostAllocated,
    RequestedToCapacityRatio(Vec<ShapePoint>),
}

/// A point of a piecewise linear function from utilization to score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapePoint {
    /// From 0 to 100.
    pub utilization: i32,
    /// From 0 to 10.
    pub score: i32,
}

/// The default constraints for pods without topology spread constraints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PodTopologySpreadArgs {
    /// The defaults of kube-scheduler: over hosts and zones.
    #[default]
    System,
    List(Vec<SpreadConstraint>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpreadConstraint {
    /// How many more pods one domain may have than another.
    pub max_skew: i32,
    /// The node label whose values are the domains.
    pub topology_key: String,
    /// Whether a node that violates the constraint is rejected; if not, it only gets a low score.
    pub do_not_schedule: bool,
    pub min_domains: Option<i32>,
    /// Whether nodes that the pod may not use count; `None`: the pod API's default.
    pub node_affinity_policy: Option<String>,
    /// Whether nodes with taints that the pod does not tolerate count; `None`: the pod API's default.
    pub node_taints_policy: Option<String>,
    /// Labels for which a counted pod must have the same values as the pod.
    pub match_label_keys: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeBindingArgs {
    pub bind_timeout_seconds: i64,
    /// The function from the utilization of a volume to a score.
    pub shape: Vec<ShapePoint>,
}

impl Default for VolumeBindingArgs {
    fn default() -> Self {
        let shape = [(0, 10), (100, 0)].map(|(utilization, score)| ShapePoint { utilization, score });
        Self { bind_timeout_seconds: 600, shape: shape.to_vec() }
    }
}

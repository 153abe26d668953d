//! The resources that a score considers: how much of each a node has, how much is used, and how much would be used with the pod.

use crate::config::ResourceWeight;
use crate::model::resources::is_scalar_name;
use crate::model::{ResourceName, Resources};

#[derive(Clone, Debug)]
pub(in crate::plugins) struct Weights(Vec<(ResourceName, i64)>);

/// A resource that a score considers, with the request of one pod.
#[derive(Clone, Debug)]
pub(in crate::plugins) struct ScoredResource {
    pub(in crate::plugins) resource: ResourceName,
    weight: i64,
    asks: i64,
}

/// A resource on a node. `allocatable` is never 0.
#[derive(Clone, Copy, Debug)]
pub(in crate::plugins) struct ResourceShare {
    pub(in crate::plugins) weight: i64,
    pub(in crate::plugins) allocatable: i64,
    pub(in crate::plugins) used: i64,
    /// The same with the pod.
    pub(in crate::plugins) requested: i64,
}

impl Weights {
    /// Pod slots are dropped, also when the configuration names them: kube-scheduler ignores them in scores.
    pub(in crate::plugins) fn new(resources: &[ResourceWeight]) -> Self {
        let weights = resources.iter().map(|one| (ResourceName::from(&*one.name), one.weight));
        Self(weights.filter(|(resource, _)| *resource != ResourceName::Pods).collect())
    }

    /// The resources with the requests of a pod. Scalar resources that the pod does not request do not count.
    pub(in crate::plugins) fn for_pod(&self, asks: impl Fn(&ResourceName) -> i64) -> Vec<ScoredResource> {
        let all = self.0.iter().map(|(resource, weight)| (resource, *weight, asks(resource)));
        let is_skipped_if_zero = |resource: &ResourceName| match resource {
            ResourceName::Scalar(name) => is_scalar_name(name),
            _ => false,
        };
        all.filter(|(resource, _, asks)| *asks != 0 || !is_skipped_if_zero(resource))
            .map(|(resource, weight, asks)| ScoredResource { resource: resource.clone(), weight, asks })
            .collect()
    }
}

impl ScoredResource {
    pub(in crate::plugins) fn is_requested(&self) -> bool {
        self.asks != 0
    }

    /// The resource on a node; `None` if the node has none of it.
    pub(in crate::plugins) fn share(&self, allocatable: &Resources, used: i64) -> Option<ResourceShare> {
        let allocatable = allocatable.get(&self.resource);
        let requested = used.saturating_add(self.asks);
        (allocatable != 0).then_some(ResourceShare { weight: self.weight, allocatable, used, requested })
    }
}

//! The resources that a score looks at: how much of each a node has, how much of it is used, and how much would be.

use crate::config::ResourceWeight;
use crate::model::resources::is_scalar_name;
use crate::model::{ResourceName, Resources};

/// The resources that a score looks at, and how much each of them counts.
#[derive(Clone, Debug)]
pub(in crate::plugins) struct Weights(Vec<(ResourceName, i64)>);

/// A resource that a score looks at, for one pod.
#[derive(Clone, Debug)]
pub(in crate::plugins) struct Scored {
    pub(in crate::plugins) resource: ResourceName,
    weight: i64,
    asks: i64,
}

/// How much of a resource a node has; never 0.
#[derive(Clone, Copy, Debug)]
pub(in crate::plugins) struct Share {
    pub(in crate::plugins) weight: i64,
    pub(in crate::plugins) allocatable: i64,
    /// What pods have of it.
    pub(in crate::plugins) used: i64,
    /// What they would have if the pod came.
    pub(in crate::plugins) requested: i64,
}

impl Weights {
    /// Slots for pods are not among them, also when the configuration names them: upstream does not find them.
    pub(in crate::plugins) fn new(resources: &[ResourceWeight]) -> Self {
        let weights = resources.iter().map(|one| (ResourceName::from(&*one.name), one.weight));
        Self(weights.filter(|(resource, _)| *resource != ResourceName::Pods).collect())
    }

    /// The resources with what the pod asks for. Scalars of which it wants none do not count.
    pub(in crate::plugins) fn asked(&self, asks: impl Fn(&ResourceName) -> i64) -> Vec<Scored> {
        let all = self.0.iter().map(|(resource, weight)| (resource, *weight, asks(resource)));
        let is_passed_over = |resource: &ResourceName| match resource {
            ResourceName::Scalar(name) => is_scalar_name(name),
            _ => false,
        };
        all.filter(|(resource, _, asks)| *asks != 0 || !is_passed_over(resource))
            .map(|(resource, weight, asks)| Scored { resource: resource.clone(), weight, asks })
            .collect()
    }
}

impl Scored {
    /// Whether the pod wants some of it.
    pub(in crate::plugins) fn is_wanted(&self) -> bool {
        self.asks != 0
    }

    /// How it stands with it on a node; `None` if the node has none of it.
    pub(in crate::plugins) fn share(&self, allocatable: &Resources, used: i64) -> Option<Share> {
        let allocatable = allocatable.get(&self.resource);
        let requested = used.saturating_add(self.asks);
        (allocatable != 0).then_some(Share { weight: self.weight, allocatable, used, requested })
    }
}

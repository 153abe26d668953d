//! The resource requests of a pod, summed as kube-scheduler 1.37 sums them. Entry point: [`pod_requests`].
//!
//! There are four sums, because kube-scheduler has four uses for them: see [`PodRequests`]. The rules:
//!
//! - Containers run together and are added. Init containers run one after another before them, each together with the sidecars
//!   (init containers that keep running) that were started earlier. The pod needs the maximum of both phases.
//! - Pod-level requests for cpu, memory and huge pages replace the sums over the containers.
//! - Overhead is always added.
//! - A pod on a node may be in the middle of a resize. It counts with the maximum of what its spec requests, what the kubelet has
//!   allocated and what the containers actually have. The spec does not count if the resize is infeasible.
//! - For scores only, a container without a request for cpu or memory counts with a small default.
//!
//! Sums are exact and rounded up once, at the end: two containers of `0.5m` make `1m`.
//!
//! Must not know: JSON, limits (the API server has already set requests from them), claims of dynamic resources (counted only with
//! a feature gate that is off).

mod quantities;
mod sum;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::excerpt::excerpt;
use super::quantity::{Quantity, QuantityError};
use super::resources::{ResourceName, Resources};
use quantities::Quantities;
use sum::{Defaults, PodQuantities};

/// Resource names and quantities as the API writes them. If a name is repeated, the last one counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceList<'a>(pub Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> FromIterator<(&'a str, &'a str)> for ResourceList<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(entries: I) -> Self {
        Self(entries.into_iter().map(|(name, text)| (name.into(), text.into())).collect())
    }
}

/// The fields of a pod that determine its requests. If a field is an `Option`, `None` is a missing or null field, which does not
/// mean the same as an empty field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources<'a> {
    /// `spec.containers`.
    pub containers: Vec<Container<'a>>,
    /// `spec.initContainers`, in order.
    pub init_containers: Vec<Container<'a>>,
    /// `spec.overhead`.
    pub overhead: ResourceList<'a>,
    /// `spec.resources.requests`.
    pub pod_level: Option<ResourceList<'a>>,
    /// `status.containerStatuses`.
    pub container_statuses: Vec<ContainerStatus<'a>>,
    /// `status.initContainerStatuses`.
    pub init_container_statuses: Vec<ContainerStatus<'a>>,
    /// `status.allocatedResources`.
    pub pod_allocated: Option<ResourceList<'a>>,
    /// `status.resources`.
    pub pod_actual: Option<PodActual<'a>>,
    /// Whether the first condition of type `PodResizePending` has the reason `Infeasible`.
    pub resize_infeasible: bool,
}

/// A container of the spec.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Container<'a> {
    /// `name`, by which the status of the container is found.
    pub name: Cow<'a, str>,
    /// `resources.requests`.
    pub requests: ResourceList<'a>,
    /// `restartPolicy: Always`, which makes an init container a sidecar.
    pub restart_always: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerStatus<'a> {
    /// `name`.
    pub name: Cow<'a, str>,
    /// `allocatedResources`.
    pub allocated: Option<ResourceList<'a>>,
    /// `resources.requests`.
    pub actual: Option<ResourceList<'a>>,
}

/// `status.resources` of a pod, written by the kubelet. Its presence changes the sum, even without requests in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PodActual<'a> {
    /// `status.resources.requests`.
    pub requests: Option<ResourceList<'a>>,
}

/// The requests of a pod, one sum for each use in kube-scheduler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PodRequests {
    /// What must be free on a node for this pod to be scheduled there: from the spec alone. `pods` is one.
    pub incoming: Resources,
    /// What the pod uses on its node, if that differs from `incoming`: it is being resized.
    resized: Option<Box<Resources>>,
    /// The sum over the containers, if it differs from `incoming` because of pod-level requests.
    of_containers: Option<Box<Resources>>,
    /// What the scores that use defaults add for a pod that is being scheduled; see [`PodRequests::scored`].
    pub non_zero_incoming: NonZeroRequests,
    /// What the scores that use defaults count for a pod on its node.
    pub non_zero_counted: NonZeroRequests,
}

impl PodRequests {
    /// Puts the four sums together.
    pub fn new(
        incoming: Resources,
        counted: Resources,
        non_zero_incoming: NonZeroRequests,
        non_zero_counted: NonZeroRequests,
    ) -> Self {
        let resized = (counted != incoming).then(|| Box::new(counted));
        Self { incoming, resized, of_containers: None, non_zero_incoming, non_zero_counted }
    }

    /// Adds the sum over the containers. Its cpu and memory are ignored: `non_zero_incoming` has these.
    #[must_use]
    pub fn with_containers(mut self, mut sum: Resources) -> Self {
        (sum.cpu, sum.memory) = (self.incoming.cpu, self.incoming.memory);
        self.of_containers = (sum != self.incoming).then(|| Box::new(sum));
        self
    }

    /// How much of `resource` the least- and most-allocated scores add for a pod that is being scheduled. Pod-level requests and
    /// `pods` do not count here.
    pub fn scored(&self, resource: &ResourceName) -> i64 {
        match resource {
            ResourceName::Cpu => self.non_zero_incoming.cpu,
            ResourceName::Memory => self.non_zero_incoming.memory,
            ResourceName::Pods => 0,
            other => self.of_containers.as_deref().unwrap_or(&self.incoming).get(other),
        }
    }

    /// What the pod uses on its node, resizes included. `pods` is one. The balanced-allocation score uses this sum also for a pod
    /// that is being scheduled.
    pub fn counted(&self) -> &Resources {
        self.resized.as_deref().unwrap_or(&self.incoming)
    }
}

/// Requests with defaults for containers that request no cpu or no memory (kube-scheduler's non-zero requests).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct NonZeroRequests {
    /// In milli.
    pub cpu: i64,
    /// In bytes.
    pub memory: i64,
}

impl NonZeroRequests {
    /// Whether an amount is at a limit of `i64`, so that the sum may have saturated.
    pub fn is_saturated(self) -> bool {
        [self.cpu, self.memory].iter().any(|amount| [i64::MIN, i64::MAX].contains(amount))
    }
}

/// A quantity of a pod that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read {path}")]
pub struct RequestError {
    path: String,
    source: QuantityError,
}

impl RequestError {
    /// The place in the pod: `spec.containers[1].resources.requests["cpu"]`.
    pub fn path(&self) -> &str {
        &self.path
    }

    pub fn quantity(&self) -> &QuantityError {
        &self.source
    }
}

/// Sums the requests of a pod.
///
/// # Errors
/// If a quantity that matters is invalid. The API server does not store such a pod, so this is a broken server or a bug.
pub fn pod_requests(sources: &Sources<'_>) -> Result<PodRequests, RequestError> {
    let pod = PodQuantities::read(sources)?;
    let incoming = pod.incoming(Defaults::NONE);
    let counted = pod.counted(Defaults::NONE);
    let non_zero_incoming = pod.incoming_without_pod_level(Defaults::ALL);
    let non_zero_counted = match pod.defaults_given(&counted) {
        Defaults::NONE => counted.non_zero(),
        defaults => pod.counted(defaults).non_zero(),
    };
    // The filter never requires less than zero. In the count a negative request is kept, and makes room.
    let incoming = incoming.resources().max_each(&Resources::default());
    let of_containers = non_zero_incoming.resources();
    let requests =
        PodRequests::new(incoming, counted.resources(), non_zero_incoming.non_zero(), non_zero_counted);
    Ok(requests.with_containers(of_containers))
}

impl Quantities<'_> {
    /// The quantities in the scheduler's units. `pods` is one, even if the pod requests another number.
    fn resources(&self) -> Resources {
        let mut resources = Resources::default();
        for (name, quantity) in self.iter() {
            resources.add_quantity(name, quantity);
        }
        resources.pods = 1;
        resources
    }

    fn non_zero(&self) -> NonZeroRequests {
        let request = |name| self.get(name).unwrap_or(Quantity::ZERO);
        NonZeroRequests { cpu: request("cpu").milli_value(), memory: request("memory").value() }
    }
}

impl<'a> Quantities<'a> {
    /// Parses a list. `path` returns its place in the pod, and is called only if a quantity is invalid.
    fn read(list: &'a ResourceList<'_>, path: impl Fn() -> String) -> Result<Self, RequestError> {
        let mut quantities = Self::default();
        for (name, text) in &list.0 {
            let quantity = Quantity::parse(text).map_err(|source| RequestError {
                path: format!("{}[\"{}\"]", path(), excerpt(name, 40)),
                source,
            })?;
            quantities.set(name, quantity);
        }
        Ok(quantities)
    }
}

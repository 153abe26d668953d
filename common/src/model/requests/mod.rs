//! What a pod asks for, summed as kube-scheduler 1.37 sums it.
//!
//! Four answers, because kube-scheduler asks four questions: see [`PodRequests`]. The rules:
//!
//! - Containers run together and are added. Init containers run one after another before them, each on top of
//!   the sidecars (init containers that keep running) started earlier; the pod needs the larger of the two
//!   phases.
//! - Pod-level requests for cpu, memory and huge pages replace what the containers add up to.
//! - Overhead comes on top, always.
//! - A pod on a node may be half-way through a resize. It counts with the largest of what its spec wants,
//!   what the kubelet has allocated and what the containers really have; a resize that cannot happen there
//!   wants nothing.
//! - For scores only, a container that does not mention cpu or memory counts as if it wanted a little.
//!
//! Sums are exact and rounded up once, at the end: two containers of `0.5m` make `1m`.
//!
//! Knows nothing of: JSON, limits (the API server has already turned them into requests), claims of dynamic
//! resources (counted with a feature gate that is off).

mod asks;
mod sum;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod vectors;

use std::borrow::Cow;

use super::excerpt::excerpt;
use super::quantity::{Quantity, QuantityError};
use super::resources::{ResourceName, Resources};
use asks::Asks;
use sum::{Defaults, Pod};

/// Resource names and quantities as the API writes them. If a name is repeated, the last one counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceList<'a>(pub Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> FromIterator<(&'a str, &'a str)> for ResourceList<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(entries: I) -> Self {
        Self(entries.into_iter().map(|(name, text)| (name.into(), text.into())).collect())
    }
}

/// The parts of a pod that decide what it asks for. Where a field is an `Option`, `None` is a missing or null
/// field, which does not mean the same as an empty one.
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
    /// The first condition of type `PodResizePending` has the reason `Infeasible`.
    pub resize_infeasible: bool,
}

/// A container of the spec.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Container<'a> {
    /// `name`, by which its status is found.
    pub name: Cow<'a, str>,
    /// `resources.requests`.
    pub requests: ResourceList<'a>,
    /// `restartPolicy: Always`, which makes an init container a sidecar.
    pub restart_always: bool,
}

/// What the kubelet says about a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerStatus<'a> {
    /// `name`.
    pub name: Cow<'a, str>,
    /// `allocatedResources`.
    pub allocated: Option<ResourceList<'a>>,
    /// `resources.requests`.
    pub actual: Option<ResourceList<'a>>,
}

/// What the kubelet says about the pod as a whole. That `status.resources` is there already changes the sum,
/// also when it has no requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PodActual<'a> {
    /// `status.resources.requests`.
    pub requests: Option<ResourceList<'a>>,
}

/// What a pod asks for, once for each question of kube-scheduler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct PodRequests {
    /// What the filter wants free on a node for this pod to come: from the spec alone. One of `pods`.
    pub incoming: Resources,
    /// What the pod takes away where it is, when that is something else: it is being resized.
    resized: Option<Box<Resources>>,
    /// What the containers ask for, when the pod as a whole asks for something else than them.
    of_containers: Option<Box<Resources>>,
    /// What those of the scores that see a little of everything add for a pod to come; see [`PodRequests::scored`].
    pub non_zero_incoming: NonZero,
    /// What those scores see taken by a pod where it is.
    pub non_zero_counted: NonZero,
}

impl PodRequests {
    /// Puts the four answers together.
    pub fn new(
        incoming: Resources,
        counted: Resources,
        non_zero_incoming: NonZero,
        non_zero_counted: NonZero,
    ) -> Self {
        let resized = (counted != incoming).then(|| Box::new(counted));
        Self { incoming, resized, of_containers: None, non_zero_incoming, non_zero_counted }
    }

    /// The same for a pod whose containers ask for this; of cpu and memory the non-zero amounts say so already.
    #[must_use]
    pub fn with_containers(mut self, mut asks: Resources) -> Self {
        (asks.cpu, asks.memory) = (self.incoming.cpu, self.incoming.memory);
        self.of_containers = (asks != self.incoming).then(|| Box::new(asks));
        self
    }

    /// What the least- and most-allocated scores add of `resource` for a pod to come. Pod-level requests do not count
    /// here, and slots for pods neither.
    pub fn scored(&self, resource: &ResourceName) -> i64 {
        match resource {
            ResourceName::Cpu => self.non_zero_incoming.cpu,
            ResourceName::Memory => self.non_zero_incoming.memory,
            ResourceName::Pods => 0,
            other => self.of_containers.as_deref().unwrap_or(&self.incoming).get(other),
        }
    }

    /// What the pod takes away where it is: resizes included. One of `pods`. The balanced-allocation score uses
    /// this one also for a pod that is still to come.
    pub fn counted(&self) -> &Resources {
        self.resized.as_deref().unwrap_or(&self.incoming)
    }
}

/// Requests with a little of everything for containers that ask for nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct NonZero {
    /// In milli.
    pub cpu: i64,
    /// In bytes.
    pub memory: i64,
}

impl NonZero {
    /// Whether a sum may have lost something on the way.
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
    /// Where it stands: `spec.containers[1].resources.requests["cpu"]`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong with it, an excerpt included.
    pub fn quantity(&self) -> &QuantityError {
        &self.source
    }
}

/// Sums up what a pod asks for.
///
/// # Errors When a quantity that matters is not one. The API server lets none through, so this is a broken
/// server or a bug.
pub fn pod_requests(sources: &Sources<'_>) -> Result<PodRequests, RequestError> {
    let pod = Pod::read(sources)?;
    let incoming = pod.incoming(Defaults::NONE);
    let counted = pod.counted(Defaults::NONE);
    let non_zero_incoming = pod.incoming_without_pod_level(Defaults::ALL);
    let non_zero_counted = match pod.defaults_given(&counted) {
        Defaults::NONE => counted.non_zero(),
        defaults => pod.counted(defaults).non_zero(),
    };
    // The filter never asks for less than nothing; the count would give room back.
    let incoming = incoming.resources().max_each(&Resources::default());
    let of_containers = non_zero_incoming.resources();
    let requests =
        PodRequests::new(incoming, counted.resources(), non_zero_incoming.non_zero(), non_zero_counted);
    Ok(requests.with_containers(of_containers))
}

impl Asks<'_> {
    /// In the scheduler's units. A pod is one pod, whatever it says.
    fn resources(&self) -> Resources {
        let mut resources = Resources::default();
        for (name, quantity) in self.iter() {
            resources.add_quantity(name, quantity);
        }
        resources.pods = 1;
        resources
    }

    fn non_zero(&self) -> NonZero {
        let ask = |name| self.get(name).unwrap_or(Quantity::ZERO);
        NonZero { cpu: ask("cpu").milli_value(), memory: ask("memory").value() }
    }
}

impl<'a> Asks<'a> {
    /// Reads a list; `path` says where it stands, and is asked only when something is wrong.
    fn read(list: &'a ResourceList<'_>, path: impl Fn() -> String) -> Result<Self, RequestError> {
        let mut asks = Self::default();
        for (name, text) in &list.0 {
            let quantity = Quantity::parse(text).map_err(|source| RequestError {
                path: format!("{}[\"{}\"]", path(), excerpt(name, 40)),
                source,
            })?;
            asks.set(name, quantity);
        }
        Ok(asks)
    }
}

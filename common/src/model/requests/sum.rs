//! The sums of requests, over parsed quantities. [`PodQuantities::read`] parses, the other methods sum.

use super::quantities::Quantities;
use super::{Container, ContainerStatus, RequestError, Sources};
use crate::model::quantity::Quantity;

pub(super) struct PodQuantities<'a> {
    containers: Vec<ContainerRequests<'a>>,
    init_containers: Vec<ContainerRequests<'a>>,
    overhead: Quantities<'a>,
    /// `None` also if no resource in it can be requested on pod level.
    pod_level: Option<Quantities<'a>>,
    allocated: Option<Quantities<'a>>,
    /// The outer `Option` is `status.resources`, the inner one its `requests`.
    actual: Option<Option<Quantities<'a>>>,
    infeasible: bool,
}

/// The parsed quantities of a container: requested, allocated and actual.
struct ContainerRequests<'a> {
    spec: Quantities<'a>,
    allocated: Option<Quantities<'a>>,
    actual: Option<Quantities<'a>>,
    sidecar: bool,
}

/// Which of the three quantities of a [`ContainerRequests`] is summed.
#[derive(Clone, Copy)]
enum View {
    Spec,
    Allocated,
    Actual,
}

/// For which resources a container without a request counts with kube-scheduler's small default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Defaults {
    cpu: bool,
    memory: bool,
}

impl Defaults {
    pub(super) const NONE: Self = Self { cpu: false, memory: false };
    pub(super) const ALL: Self = Self { cpu: true, memory: true };

    const CPU: Quantity = Quantity::from_milli(100);
    const MEMORY: Quantity = Quantity::from_units(200 * 1024 * 1024);

    fn fill(self, requests: &mut Quantities<'_>) {
        if self.cpu && requests.get("cpu").is_none() {
            requests.set("cpu", Self::CPU);
        }
        if self.memory && requests.get("memory").is_none() {
            requests.set("memory", Self::MEMORY);
        }
    }
}

impl<'a> PodQuantities<'a> {
    pub(super) fn read(sources: &'a Sources<'_>) -> Result<Self, RequestError> {
        let optional = |list, path: &str| match list {
            Some(list) => Quantities::read(list, || path.to_owned()).map(Some),
            None => Ok(None),
        };
        let pod_level = optional(sources.pod_level.as_ref(), "spec.resources.requests")?;
        let actual = match &sources.pod_actual {
            Some(actual) => Some(optional(actual.requests.as_ref(), "status.resources.requests")?),
            None => None,
        };
        Ok(Self {
            containers: ContainerRequests::read_all(&sources.containers, "containers", sources)?,
            init_containers: ContainerRequests::read_all(
                &sources.init_containers,
                "initContainers",
                sources,
            )?,
            overhead: Quantities::read(&sources.overhead, || "spec.overhead".to_owned())?,
            pod_level: pod_level.filter(|requests| requests.iter().any(|(name, _)| is_pod_level_name(name))),
            allocated: optional(sources.pod_allocated.as_ref(), "status.allocatedResources")?,
            actual,
            infeasible: sources.resize_infeasible,
        })
    }

    pub(super) fn incoming(&self, defaults: Defaults) -> Quantities<'a> {
        let mut total = self.aggregate(View::Spec, defaults);
        if let Some(pod_level) = &self.pod_level {
            replace_pod_level(&mut total, pod_level);
        }
        total.add(&self.overhead);
        total
    }

    /// The sum over the spec, without pod-level requests.
    pub(super) fn incoming_without_pod_level(&self, defaults: Defaults) -> Quantities<'a> {
        let mut total = self.aggregate(View::Spec, defaults);
        total.add(&self.overhead);
        total
    }

    /// The sum over spec and status.
    pub(super) fn counted(&self, defaults: Defaults) -> Quantities<'a> {
        if self.has_no_status() {
            return self.incoming(defaults);
        }
        let mut total = self.counted_containers(defaults);
        if let Some(pod_level) = &self.pod_level {
            replace_pod_level(&mut total, &self.counted_pod_level(pod_level));
        }
        total.add(&self.overhead);
        total
    }

    /// Which defaults apply to a pod on a node whose sum without defaults is `total`.
    pub(super) fn defaults_given(&self, total: &Quantities<'_>) -> Defaults {
        match self.pod_level {
            None => Defaults::ALL,
            Some(_) => Defaults { cpu: total.get("cpu").is_none(), memory: total.get("memory").is_none() },
        }
    }

    /// Whether the status has nothing that could change a sum, so that the sum over the spec is enough.
    fn has_no_status(&self) -> bool {
        let has_none =
            |container: &ContainerRequests<'_>| container.allocated.is_none() && container.actual.is_none();
        !self.infeasible
            && self.allocated.is_none()
            && self.actual.is_none()
            && self.containers.iter().chain(&self.init_containers).all(has_none)
    }

    fn counted_containers(&self, defaults: Defaults) -> Quantities<'a> {
        let mut total = match self.infeasible {
            true => Quantities::default(),
            false => self.aggregate(View::Spec, defaults),
        };
        match (&self.allocated, &self.actual) {
            // The kubelet has already summed over the containers.
            (Some(allocated), Some(Some(actual))) => {
                total.raise(actual);
                total.raise(allocated);
            }
            _ => {
                total.raise(&self.aggregate(View::Actual, defaults));
                total.raise(&self.aggregate(View::Allocated, defaults));
            }
        }
        total
    }

    fn counted_pod_level(&self, spec: &Quantities<'a>) -> Quantities<'a> {
        let Some(actual) = &self.actual else { return spec.clone() };
        let mut total = if self.infeasible { Quantities::default() } else { spec.clone() };
        for status in [actual, &self.allocated].into_iter().flatten() {
            total.raise(status);
        }
        total
    }

    /// The maximum of the sum over all containers and the needs of each init container with the sidecars before it.
    fn aggregate(&self, view: View, defaults: Defaults) -> Quantities<'a> {
        let requests_of = |container: &ContainerRequests<'a>| {
            let mut requests = container.get(view, self.infeasible).cloned().unwrap_or_default();
            defaults.fill(&mut requests);
            requests
        };
        let mut total = Quantities::default();
        for container in &self.containers {
            total.add(&requests_of(container));
        }
        let mut sidecars = Quantities::default();
        let mut most = Quantities::default();
        for container in &self.init_containers {
            let mut requests = requests_of(container);
            if container.sidecar {
                total.add(&requests);
                sidecars.add(&requests);
                most.raise(&sidecars);
            } else {
                requests.add(&sidecars);
                most.raise(&requests);
            }
        }
        total.raise(&most);
        total
    }
}

impl<'a> ContainerRequests<'a> {
    fn read_all(
        containers: &'a [Container<'_>],
        field: &str,
        sources: &'a Sources<'_>,
    ) -> Result<Vec<Self>, RequestError> {
        let read =
            |(index, container)| Self::read(container, &format_args!("spec.{field}[{index}]"), sources);
        containers.iter().enumerate().map(read).collect()
    }

    fn read(
        container: &'a Container<'_>,
        path: &dyn std::fmt::Display,
        sources: &'a Sources<'_>,
    ) -> Result<Self, RequestError> {
        let mut requests = Self {
            spec: Quantities::read(&container.requests, || format!("{path}.resources.requests"))?,
            allocated: None,
            actual: None,
            sidecar: container.restart_always,
        };
        if let Some((status, path)) = find_status(sources, &container.name) {
            if let Some(allocated) = &status.allocated {
                requests.allocated =
                    Some(Quantities::read(allocated, || format!("{}.allocatedResources", path()))?);
            }
            if let Some(actual) = &status.actual {
                requests.actual =
                    Some(Quantities::read(actual, || format!("{}.resources.requests", path()))?);
            }
        }
        Ok(requests)
    }

    /// The quantities of `view`. Missing actual quantities fall back to the allocated ones, and missing allocated ones to the spec,
    /// unless the resize is `infeasible`.
    fn get(&self, view: View, infeasible: bool) -> Option<&Quantities<'a>> {
        let feasible_spec = (!infeasible).then_some(&self.spec);
        match view {
            View::Spec => Some(&self.spec),
            View::Allocated => self.allocated.as_ref().or(feasible_spec),
            View::Actual => self.actual.as_ref().or(self.allocated.as_ref()).or(feasible_spec),
        }
    }
}

/// The status of the container called `name`, and a function that returns its place in the pod. Both lists of statuses are searched
/// for containers and for init containers, as in kube-scheduler.
fn find_status<'s>(
    sources: &'s Sources<'_>,
    name: &str,
) -> Option<(&'s ContainerStatus<'s>, impl Fn() -> String)> {
    let containers = sources.container_statuses.iter().enumerate().map(|entry| ("containerStatuses", entry));
    let init =
        sources.init_container_statuses.iter().enumerate().map(|entry| ("initContainerStatuses", entry));
    let (field, (index, status)) = containers.chain(init).find(|(_, (_, status))| status.name == name)?;
    Some((status, move || format!("status.{field}[{index}]")))
}

fn is_pod_level_name(name: &str) -> bool {
    name == "cpu" || name == "memory" || name.starts_with("hugepages-")
}

fn replace_pod_level<'a>(total: &mut Quantities<'a>, pod_level: &Quantities<'a>) {
    for (name, quantity) in pod_level.iter().filter(|(name, _)| is_pod_level_name(name)) {
        total.set(name, quantity);
    }
}

//! The sums themselves, over quantities that have been read.

use super::asks::Asks;
use super::{Container, ContainerStatus, RequestError, Sources};
use crate::model::quantity::Quantity;

/// A pod whose quantities have been read.
pub(super) struct Pod<'a> {
    containers: Vec<Asked<'a>>,
    init_containers: Vec<Asked<'a>>,
    overhead: Asks<'a>,
    /// Only if there is something in it that can be asked for on pod level.
    pod_level: Option<Asks<'a>>,
    allocated: Option<Asks<'a>>,
    /// `status.resources`, and in it the requests.
    actual: Option<Option<Asks<'a>>>,
    infeasible: bool,
}

/// A container: what it asks for, has been allotted, and has.
struct Asked<'a> {
    spec: Asks<'a>,
    allocated: Option<Asks<'a>>,
    actual: Option<Asks<'a>>,
    sidecar: bool,
}

/// One of the three.
#[derive(Clone, Copy)]
enum View {
    Spec,
    Allocated,
    Actual,
}

/// Which resources a container that does not mention them is taken to want a little of.
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

    fn fill(self, asks: &mut Asks<'_>) {
        if self.cpu && asks.get("cpu").is_none() {
            asks.set("cpu", Self::CPU);
        }
        if self.memory && asks.get("memory").is_none() {
            asks.set("memory", Self::MEMORY);
        }
    }
}

impl<'a> Pod<'a> {
    pub(super) fn read(sources: &'a Sources<'_>) -> Result<Self, RequestError> {
        let optional = |list, path: &str| match list {
            Some(list) => Asks::read(list, || path.to_owned()).map(Some),
            None => Ok(None),
        };
        let pod_level = optional(sources.pod_level.as_ref(), "spec.resources.requests")?;
        let actual = match &sources.pod_actual {
            Some(actual) => Some(optional(actual.requests.as_ref(), "status.resources.requests")?),
            None => None,
        };
        Ok(Self {
            containers: Asked::read_all(&sources.containers, "containers", sources)?,
            init_containers: Asked::read_all(&sources.init_containers, "initContainers", sources)?,
            overhead: Asks::read(&sources.overhead, || "spec.overhead".to_owned())?,
            pod_level: pod_level.filter(|asks| asks.iter().any(|(name, _)| is_pod_level_name(name))),
            allocated: optional(sources.pod_allocated.as_ref(), "status.allocatedResources")?,
            actual,
            infeasible: sources.resize_infeasible,
        })
    }

    /// From the spec.
    pub(super) fn incoming(&self, defaults: Defaults) -> Asks<'a> {
        let mut total = self.aggregate(View::Spec, defaults);
        if let Some(pod_level) = &self.pod_level {
            replace_pod_level(&mut total, pod_level);
        }
        total.add(&self.overhead);
        total
    }

    /// From the containers of the spec, whatever the pod as a whole asks for.
    pub(super) fn incoming_without_pod_level(&self, defaults: Defaults) -> Asks<'a> {
        let mut total = self.aggregate(View::Spec, defaults);
        total.add(&self.overhead);
        total
    }

    /// From spec and status.
    pub(super) fn counted(&self, defaults: Defaults) -> Asks<'a> {
        if self.is_settled() {
            return self.incoming(defaults);
        }
        let mut total = self.counted_containers(defaults);
        if let Some(pod_level) = &self.pod_level {
            replace_pod_level(&mut total, &self.counted_pod_level(pod_level));
        }
        total.add(&self.overhead);
        total
    }

    /// Which defaults apply to a pod on a node that asks for `total` without them.
    pub(super) fn defaults_given(&self, total: &Asks<'_>) -> Defaults {
        match self.pod_level {
            None => Defaults::ALL,
            Some(_) => Defaults { cpu: total.get("cpu").is_none(), memory: total.get("memory").is_none() },
        }
    }

    /// The status says nothing that could change a sum, so that the spec's need not be made twice.
    fn is_settled(&self) -> bool {
        let silent = |container: &Asked<'_>| container.allocated.is_none() && container.actual.is_none();
        !self.infeasible
            && self.allocated.is_none()
            && self.actual.is_none()
            && self.containers.iter().chain(&self.init_containers).all(silent)
    }

    fn counted_containers(&self, defaults: Defaults) -> Asks<'a> {
        let mut total = match self.infeasible {
            true => Asks::default(),
            false => self.aggregate(View::Spec, defaults),
        };
        match (&self.allocated, &self.actual) {
            // The kubelet has summed up already.
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

    fn counted_pod_level(&self, spec: &Asks<'a>) -> Asks<'a> {
        let Some(actual) = &self.actual else { return spec.clone() };
        let mut total = if self.infeasible { Asks::default() } else { spec.clone() };
        for status in [actual, &self.allocated].into_iter().flatten() {
            total.raise(status);
        }
        total
    }

    /// Containers together, or the most demanding moment before them.
    fn aggregate(&self, view: View, defaults: Defaults) -> Asks<'a> {
        let asked = |container: &Asked<'a>| {
            let mut asks = container.seen(view, self.infeasible).cloned().unwrap_or_default();
            defaults.fill(&mut asks);
            asks
        };
        let mut total = Asks::default();
        for container in &self.containers {
            total.add(&asked(container));
        }
        let mut sidecars = Asks::default();
        let mut most = Asks::default();
        for container in &self.init_containers {
            let mut asks = asked(container);
            if container.sidecar {
                total.add(&asks);
                sidecars.add(&asks);
                most.raise(&sidecars);
            } else {
                asks.add(&sidecars);
                most.raise(&asks);
            }
        }
        total.raise(&most);
        total
    }
}

impl<'a> Asked<'a> {
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
        let mut asked = Self {
            spec: Asks::read(&container.requests, || format!("{path}.resources.requests"))?,
            allocated: None,
            actual: None,
            sidecar: container.restart_always,
        };
        if let Some((status, path)) = find_status(sources, &container.name) {
            if let Some(allocated) = &status.allocated {
                asked.allocated = Some(Asks::read(allocated, || format!("{}.allocatedResources", path()))?);
            }
            if let Some(actual) = &status.actual {
                asked.actual = Some(Asks::read(actual, || format!("{}.resources.requests", path()))?);
            }
        }
        Ok(asked)
    }

    /// What is not there falls back to the one before, but not to a spec that is known to be impossible.
    fn seen(&self, view: View, infeasible: bool) -> Option<&Asks<'a>> {
        let wanted = (!infeasible).then_some(&self.spec);
        match view {
            View::Spec => Some(&self.spec),
            View::Allocated => self.allocated.as_ref().or(wanted),
            View::Actual => self.actual.as_ref().or(self.allocated.as_ref()).or(wanted),
        }
    }
}

/// The status of a container, and a way to say where it stands. Both kinds are searched for either kind, as
/// upstream.
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

fn replace_pod_level<'a>(total: &mut Asks<'a>, pod_level: &Asks<'a>) {
    for (name, quantity) in pod_level.iter().filter(|(name, _)| is_pod_level_name(name)) {
        total.set(name, quantity);
    }
}

//! The parts of a pod's JSON that say what it asks for, handed to the model to be summed.

use super::containers::{EnvWire, MountWire, PortWire, RuleWire};
use super::{Spec, Status, condition};
use crate::api::meta::{List, Pairs, Str};
use crate::model::requests::{
    Container, ContainerStatus, NonZero, PodActual, PodRequests, RequestError, ResourceList, Sources,
    pod_requests,
};
use crate::model::resources::Resources;
use serde::Deserialize;
use std::borrow::Cow;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ContainerWire<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    resources: Option<ResourcesWire<'a>>,
    #[serde(borrow)]
    restart_policy: Option<Str<'a>>,
    // What else it asks for; containers.rs reads it.
    #[serde(borrow)]
    pub(super) image: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) env: List<EnvWire<'a>>,
    #[serde(borrow)]
    pub(super) ports: List<PortWire<'a>>,
    #[serde(borrow)]
    pub(super) restart_policy_rules: List<RuleWire<'a>>,
    pub(super) volume_mounts: List<MountWire>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ResourcesWire<'a> {
    #[serde(borrow)]
    requests: Option<Pairs<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ContainerStatusWire<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    allocated_resources: Option<Pairs<'a>>,
    #[serde(borrow)]
    resources: Option<ResourcesWire<'a>>,
}

/// Sums up what a pod asks for, taking the lists out of the decoded JSON.
pub(super) fn requests(spec: &mut Spec<'_>, status: &mut Status<'_>) -> Result<PodRequests, RequestError> {
    let resize_infeasible = condition(status, "PodResizePending")
        .and_then(|condition| condition.reason.as_ref())
        .is_some_and(|reason| reason.0 == "Infeasible");
    pod_requests(&Sources {
        containers: containers(spec.containers.take()),
        init_containers: containers(spec.init_containers.take()),
        overhead: spec.overhead.take().map(list).unwrap_or_default(),
        pod_level: spec.resources.take().and_then(|resources| resources.requests).map(list),
        container_statuses: statuses(status.container_statuses.take()),
        init_container_statuses: statuses(status.init_container_statuses.take()),
        pod_allocated: status.allocated_resources.take().map(list),
        pod_actual: status
            .resources
            .take()
            .map(|resources| PodActual { requests: resources.requests.map(list) }),
        resize_infeasible,
    })
}

/// What a pod counts as whose requests cannot be read: nothing fits beside it, and it fits nowhere.
pub(super) fn everything() -> PodRequests {
    let mut all = Resources::default();
    (all.cpu, all.memory, all.pods) = (i64::MAX, i64::MAX, 1);
    let most = NonZero { cpu: i64::MAX, memory: i64::MAX };
    PodRequests::new(all.clone(), all, most, most)
}

impl ContainerWire<'_> {
    /// Whether it runs as long as the pod does although it is an init container.
    pub(super) fn restarts_always(&self) -> bool {
        self.restart_policy.as_ref().is_some_and(|policy| policy.0 == "Always")
    }
}

fn containers<'a>(wires: Option<Vec<ContainerWire<'a>>>) -> Vec<Container<'a>> {
    let container = |wire: ContainerWire<'a>| Container {
        restart_always: wire.restarts_always(),
        name: wire.name,
        requests: wire.resources.and_then(|resources| resources.requests).map(list).unwrap_or_default(),
    };
    wires.unwrap_or_default().into_iter().map(container).collect()
}

fn statuses<'a>(wires: Option<Vec<ContainerStatusWire<'a>>>) -> Vec<ContainerStatus<'a>> {
    let status = |wire: ContainerStatusWire<'a>| ContainerStatus {
        name: wire.name,
        allocated: wire.allocated_resources.map(list),
        actual: wire.resources.and_then(|resources| resources.requests).map(list),
    };
    wires.unwrap_or_default().into_iter().map(status).collect()
}

fn list(pairs: Pairs<'_>) -> ResourceList<'_> {
    ResourceList(pairs.0)
}

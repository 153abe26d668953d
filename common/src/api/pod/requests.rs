//! Decodes the resource requests of a pod and sums them with [`crate::model::requests`].

use super::containers::{EnvWire, MountWire, PortWire, RuleWire};
use super::{SpecWire, StatusWire, condition};
use crate::api::meta::{NullableList, Pairs, Str};
use crate::model::requests::{
    Container, ContainerStatus, PodActual, RequestError, ResourceList, Sources, pod_requests,
};
use crate::model::{NonZeroRequests, PodRequests, Resources};
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct ContainerWire<'a> {
    name: Str<'a>,
    resources: Option<ResourcesWire<'a>>,
    restart_policy: Option<Str<'a>>,
    // Fields besides requests, which containers.rs reads.
    pub(super) image: Option<Str<'a>>,
    pub(super) env: NullableList<EnvWire<'a>>,
    pub(super) ports: NullableList<PortWire<'a>>,
    pub(super) restart_policy_rules: NullableList<RuleWire<'a>>,
    pub(super) volume_mounts: NullableList<MountWire>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ResourcesWire<'a> {
    requests: Option<Pairs<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub(super) struct ContainerStatusWire<'a> {
    name: Str<'a>,
    allocated_resources: Option<Pairs<'a>>,
    resources: Option<ResourcesWire<'a>>,
}

/// Sums the requests of a pod. Takes the lists out of `spec` and `status`, so that they are not copied.
pub(super) fn requests(
    spec: &mut SpecWire<'_>,
    status: &mut StatusWire<'_>,
) -> Result<PodRequests, RequestError> {
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

/// The requests of a pod whose requests are invalid: no other pod fits beside it, and it fits on no node.
pub(super) fn everything() -> PodRequests {
    let mut all = Resources::default();
    (all.cpu, all.memory, all.pods) = (i64::MAX, i64::MAX, 1);
    let most = NonZeroRequests { cpu: i64::MAX, memory: i64::MAX };
    PodRequests::new(all.clone(), all, most, most)
}

impl ContainerWire<'_> {
    /// Whether an init container is a sidecar, which runs as long as the pod.
    pub(super) fn restarts_always(&self) -> bool {
        self.restart_policy.as_ref().is_some_and(|policy| policy.0 == "Always")
    }
}

fn containers<'a>(wires: Option<Vec<ContainerWire<'a>>>) -> Vec<Container<'a>> {
    let container = |wire: ContainerWire<'a>| Container {
        restart_always: wire.restarts_always(),
        name: wire.name.0,
        requests: wire.resources.and_then(|resources| resources.requests).map(list).unwrap_or_default(),
    };
    wires.unwrap_or_default().into_iter().map(container).collect()
}

fn statuses<'a>(wires: Option<Vec<ContainerStatusWire<'a>>>) -> Vec<ContainerStatus<'a>> {
    let status = |wire: ContainerStatusWire<'a>| ContainerStatus {
        name: wire.name.0,
        allocated: wire.allocated_resources.map(list),
        actual: wire.resources.and_then(|resources| resources.requests).map(list),
    };
    wires.unwrap_or_default().into_iter().map(status).collect()
}

fn list(pairs: Pairs<'_>) -> ResourceList<'_> {
    ResourceList(pairs.0)
}

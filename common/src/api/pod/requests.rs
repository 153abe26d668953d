//! The parts of a pod's JSON that say what it asks for, handed to the model to be summed.

use super::features::Used;
use super::{Spec, Status, condition};
use crate::api::meta::{Pairs, Str};
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
    ports: Option<Vec<PortWire>>,
    restart_policy_rules: Option<Vec<RuleWire>>,
    volume_mounts: Option<Vec<MountWire>>,
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

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PortWire {
    host_port: Option<i32>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RuleWire {
    action: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct MountWire {
    bind_mount_options: Used,
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
    /// Whether only nodes that declare so can run it.
    pub(super) fn needs_declared_features(&self) -> bool {
        let is_for_all = |rule: &RuleWire| rule.action.as_deref() == Some("RestartAllContainers");
        self.restart_policy_rules.iter().flatten().any(is_for_all)
            || self.volume_mounts.iter().flatten().any(|mount| mount.bind_mount_options.0)
    }

    /// Whether it wants a port of the node itself.
    pub(super) fn has_host_port(&self) -> bool {
        self.ports.iter().flatten().any(|port| port.host_port.is_some_and(|port| port > 0))
    }
}

fn containers<'a>(wires: Option<Vec<ContainerWire<'a>>>) -> Vec<Container<'a>> {
    let container = |wire: ContainerWire<'a>| Container {
        name: wire.name,
        requests: wire.resources.and_then(|resources| resources.requests).map(list).unwrap_or_default(),
        restart_always: wire.restart_policy.is_some_and(|policy| policy.0 == "Always"),
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

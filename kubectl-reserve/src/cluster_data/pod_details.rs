//! Decodes the status of a pod's containers from the pod's JSON. Entry point: [`detail`].

use super::diagnostics::{ContainerDetail, PodDetail};
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(default)]
struct PodWire {
    status: PodStatusWire,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PodStatusWire {
    reason: String,
    message: String,
    start_time: Option<String>,
    conditions: Vec<ConditionWire>,
    init_container_statuses: Vec<ContainerWire>,
    container_statuses: Vec<ContainerWire>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ConditionWire {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ContainerWire {
    name: String,
    ready: bool,
    state: ContainerState,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ContainerState {
    waiting: Option<WaitingState>,
    running: Option<serde::de::IgnoredAny>,
    terminated: Option<TerminatedState>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WaitingState {
    reason: String,
    message: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct TerminatedState {
    exit_code: i32,
    reason: String,
    message: String,
}

/// The status of the pod and its containers; empty if the JSON cannot be decoded.
pub(super) fn detail(json: &str) -> PodDetail {
    let PodWire { status } = serde_json::from_str(json).unwrap_or_default();
    let of = |is_init: bool| move |container: ContainerWire| container_detail(container, is_init);
    let init = status.init_container_statuses.into_iter().map(of(true));
    let containers = init.chain(status.container_statuses.into_iter().map(of(false))).collect();
    let is_ready = status.conditions.iter().any(|one| one.kind == "Ready" && one.status == "True");
    PodDetail {
        is_ready,
        is_started: status.start_time.is_some(),
        containers,
        reason: status.reason,
        message: status.message,
    }
}

fn container_detail(wire: ContainerWire, is_init: bool) -> ContainerDetail {
    let ContainerState { waiting, running, terminated } = wire.state;
    let (waiting_reason, message) = match (waiting, terminated) {
        (Some(waiting), _) => (waiting.reason, waiting.message),
        (None, Some(ended)) if ended.exit_code != 0 => (ended.reason, ended.message),
        _ => (String::new(), String::new()),
    };
    ContainerDetail {
        name: wire.name,
        is_init,
        is_ready: wire.ready,
        is_running: running.is_some(),
        waiting_reason,
        message,
    }
}

//! What the containers of one pod say, from its JSON.

use super::notes::{ContainerDetail, Detail};
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(default)]
struct PodWire {
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    reason: String,
    message: String,
    start_time: Option<String>,
    conditions: Vec<Condition>,
    init_container_statuses: Vec<Container>,
    container_statuses: Vec<Container>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Container {
    name: String,
    ready: bool,
    state: State,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
    waiting: Option<Waiting>,
    running: Option<serde::de::IgnoredAny>,
    terminated: Option<Terminated>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Waiting {
    reason: String,
    message: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Terminated {
    exit_code: i32,
    reason: String,
    message: String,
}

/// Reads it; what cannot be read says nothing.
pub(super) fn detail(json: &str) -> Detail {
    let PodWire { status } = serde_json::from_str(json).unwrap_or_default();
    let of = |is_init: bool| move |container: Container| one(container, is_init);
    let init = status.init_container_statuses.into_iter().map(of(true));
    let containers = init.chain(status.container_statuses.into_iter().map(of(false))).collect();
    let is_ready = status.conditions.iter().any(|one| one.kind == "Ready" && one.status == "True");
    Detail {
        is_ready,
        is_started: status.start_time.is_some(),
        containers,
        reason: status.reason,
        message: status.message,
    }
}

fn one(wire: Container, is_init: bool) -> ContainerDetail {
    let State { waiting, running, terminated } = wire.state;
    let has_ended_well = terminated.as_ref().is_some_and(|ended| ended.exit_code == 0);
    let (waits, message) = match (waiting, terminated) {
        (Some(waiting), _) => (waiting.reason, waiting.message),
        (None, Some(ended)) if ended.exit_code != 0 => (ended.reason, ended.message),
        _ => (String::new(), String::new()),
    };
    ContainerDetail {
        name: wire.name,
        is_init,
        is_ready: wire.ready,
        is_running: running.is_some(),
        has_ended_well,
        waits,
        message,
    }
}

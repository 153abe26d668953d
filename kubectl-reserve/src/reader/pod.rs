//! Decodes a pod for the verbs: [`PodView`] has what they need besides our model of a pod, [`status`] what `explain` shows of its
//! containers.

use super::Metadata;
use crate::cluster_data::diagnostics::{ContainerDetail, PodDetail};
use common::api::names::KEEP;
use common::api::{self, DecodeError};
use common::model::Pod;
use k8s_openapi::api::core::v1::{ContainerState, ContainerStatus, PodStatus, Volume};
use serde::Deserialize;
use std::ops::Deref;

/// The grace period of a pod whose spec has none. The API server always fills it in.
const GRACE_PERIOD: i64 = 30;

/// A pod, with what no scheduling decision depends on but the verbs do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PodView {
    pub(crate) pod: Pod,
    /// Whether the condition Ready is true.
    pub(crate) is_ready: bool,
    pub(crate) finalizers: Vec<String>,
    /// `spec.terminationGracePeriodSeconds`.
    pub(crate) grace_period: i64,
    /// The names of its emptyDir volumes, whose data is lost with the pod; `NAME (memory)` for those in memory.
    pub(crate) empty_dirs: Vec<String>,
    /// The text of its annotation `reserve/keep`.
    pub(crate) keep_text: Option<String>,
}

impl Deref for PodView {
    type Target = Pod;

    fn deref(&self) -> &Pod {
        &self.pod
    }
}

/// A pod of which nothing else is known, as in a saved snapshot.
impl From<Pod> for PodView {
    fn from(pod: Pod) -> Self {
        let (is_ready, grace_period) = (false, GRACE_PERIOD);
        Self { pod, is_ready, finalizers: vec![], grace_period, empty_dirs: vec![], keep_text: None }
    }
}

impl PodView {
    pub(crate) fn read(json: &str) -> Result<Self, DecodeError> {
        let pod = api::pod::pod(json)?;
        let wire: PodWire =
            serde_json::from_str(json).map_err(|source| DecodeError { kind: "Pod", source })?;
        let empty_dir = |volume: Volume| {
            let is_memory = volume.empty_dir?.medium.as_deref() == Some("Memory");
            Some(if is_memory { format!("{} (memory)", volume.name) } else { volume.name })
        };
        Ok(Self {
            pod,
            is_ready: is_ready(&wire.status),
            finalizers: wire.metadata.finalizers,
            grace_period: wire.spec.termination_grace_period_seconds.unwrap_or(GRACE_PERIOD),
            empty_dirs: wire.spec.volumes.into_iter().flatten().filter_map(empty_dir).collect(),
            keep_text: wire.metadata.annotations.get(KEEP).cloned(),
        })
    }
}

/// The status of a pod and its containers; empty if the JSON cannot be decoded.
pub(crate) fn status(json: &str) -> PodDetail {
    let PodWire { status, .. } = serde_json::from_str(json).unwrap_or_default();
    let is_ready = is_ready(&status);
    let of = |is_init: bool| move |container| container_detail(container, is_init);
    let init = status.init_container_statuses.into_iter().flatten().map(of(true));
    let containers = status.container_statuses.into_iter().flatten().map(of(false));
    PodDetail {
        is_ready,
        is_started: status.start_time.is_some(),
        containers: init.chain(containers).collect(),
        reason: status.reason.unwrap_or_default(),
        message: status.message.unwrap_or_default(),
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PodWire {
    metadata: Metadata,
    spec: SpecWire,
    status: PodStatus,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct SpecWire {
    termination_grace_period_seconds: Option<i64>,
    volumes: Option<Vec<Volume>>,
}

fn is_ready(status: &PodStatus) -> bool {
    status.conditions.iter().flatten().any(|one| one.type_ == "Ready" && one.status == "True")
}

fn container_detail(container: ContainerStatus, is_init: bool) -> ContainerDetail {
    let ContainerState { waiting, running, terminated } = container.state.unwrap_or_default();
    let (waiting_reason, message) = match (waiting, terminated) {
        (Some(waiting), _) => (waiting.reason, waiting.message),
        (None, Some(ended)) if ended.exit_code != 0 => (ended.reason, ended.message),
        _ => (None, None),
    };
    ContainerDetail {
        name: container.name,
        is_init,
        is_ready: container.ready,
        is_running: running.is_some(),
        waiting_reason: waiting_reason.unwrap_or_default(),
        message: message.unwrap_or_default(),
    }
}

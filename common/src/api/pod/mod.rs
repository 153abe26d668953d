//! A pod from API JSON.

mod features;
mod requests;
#[cfg(test)]
mod tests;

use super::DecodeError;
use super::meta::{Meta, Pairs, Str, decode, time};
use super::names;
use crate::model::chain::chain;
use crate::model::ids::{NodeName, PodKey, Text, Uid};
use crate::model::pod::{Phase, Pod, PodSpec, Scheduled};
use crate::model::taint::{Effect, Operator, Toleration};
use features::{AffinityWire, Used, VolumeWire};
use requests::{ContainerStatusWire, ContainerWire, ResourcesWire};
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::Arc;

#[derive(Deserialize)]
struct PodWire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    spec: Option<Spec<'a>>,
    #[serde(borrow, default)]
    status: Option<Status<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec<'a> {
    #[serde(borrow)]
    node_name: Option<Str<'a>>,
    #[serde(borrow)]
    scheduler_name: Option<Str<'a>>,
    priority: Option<i32>,
    #[serde(borrow)]
    tolerations: Option<Vec<TolerationWire<'a>>>,
    // What it asks for; requests.rs puts it together.
    #[serde(borrow)]
    containers: Option<Vec<ContainerWire<'a>>>,
    #[serde(borrow)]
    init_containers: Option<Vec<ContainerWire<'a>>>,
    #[serde(borrow)]
    overhead: Option<Pairs<'a>>,
    #[serde(borrow)]
    resources: Option<ResourcesWire<'a>>,
    // What it uses; features.rs judges it.
    node_selector: Used,
    affinity: Option<AffinityWire>,
    volumes: Option<Vec<VolumeWire>>,
    topology_spread_constraints: Used,
    resource_claims: Used,
    scheduling_gates: Used,
    scheduling_group: Used,
    host_network: Option<bool>,
    host_users: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status<'a> {
    #[serde(borrow)]
    phase: Option<Str<'a>>,
    #[serde(borrow)]
    conditions: Option<Vec<ConditionWire<'a>>>,
    #[serde(borrow)]
    container_statuses: Option<Vec<ContainerStatusWire<'a>>>,
    #[serde(borrow)]
    init_container_statuses: Option<Vec<ContainerStatusWire<'a>>>,
    #[serde(borrow)]
    resources: Option<ResourcesWire<'a>>,
    #[serde(borrow)]
    allocated_resources: Option<Pairs<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ConditionWire<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow)]
    reason: Option<Str<'a>>,
    #[serde(borrow)]
    message: Option<Str<'a>>,
    #[serde(borrow)]
    last_transition_time: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct TolerationWire<'a> {
    #[serde(borrow)]
    key: Option<Str<'a>>,
    #[serde(borrow)]
    operator: Option<Str<'a>>,
    #[serde(borrow)]
    value: Option<Str<'a>>,
    #[serde(borrow)]
    effect: Option<Str<'a>>,
}

/// What can be read of a pod that cannot be read as a whole: which one, and where it is.
#[derive(Deserialize)]
struct StubWire<'a> {
    #[serde(borrow)]
    metadata: Meta<'a>,
    #[serde(borrow, default)]
    spec: StubSpec<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct StubSpec<'a> {
    #[serde(borrow)]
    node_name: Option<Str<'a>>,
    #[serde(borrow)]
    scheduler_name: Option<Str<'a>>,
}

/// Decodes a pod. One that cannot be understood is still somewhere, and must not look like room: it counts as if it
/// filled its node, and says why in `problem`.
pub fn pod(json: &str) -> Result<Pod, DecodeError> {
    match decode("Pod", json) {
        Ok(wire) => Ok(whole(wire)),
        Err(error) => {
            let StubWire { metadata, spec: StubSpec { node_name, scheduler_name } } = decode("Pod", json)?;
            let spec = Spec { node_name, scheduler_name, ..Spec::default() };
            let stub = whole(PodWire { metadata, spec: Some(spec), status: None });
            let problem = Some(chain(&error).into_boxed_str());
            let spec = PodSpec { requests: requests::everything(), ..(*stub.spec).clone() };
            Ok(Pod { spec: Arc::new(spec), problem, ..stub })
        }
    }
}

fn whole(wire: PodWire<'_>) -> Pod {
    let PodWire { metadata, spec, status } = wire;
    let (mut spec, mut status) = (spec.unwrap_or_default(), status.unwrap_or_default());
    let features = features::features(&spec);
    let (requests, problem) = match requests::requests(&mut spec, &mut status) {
        Ok(requests) => (requests, None),
        Err(error) => {
            let problem = format!("{}: {}", error.path(), error.quantity());
            (requests::everything(), Some(problem.into_boxed_str()))
        }
    };
    Pod {
        key: PodKey::new(&*metadata.namespace, &*metadata.name),
        uid: Uid::from(&*metadata.uid),
        resource_version: metadata.version(),
        generation: metadata.generation,
        labels: Arc::new(metadata.labels()),
        spec: Arc::new(PodSpec {
            scheduler_name: text(spec.scheduler_name.as_ref())
                .unwrap_or_else(|| Text::from(names::DEFAULT_SCHEDULER_NAME)),
            priority: spec.priority.unwrap_or(0),
            tolerations: spec.tolerations.iter().flatten().map(toleration).collect(),
            requests,
            features,
        }),
        controller: metadata.controller().map(Arc::new),
        stamp: metadata.annotation(names::SEAT_STAMP),
        created: time(metadata.creation_timestamp.as_ref()),
        deleting: metadata.is_deleting(),
        node: text(spec.node_name.as_ref()).map(NodeName::from),
        nominated: None,
        phase: phase(&status),
        scheduled: condition(&status, "PodScheduled").map(scheduled).map(Box::new),
        problem,
    }
}

/// The text, unless it is empty.
fn text(text: Option<&Str<'_>>) -> Option<Text> {
    text.map(|text| &*text.0).filter(|text| !text.is_empty()).map(Text::from)
}

fn toleration(wire: &TolerationWire<'_>) -> Toleration {
    let or_empty = |field: &Option<Str<'_>>| text(field.as_ref()).unwrap_or_default();
    Toleration {
        key: or_empty(&wire.key),
        operator: match wire.operator.as_ref().map_or("", |operator| &operator.0) {
            "" | "Equal" => Operator::Equal,
            "Exists" => Operator::Exists,
            _ => Operator::Other,
        },
        value: or_empty(&wire.value),
        effect: text(wire.effect.as_ref()).map(|effect| Effect::from_name(&effect)),
    }
}

fn phase(status: &Status<'_>) -> Phase {
    match status.phase.as_ref().map_or("", |phase| &phase.0) {
        "" | "Pending" => Phase::Pending,
        "Succeeded" => Phase::Succeeded,
        "Failed" => Phase::Failed,
        // Running, Unknown, or a word of a newer API: whatever it is, its room is not free.
        _ => Phase::Running,
    }
}

fn condition<'s, 'a>(status: &'s Status<'a>, kind: &str) -> Option<&'s ConditionWire<'a>> {
    status.conditions.iter().flatten().find(|condition| condition.kind == kind)
}

fn scheduled(wire: &ConditionWire<'_>) -> Scheduled {
    Scheduled {
        is_true: wire.status == "True",
        since: time(wire.last_transition_time.as_ref()),
        reason: text(wire.reason.as_ref()).unwrap_or_default(),
        message: text(wire.message.as_ref()).unwrap_or_default(),
    }
}

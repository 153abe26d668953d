//! Decodes a Pod. Entry points: [`pod()`], [`template()`] for a pod template, and [`usage()`] for requests and limits.

mod affinity;
mod containers;
mod features;
mod requests;
mod spread;
mod template;
#[cfg(test)]
mod tests;
mod usage;
mod volumes;

use super::DecodeError;
use super::meta::{Meta, NullableList, ObjectWire, Pairs, Str, decode, moment, or_empty};
use super::names;
use super::object::name;
use crate::model::chain::chain;
use crate::model::pod::{RareFields, ScheduledCondition, UnscheduledCondition};
use crate::model::taint::TolerationOperator;
use crate::model::{
    Features, NodeName, Phase, Pod, PodKey, PodRequests, PodSpec, TaintEffect, Text, Toleration, Uid,
};
use affinity::AffinityWire;
use features::NonEmpty;
use requests::{ContainerStatusWire, ContainerWire, ResourcesWire};
use serde::Deserialize;
use spread::SpreadWire;
use std::sync::Arc;
use volumes::VolumeWire;

pub use template::{request_limits, template};
pub use usage::{PodUsage, usage};

type PodWire<'a> = ObjectWire<'a, SpecWire<'a>, StatusWire<'a>>;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct SpecWire<'a> {
    node_name: Option<Str<'a>>,
    scheduler_name: Option<Str<'a>>,
    priority: Option<i32>,
    tolerations: Option<Vec<TolerationWire<'a>>>,
    // The fields of requests; requests.rs sums them.
    containers: Option<Vec<ContainerWire<'a>>>,
    init_containers: Option<Vec<ContainerWire<'a>>>,
    overhead: Option<Pairs<'a>>,
    resources: Option<ResourcesWire<'a>>,
    preemption_policy: Option<Str<'a>>,
    node_selector: Option<Pairs<'a>>,
    affinity: Option<AffinityWire<'a>>,
    volumes: NullableList<VolumeWire>,
    topology_spread_constraints: NullableList<SpreadWire<'a>>,
    scheduling_gates: NullableList<GateWire<'a>>,
    resource_claims: NonEmpty,
    scheduling_group: NonEmpty,
    host_network: Option<bool>,
    host_users: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct GateWire<'a> {
    name: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct StatusWire<'a> {
    phase: Option<Str<'a>>,
    start_time: Option<Str<'a>>,
    nominated_node_name: Option<Str<'a>>,
    conditions: Option<Vec<ConditionWire<'a>>>,
    container_statuses: Option<Vec<ContainerStatusWire<'a>>>,
    init_container_statuses: Option<Vec<ContainerStatusWire<'a>>>,
    resources: Option<ResourcesWire<'a>>,
    allocated_resources: Option<Pairs<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct ConditionWire<'a> {
    #[serde(rename = "type")]
    kind: Str<'a>,
    status: Str<'a>,
    reason: Option<Str<'a>>,
    message: Option<Str<'a>>,
    last_transition_time: Option<Str<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct TolerationWire<'a> {
    key: Option<Str<'a>>,
    operator: Option<Str<'a>>,
    value: Option<Str<'a>>,
    effect: Option<Str<'a>>,
}

/// The part of the spec that is read if the whole pod is invalid.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct StubSpec<'a> {
    node_name: Option<Str<'a>>,
    scheduler_name: Option<Str<'a>>,
}

/// Decodes a pod. An invalid pod still uses resources of its node, so it counts as if it filled the node, and has the reason in
/// `problem`.
pub fn pod(json: &str) -> Result<Pod, DecodeError> {
    match decode("Pod", json) {
        Ok(wire) => Ok(whole(wire)),
        Err(error) => {
            let ObjectWire::<StubSpec<'_>> { metadata, spec, .. } = decode("Pod", json)?;
            let StubSpec { node_name, scheduler_name } = spec;
            let spec = SpecWire { node_name, scheduler_name, ..SpecWire::default() };
            let stub = whole(PodWire { metadata, spec, status: StatusWire::default() });
            let problem = Some(chain(&error).into_boxed_str());
            let spec = PodSpec { requests: requests::everything(), ..(*stub.spec).clone() };
            Ok(Pod { spec: Arc::new(spec), problem, ..stub })
        }
    }
}

fn whole(wire: PodWire<'_>) -> Pod {
    let ObjectWire { metadata, mut spec, mut status } = wire;
    let (mut model_spec, spec_problem) = pod_spec(&spec);
    let requests_problem = match requests::requests(&mut spec, &mut status) {
        Ok(requests) => {
            model_spec.requests = requests;
            None
        }
        Err(error) => {
            model_spec.requests = requests::everything();
            Some(format!("{}: {}", error.path(), error.quantity()))
        }
    };
    Pod {
        key: PodKey::new(&*metadata.namespace, &*metadata.name),
        uid: Uid::from(&*metadata.uid),
        resource_version: metadata.version(),
        generation: metadata.generation,
        labels: Arc::new(metadata.labels()),
        spec: Arc::new(model_spec),
        controller: metadata.controller().map(Arc::new),
        stamp: metadata.annotation(names::SEAT_STAMP),
        rare: rare(&metadata).map(Box::new),
        created: moment(metadata.creation_timestamp.as_ref()),
        started: moment(status.start_time.as_ref()),
        deleting: metadata.is_deleting(),
        is_mirror: metadata.has_annotation(names::MIRROR),
        evicted_by_node_pressure: condition(&status, "DisruptionTarget")
            .is_some_and(|wire| is_disruption(wire, "TerminationByKubelet")),
        preempted: condition(&status, "DisruptionTarget")
            .is_some_and(|wire| is_disruption(wire, "PreemptionByScheduler")),
        node: name(spec.node_name.as_ref()).map(NodeName::from),
        nominated_node: name(status.nominated_node_name.as_ref()).map(NodeName::from).map(Box::new),
        phase: phase(&status),
        scheduled: condition(&status, "PodScheduled").map(scheduled),
        problem: requests_problem.or(spec_problem).map(String::into_boxed_str),
    }
}

fn rare(metadata: &Meta<'_>) -> Option<RareFields> {
    let rare = RareFields {
        build_image: metadata.annotation(names::BUILD_IMAGE).filter(|image| !image.is_empty()),
        keep: metadata.keep(),
        deletion_timestamp: moment(metadata.deletion_timestamp.as_ref()),
    };
    (rare != RareFields::default()).then_some(rare)
}

/// The spec without its requests and, if a part of the spec is invalid, the reason. The invalid part is left out: the pod is not
/// scheduled, but if it is already on a node it counts there.
fn pod_spec(wire: &SpecWire<'_>) -> (PodSpec, Option<String>) {
    let mut problem = None;
    let affinity = wire.affinity.as_ref().map_or(Ok(None), AffinityWire::affinity);
    let spread = spread::constraints(&wire.topology_spread_constraints);
    let mut spec = PodSpec {
        scheduler_name: name(wire.scheduler_name.as_ref())
            .unwrap_or_else(|| Text::from(names::DEFAULT_SCHEDULER_NAME)),
        priority: wire.priority.unwrap_or(0),
        preempts: wire.preemption_policy.as_ref().is_none_or(|policy| policy.0 != "Never"),
        tolerations: wire.tolerations.iter().flatten().map(toleration).collect(),
        requests: PodRequests::default(),
        node_selector: wire.node_selector.as_ref().map(Pairs::labels).filter(|labels| !labels.is_empty()),
        affinity: affinity.map_err(|why| problem = Some(why)).unwrap_or_default(),
        spread: spread.map_err(|why| problem = Some(why)).unwrap_or_default(),
        ports: containers::ports(wire),
        volumes: wire.volumes.0.iter().flat_map(VolumeWire::volumes).collect(),
        images: containers::images(wire),
        gates: wire.scheduling_gates.0.iter().map(|gate| or_empty(gate.name.as_ref())).collect(),
        needs: containers::needs(wire),
        claims_devices: wire.resource_claims.0,
        env: containers::env(wire),
        features: Features::default(),
    };
    spec.features = features::features(wire, &spec);
    (spec, problem)
}

fn toleration(wire: &TolerationWire<'_>) -> Toleration {
    let or_empty = |field: &Option<Str<'_>>| name(field.as_ref()).unwrap_or_default();
    Toleration {
        key: or_empty(&wire.key),
        operator: match wire.operator.as_ref().map_or("", |operator| &operator.0) {
            "" | "Equal" => TolerationOperator::Equal,
            "Exists" => TolerationOperator::Exists,
            _ => TolerationOperator::Other,
        },
        value: or_empty(&wire.value),
        effect: name(wire.effect.as_ref()).map(|effect| TaintEffect::from_name(&effect)),
    }
}

fn phase(status: &StatusWire<'_>) -> Phase {
    match status.phase.as_ref().map_or("", |phase| &phase.0) {
        "" | "Pending" => Phase::Pending,
        "Succeeded" => Phase::Succeeded,
        "Failed" => Phase::Failed,
        // Running, Unknown, or a phase of a newer API: the resources of the pod are not free.
        _ => Phase::Running,
    }
}

fn condition<'s, 'a>(status: &'s StatusWire<'a>, kind: &str) -> Option<&'s ConditionWire<'a>> {
    status.conditions.iter().flatten().find(|condition| &*condition.kind == kind)
}

fn scheduled(wire: &ConditionWire<'_>) -> ScheduledCondition {
    let since = moment(wire.last_transition_time.as_ref());
    if &*wire.status == "True" {
        return ScheduledCondition::True { since };
    }
    let (reason, message) = (or_empty(wire.reason.as_ref()), or_empty(wire.message.as_ref()));
    ScheduledCondition::False(Box::new(UnscheduledCondition { since, reason, message }))
}

fn is_disruption(wire: &ConditionWire<'_>, expected: &str) -> bool {
    &*wire.status == "True" && wire.reason.as_ref().is_some_and(|reason| reason.0 == expected)
}

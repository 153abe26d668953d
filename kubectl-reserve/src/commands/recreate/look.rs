//! Reads the cluster after the eviction: the old pod, its node, the reservation, and the pods of the owner. Entry point: `observe`.

use super::executor::Executor;
use super::owners::pod_path;
use super::target::{finalizers, is_ready};
use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::flow::recreate::{NodeObservation, Observation, OldPod, SiblingPod};
use crate::names::escaped;
use common::api;
use common::api::reservation::patch::{keys_of, reservation_of};
use common::model::ReservationId;
use common::model::pod::Phase;
use serde_json::Value;
use std::collections::BTreeMap;

/// A pod, decoded and as the JSON that the server sent.
pub(crate) struct PodWithJson {
    pub(crate) pod: common::model::Pod,
    pub(super) json: Value,
}

impl PodWithJson {
    /// Whether it has an emptyDir volume, whose data is lost with the pod.
    pub(crate) fn has_empty_dir(&self) -> bool {
        let volumes = self.json["spec"]["volumes"].as_array().into_iter().flatten();
        volumes.into_iter().any(|volume| volume["emptyDir"].is_object())
    }
}

/// Reads an observation for the flow.
pub(super) async fn observe(executor: &Executor<'_>) -> Result<Observation, ApiError> {
    let (session, target) = (executor.session, executor.target);
    let named = get(session, &pod_path(&target.pod.key)).await?;
    let mut pods = match &target.chain.selector {
        Some(selector) if executor.terms_same_name().is_none() => {
            owner_pods(session, &target.pod.key.namespace, selector).await?
        }
        _ => Vec::new(),
    };
    let is_old = |sent: &PodWithJson| sent.pod.uid == target.pod.uid;
    let old = named.as_ref().filter(|sent| is_old(sent)).map(old_pod);
    pods.extend(named);
    pods.retain(|sent| !is_old(sent) && has_same_controller_kind(sent, executor));
    pods.sort_by(|one, other| (one.pod.created, &one.pod.key).cmp(&(other.pod.created, &other.pod.key)));
    pods.dedup_by(|one, other| one.pod.uid == other.pod.uid);
    let (node, is_reserved) = node(executor).await?;
    Ok(Observation { old, node, pods: pods.iter().map(sibling_pod).collect(), is_reserved })
}

/// The pods that the owner's selector selects.
pub(super) async fn owner_pods(
    session: &Session,
    namespace: &str,
    selector: &str,
) -> Result<Vec<PodWithJson>, ApiError> {
    let mut pods = Vec::new();
    let query = format!("labelSelector={}", escaped(selector));
    calls::list(session, &format!("/api/v1/namespaces/{namespace}/pods"), &query, JSON, |json| {
        pods.push(pod_with_json(json)?);
        Ok(())
    })
    .await?;
    Ok(pods)
}

/// One pod; `None` if it does not exist.
async fn get(session: &Session, path: &str) -> Result<Option<PodWithJson>, ApiError> {
    match calls::get(session, path, JSON).await {
        Ok(answer) => pod_with_json(&answer.text).map(Some).map_err(ApiError::Broken),
        Err(error) if error.code() == Some(404) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn pod_with_json(json: &str) -> Result<PodWithJson, String> {
    let pod = api::pod::pod(json).map_err(|error| error.to_string())?;
    let json = serde_json::from_str(json).map_err(|error| error.to_string())?;
    Ok(PodWithJson { pod, json })
}

/// Whether a pod can be the replacement: its controller has the same kind as that of the old pod, or both have none.
fn has_same_controller_kind(sent: &PodWithJson, executor: &Executor<'_>) -> bool {
    let kind = |pod: &common::model::Pod| pod.controller.as_ref().map(|controller| controller.kind);
    kind(&sent.pod) == kind(&executor.target.pod)
}

fn old_pod(sent: &PodWithJson) -> OldPod {
    OldPod { is_leaving: sent.pod.deleting, is_ended: false, finalizers: finalizers(&sent.json) }
}

fn sibling_pod(sent: &PodWithJson) -> SiblingPod {
    let pod = &sent.pod;
    SiblingPod {
        name: pod.key.name.to_string(),
        uid: pod.uid.to_string(),
        node: pod.node.as_ref().map(ToString::to_string),
        is_ready: is_ready(&sent.json),
        is_over: pod.deleting || pod.is_ended(),
        is_complete: pod.phase == Phase::Succeeded,
        seat: pod.stamp.as_ref().map(ToString::to_string),
        waits: pod.unscheduled().map(|waits| waits.message.to_string()),
    }
}

/// The node where room is kept, and whether it has the reservation.
async fn node(executor: &Executor<'_>) -> Result<(Option<NodeObservation>, Option<bool>), ApiError> {
    let path = format!("/api/v1/nodes/{}", executor.node);
    match calls::get(executor.session, &path, JSON).await {
        Ok(answer) => {
            let json: Value = serde_json::from_str(&answer.text).unwrap_or_default();
            let read = api::node::node(&answer.text).map_err(|error| ApiError::Broken(error.to_string()))?;
            let observation =
                NodeObservation { is_gone: false, is_ready: read.is_ready, is_cordoned: read.unschedulable };
            Ok((Some(observation), Some(is_reserved(&json, executor.id.as_ref()))))
        }
        Err(error) if error.code() == Some(404) => {
            Ok((Some(NodeObservation { is_gone: true, ..NodeObservation::default() }), Some(false)))
        }
        Err(error) if error.code() == Some(403) => Ok((None, None)),
        Err(error) => Err(error),
    }
}

pub(super) fn is_reserved(node: &Value, id: Option<&ReservationId>) -> bool {
    let annotations: BTreeMap<String, String> =
        serde_json::from_value(node["metadata"]["annotations"].clone()).unwrap_or_default();
    id.is_some_and(|id| reservation_of(&keys_of(&annotations, id)).is_some())
}

//! The check right before the eviction: the pod still has its UID, the reservation belongs to this run, and the node has room.
//! Entry points: `recheck`, and `needed` before a reservation is taken back.

use super::executor::Executor;
use super::look::owner_pods;
use super::owners::pod_path;
use super::target::TargetPod;
use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::flow::keep::{is_needed, is_reserved, lacks};
use crate::flow::recreate::{KeepMethod, Recheck};
use common::api;
use common::cluster::{Cluster, Event, WatchEvent};
use common::model::owner::OwnerKind;
use common::model::{NodeName, Pod};
use std::collections::BTreeSet;

/// Reads once more everything on which the eviction depends.
pub(super) async fn recheck(executor: &Executor<'_>, keep_method: KeepMethod) -> Result<Recheck, ApiError> {
    let (session, target) = (executor.session, executor.target);
    let mut result = Recheck { known: known(executor).await?, ..Recheck::default() };
    match read_pod(session, target).await? {
        Some(pod) => {
            result.is_leaving = pod.deleting;
            result.is_lost = keep_method == KeepMethod::KeepAnnotation && !executor.keep_request.is_on(&pod);
        }
        None => result.is_gone = true,
    }
    if keep_method == KeepMethod::Reservation {
        room(executor, &mut result).await?;
    }
    Ok(result)
}

/// Whether somebody else may rely on the reservation of the pod, so that it must stay.
pub(super) async fn needed(
    session: &Session,
    target: &TargetPod,
    keep_method: KeepMethod,
) -> Result<bool, ApiError> {
    let pod = read_pod(session, target).await?;
    Ok(is_needed(pod.as_ref(), keep_method))
}

/// Reads the pod; `None` if the pod with this UID does not exist any more.
async fn read_pod(session: &Session, target: &TargetPod) -> Result<Option<Pod>, ApiError> {
    match calls::get(session, &pod_path(&target.pod.key), JSON).await {
        Ok(answer) => Ok(Some(decode_pod(&answer.text)?).filter(|pod| pod.uid == target.pod.uid)),
        Err(error) if error.code() == Some(404) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The UIDs of the owner's pods that have a node already: none of them is the replacement.
async fn known(executor: &Executor<'_>) -> Result<BTreeSet<String>, ApiError> {
    let target = executor.target;
    let Some(selector) = &target.chain.selector else { return Ok(BTreeSet::new()) };
    let pods = owner_pods(executor.session, &target.pod.key.namespace, selector).await?;
    let bound = pods.iter().filter(|sent| sent.pod.node.is_some());
    Ok(bound.map(|sent| sent.pod.uid.to_string()).collect())
}

fn decode_pod(text: &str) -> Result<Pod, ApiError> {
    api::pod::pod(text).map_err(|error| ApiError::Broken(error.to_string()))
}

/// Checks that the node has the reservation, and that it has not promised more than it has.
async fn room(executor: &Executor<'_>, result: &mut Recheck) -> Result<(), ApiError> {
    let session = executor.session;
    let answer = match calls::get(session, &format!("/api/v1/nodes/{}", executor.node), JSON).await {
        Err(error) if error.code() == Some(404) => {
            result.is_lost = true;
            return Ok(());
        }
        answer => answer?,
    };
    let node = api::node::node(&answer.text).map_err(|error| ApiError::Broken(error.to_string()))?;
    let mut pods = Vec::new();
    let query = format!("fieldSelector=spec.nodeName%3D{}", executor.node);
    calls::list(session, "/api/v1/pods", &query, JSON, |json| {
        pods.push(api::pod::pod(json).map_err(|error| error.to_string())?);
        Ok(())
    })
    .await?;
    let mut cluster = executor.target.chain.cluster();
    cluster.apply(Event::Pods(WatchEvent::Relisted(pods)));
    cluster.apply(Event::Nodes(WatchEvent::Relisted(vec![node])));
    cluster.advance(answer.at.unwrap_or(executor.target.now));
    let name = NodeName::from(&*executor.node);
    result.is_lost = !executor.reservation.as_ref().is_some_and(|ours| is_reserved(&cluster, &name, ours));
    result.lacks = lacks(&cluster, &name, executor.reservation.as_ref());
    if !result.lacks.is_empty() {
        // A reservation may have been taken by a pod whose owners were not read, and then its room is counted twice.
        owners(executor, &mut cluster).await?;
        result.lacks = lacks(&cluster, &name, executor.reservation.as_ref());
    }
    Ok(())
}

async fn owners(executor: &Executor<'_>, cluster: &mut Cluster) -> Result<(), ApiError> {
    for kind in OwnerKind::ALL {
        let mut live = Vec::new();
        let each = |json: &str| {
            live.push(api::workload::workload(kind, json).map_err(|error| error.to_string())?);
            Ok(())
        };
        match calls::list(executor.session, &kind.path(), "", JSON, each).await {
            Ok(_) => drop(cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(live)))),
            Err(error) if matches!(error.code(), Some(403 | 404)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

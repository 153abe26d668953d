//! The second look, right before the eviction: is the pod still that pod, is its room still kept, does everything fit?

use super::executor::Executor;
use super::look::companions;
use super::owners::pod_path;
use super::target::Target;
use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::flow::keep::{is_kept, is_needed, lacks};
use crate::flow::recreate::{Keeping, Recheck};
use common::api;
use common::cluster::{Cluster, Event, Seen};
use common::model::owner::OwnerKind;
use common::model::{NodeName, Pod};
use std::collections::BTreeSet;

/// Reads everything that the eviction depends on once more.
pub(super) async fn recheck(executor: &Executor<'_>, keeping: Keeping) -> Result<Recheck, ApiError> {
    let (session, target) = (executor.session, executor.target);
    let mut seen = Recheck { known: known(executor).await?, ..Recheck::default() };
    match that(session, target).await? {
        Some(pod) => {
            seen.is_leaving = pod.deleting;
            seen.is_lost = keeping == Keeping::Wish && !executor.wish.is_said_by(&pod);
        }
        None => seen.is_gone = true,
    }
    if keeping == Keeping::Reservation {
        room(executor, &mut seen).await?;
    }
    Ok(seen)
}

/// Whether what keeps the room of the pod is to stay.
pub(super) async fn needed(session: &Session, target: &Target, keeping: Keeping) -> Result<bool, ApiError> {
    let pod = that(session, target).await?;
    Ok(is_needed(pod.as_ref(), keeping))
}

/// The pod as it is now, if it is still that pod.
async fn that(session: &Session, target: &Target) -> Result<Option<Pod>, ApiError> {
    match calls::get(session, &pod_path(&target.pod.key), JSON).await {
        Ok(answer) => Ok(Some(read(&answer.text)?).filter(|pod| pod.uid == target.pod.uid)),
        Err(error) if error.code() == Some(404) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The pods of the owner that have a node by now: the replacement is none of them.
async fn known(executor: &Executor<'_>) -> Result<BTreeSet<String>, ApiError> {
    let target = executor.target;
    let Some(selector) = &target.chain.selector else { return Ok(BTreeSet::new()) };
    let pods = companions(executor.session, &target.pod.key.namespace, selector).await?;
    let bound = pods.iter().filter(|sent| sent.pod.node.is_some());
    Ok(bound.map(|sent| sent.pod.uid.to_string()).collect())
}

fn read(text: &str) -> Result<Pod, ApiError> {
    api::pod::pod(text).map_err(|error| ApiError::Broken(error.to_string()))
}

/// Whether the reservation is there, and the node has what it promises.
async fn room(executor: &Executor<'_>, seen: &mut Recheck) -> Result<(), ApiError> {
    let session = executor.session;
    let answer = match calls::get(session, &format!("/api/v1/nodes/{}", executor.node), JSON).await {
        Err(error) if error.code() == Some(404) => {
            seen.is_lost = true;
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
    cluster.apply(Event::Pods(Seen::Relisted(pods)));
    cluster.apply(Event::Nodes(Seen::Relisted(vec![node])));
    cluster.advance(answer.at.unwrap_or(executor.target.now));
    let name = NodeName::from(&*executor.node);
    seen.is_lost = !executor.reservation.as_ref().is_some_and(|ours| is_kept(&cluster, &name, ours));
    seen.lacks = lacks(&cluster, &name, executor.reservation.as_ref());
    if !seen.lacks.is_empty() {
        // What looks kept may be taken by pods whose owners we have not read yet.
        owners(executor, &mut cluster).await?;
        seen.lacks = lacks(&cluster, &name, executor.reservation.as_ref());
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
            Ok(_) => drop(cluster.apply(Event::Workloads(kind, Seen::Relisted(live)))),
            Err(error) if matches!(error.code(), Some(403 | 404)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

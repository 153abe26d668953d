//! The check right before the eviction: the pod still has its UID, the reservation belongs to this run, and the node has room.
//! Entry points: `recheck`, and `needed` before a reservation is taken back.

use super::executor::Executor;
use super::target::TargetPod;
use crate::api::{ApiError, JSON};
use crate::clock::local_time;
use crate::connect::Session;
use crate::flow::keep::{KeptRoom, is_needed, kept_room, lacks};
use crate::flow::recreate::{KeepMethod, Recheck};
use crate::reader::{PODS, PodView, list, node, on_node, pod, pods, pods_in, with_labels, workloads};
use common::api;
use common::cluster::{Cluster, Event, WatchEvent};
use common::model::{NodeName, OwnerKind};
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
    Ok(is_needed(pod.as_deref(), keep_method))
}

/// Reads the pod; `None` if the pod with this UID does not exist any more.
async fn read_pod(session: &Session, target: &TargetPod) -> Result<Option<PodView>, ApiError> {
    Ok(pod(session, &target.pod.key).await?.filter(|pod| pod.uid == target.pod.uid))
}

/// The UIDs of the owner's pods that have a node already: none of them is the replacement.
async fn known(executor: &Executor<'_>) -> Result<BTreeSet<String>, ApiError> {
    let target = executor.target;
    let Some(selector) = target.selector() else { return Ok(BTreeSet::new()) };
    let path = pods_in(&target.pod.key.namespace);
    let pods = pods(executor.session, &path, &with_labels(selector)).await?;
    Ok(pods.iter().filter(|pod| pod.node.is_some()).map(|pod| pod.uid.to_string()).collect())
}

/// Checks that the node has the reservation, and that it has not promised more than it has.
async fn room(executor: &Executor<'_>, result: &mut Recheck) -> Result<(), ApiError> {
    let session = executor.session;
    let Some((node, at)) = node(session, &executor.task.terms.node).await? else {
        result.is_lost = true;
        return Ok(());
    };
    let (pods, _) = list(session, PODS, &on_node(&executor.task.terms.node), JSON, api::pod::pod).await?;
    let mut cluster = executor.target.owners.cluster();
    cluster.apply(Event::Pods(WatchEvent::Relisted(pods)));
    cluster.apply(Event::Nodes(WatchEvent::Relisted(vec![node])));
    let now = at.unwrap_or_else(local_time);
    cluster.advance(now);
    let name = NodeName::from(&*executor.task.terms.node);
    let ours = executor.task.reservation.as_ref();
    let kept = ours.map_or(KeptRoom::Lost, |ours| kept_room(&cluster, &name, ours, now));
    (result.is_lost, result.ends_soon) = (kept == KeptRoom::Lost, kept == KeptRoom::EndsSoon);
    result.lacks = lacks(&cluster, &name, executor.task.reservation.as_ref());
    if !result.lacks.is_empty() {
        // A reservation may have been taken by a pod whose owners were not read, and then its room is counted twice.
        owners(executor, &mut cluster).await?;
        result.lacks = lacks(&cluster, &name, executor.task.reservation.as_ref());
    }
    Ok(())
}

async fn owners(executor: &Executor<'_>, cluster: &mut Cluster) -> Result<(), ApiError> {
    for kind in OwnerKind::ALL {
        if let Some(all) = workloads(executor.session, kind, &kind.path(), JSON).await? {
            cluster.apply(Event::Workloads(kind, WatchEvent::Relisted(all)));
        }
    }
    Ok(())
}

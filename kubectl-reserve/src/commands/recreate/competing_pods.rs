//! The competing pods: Pending pods of other owners that would fit on the node if the pod were gone.

use super::target::TargetPod;
use crate::api::{ApiError, JSON};
use crate::connect::Session;
use crate::reader::{PODS, list, on_node, readable};
use crate::render::recreate::CompetingPod;
use crate::replicas::Replicas;
use common::api;
use common::cluster::{Enforcement, Event, Snapshot, WatchEvent};
use common::cycle::{self, Depth};
use common::framework::Registry;
use common::model::Pod;
use common::plugins::{default_registry, without_reservations};

/// The query for pods that wait for a node.
const WAITING: &str = "fieldSelector=spec.nodeName%3D%2Cstatus.phase%3DPending";

/// The competing pods; `None` if the caller may not list pods.
pub(super) async fn competing_pods(
    session: &Session,
    target: &TargetPod,
    replicas: &Replicas,
) -> Result<Option<Vec<CompetingPod>>, ApiError> {
    let Some(node) = &target.node else { return Ok(None) };
    let Some(there) = pods(session, &on_node(target.node_name())).await? else { return Ok(None) };
    let Some(mut waiting) = pods(session, WAITING).await? else { return Ok(None) };
    waiting.retain(Pod::is_waiting);
    let mut cluster = target.owners.cluster();
    cluster
        .apply(Event::Pods(WatchEvent::Relisted(there.into_iter().chain(waiting.iter().cloned()).collect())));
    cluster.apply(Event::Nodes(WatchEvent::Relisted(vec![node.clone()])));
    let snapshot = cluster.snapshot(target.now);
    let Some(mut ledger) = snapshot.nodes().next().cloned() else { return Ok(None) };
    ledger.remove(&target.pod.uid);
    let without = snapshot.suppose(ledger);
    let (enforcing, not_enforcing) = (default_registry(), without_reservations());
    let mut found = Vec::new();
    for pod in &waiting {
        // Without the Leases it is unknown.
        let enforces = replicas.enforcement(&pod.spec.scheduler_name) != Enforcement::Nobody;
        let enforces = (!replicas.is_hidden).then_some(enforces);
        let registry = if enforces == Some(true) { &enforcing } else { &not_enforcing };
        if !has_same_owner(pod, target) && fits(pod, &without, registry) {
            found.push(competing_pod(pod, enforces));
        }
    }
    Ok(Some(found))
}

fn fits(pod: &Pod, snapshot: &Snapshot<'_>, registry: &Registry) -> bool {
    if cycle::refusal(pod, snapshot, registry).is_some() {
        return false;
    }
    let trace = cycle::diagnose(&snapshot.context(pod), snapshot, registry, Depth::First);
    trace.is_ok_and(|trace| trace.nodes.iter().any(|node| node.rejections.is_empty()))
}

fn has_same_owner(pod: &Pod, target: &TargetPod) -> bool {
    target.owner.as_ref().is_some_and(|owner| target.cluster.owner_of(pod).is_ok_and(|other| other == *owner))
}

fn competing_pod(pod: &Pod, enforces: Option<bool>) -> CompetingPod {
    let asks = crate::render::recreate::amounts(&pod.spec.requests.incoming);
    CompetingPod { name: pod.key.to_string(), asks, scheduler: pod.spec.scheduler_name.to_string(), enforces }
}

/// Pods of all namespaces; `None` if the caller may not list them.
async fn pods(session: &Session, query: &str) -> Result<Option<Vec<Pod>>, ApiError> {
    let listed = readable(list(session, PODS, query, JSON, api::pod::pod).await)?;
    Ok(listed.map(|(pods, _)| pods))
}

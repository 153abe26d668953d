//! Who could take the room of a pod if it were empty: Pending pods that would fit there then.

use super::target::Target;
use crate::api::{self as calls, ApiError, JSON};
use crate::connect::Session;
use crate::render::recreate::Rival;
use crate::replicas::Replicas;
use common::api;
use common::cluster::{Enforcement, Event, Seen, Snapshot};
use common::cycle::{self, Depth};
use common::framework::Registry;
use common::model::Pod;
use common::plugins::{default_registry, without_reservations};

/// Pods that wait for a node.
const WAITING: &str = "fieldSelector=spec.nodeName%3D%2Cstatus.phase%3DPending";

/// The rivals; `None` if the caller may not read who waits.
pub(super) async fn rivals(
    session: &Session,
    target: &Target,
    replicas: &Replicas,
) -> Result<Option<Vec<Rival>>, ApiError> {
    let Some(node) = &target.node else { return Ok(None) };
    let on_node = format!("fieldSelector=spec.nodeName%3D{}", target.node_name());
    let (Some(there), Some(waiting)) = (pods(session, &on_node).await?, pods(session, WAITING).await?) else {
        return Ok(None);
    };
    let waiting: Vec<Pod> = waiting.into_iter().filter(Pod::is_waiting).collect();
    let mut cluster = target.chain.cluster();
    cluster.apply(Event::Pods(Seen::Relisted(there.into_iter().chain(waiting.iter().cloned()).collect())));
    cluster.apply(Event::Nodes(Seen::Relisted(vec![node.clone()])));
    let snapshot = cluster.snapshot(target.now);
    let Some(mut ledger) = snapshot.nodes().next().cloned() else { return Ok(None) };
    ledger.remove(&target.pod.uid);
    let without = snapshot.suppose(ledger);
    let (enforcing, heedless) = (default_registry(), without_reservations());
    let mut found = Vec::new();
    for pod in &waiting {
        let enforces = replicas.enforcement(&pod.spec.scheduler_name) != Enforcement::Nobody;
        if !is_kin(pod, target) && fits(pod, &without, if enforces { &enforcing } else { &heedless }) {
            found.push(rival(pod, enforces));
        }
    }
    Ok(Some(found))
}

fn fits(pod: &Pod, snapshot: &Snapshot<'_>, registry: &Registry) -> bool {
    if cycle::refusal(pod, snapshot, registry).is_some() {
        return false;
    }
    let trace = cycle::judge(&snapshot.pod_context(pod), snapshot, registry, Depth::First);
    trace.is_ok_and(|trace| trace.nodes.iter().any(|node| node.rejections.is_empty()))
}

/// Whether the pod belongs to the same owner.
fn is_kin(pod: &Pod, target: &Target) -> bool {
    target.owner.as_ref().is_some_and(|owner| target.cluster.owner_of(pod).is_ok_and(|other| other == *owner))
}

fn rival(pod: &Pod, enforces: bool) -> Rival {
    let asks = crate::render::recreate::amounts(&pod.spec.requests.incoming);
    Rival { name: pod.key.to_string(), asks, scheduler: pod.spec.scheduler_name.to_string(), enforces }
}

/// Pods of all namespaces; `None` if the caller may not list them.
async fn pods(session: &Session, query: &str) -> Result<Option<Vec<Pod>>, ApiError> {
    let mut found = Vec::new();
    let each = |json: &str| {
        found.push(api::pod::pod(json).map_err(|error| error.to_string())?);
        Ok(())
    };
    match calls::list(session, "/api/v1/pods", query, JSON, each).await {
        Ok(_) => Ok(Some(found)),
        Err(error) if error.code() == Some(403) => Ok(None),
        Err(error) => Err(error),
    }
}

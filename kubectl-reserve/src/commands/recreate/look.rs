//! Reads the cluster after the eviction: the old pod, its node, the reservation, and the pods of the owner. Entry point: `look`.

use super::executor::no_answer;
use crate::api::ApiError;
use crate::connect::Session;
use crate::flow::recreate::{Answer, NodeObservation, Observation, OldPod, SiblingPod};
use crate::reader::{self, PodView, pods_in, readable, with_labels};
use common::model::{Node, OwnerKind, ParsedReservation, Phase, Pod, PodKey, ReservationId, Uid};

/// Which objects are read after the eviction.
pub(crate) struct Lookup {
    pub(super) key: PodKey,
    pub(super) uid: Uid,
    /// The kind of the old pod's controller, which the replacement has, too.
    pub(super) controller: Option<OwnerKind>,
    /// A label selector for the pods among which the replacement is; `None` if it has the name of the old pod.
    pub(super) selector: Option<String>,
    /// The node where room is kept.
    pub(super) node: String,
    pub(super) id: Option<ReservationId>,
}

/// Reads an observation for the flow.
pub(super) async fn look(session: &Session, lookup: &Lookup) -> Answer {
    match observe(session, lookup).await {
        Ok(observation) => Answer::Observation(Box::new(observation)),
        Err(error) => no_answer(error, "read the pods", "get and list pods"),
    }
}

async fn observe(session: &Session, lookup: &Lookup) -> Result<Observation, ApiError> {
    let mut pods = match &lookup.selector {
        Some(selector) => {
            reader::pods(session, &pods_in(&lookup.key.namespace), &with_labels(selector)).await?
        }
        None => Vec::new(),
    };
    // The old pod is read last: a replacement that has its room is not reported as bound before the old pod is reported as gone.
    let named = reader::pod(session, &lookup.key).await?;
    let is_old = |pod: &PodView| pod.uid == lookup.uid;
    let old = named.as_ref().filter(|pod| is_old(pod)).map(old_pod);
    pods.extend(named);
    pods.retain(|pod| !is_old(pod) && controller_kind(pod) == lookup.controller);
    pods.sort_by(|one, other| (one.created, &one.key).cmp(&(other.created, &other.key)));
    pods.dedup_by(|one, other| one.uid == other.uid);
    let (node, is_reserved) = node(session, lookup).await?;
    Ok(Observation { old, node, pods: pods.iter().map(sibling_pod).collect(), is_reserved })
}

/// The kind of the pod's controller; `Foreign` for every kind that is not read.
pub(super) fn controller_kind(pod: &Pod) -> Option<OwnerKind> {
    pod.controller.as_ref().map(|controller| controller.kind.unwrap_or(OwnerKind::Foreign))
}

fn old_pod(pod: &PodView) -> OldPod {
    OldPod { is_leaving: pod.deleting, is_ended: false, finalizers: pod.finalizers.clone() }
}

fn sibling_pod(pod: &PodView) -> SiblingPod {
    SiblingPod {
        name: pod.key.name.to_string(),
        uid: pod.uid.to_string(),
        node: pod.node.as_ref().map(ToString::to_string),
        is_ready: pod.is_ready,
        is_over: pod.deleting || pod.is_ended(),
        is_complete: pod.phase == Phase::Succeeded,
        seat: pod.stamp.as_ref().map(ToString::to_string),
        waits: pod.unscheduled().map(|waits| waits.message.to_string()),
    }
}

/// The node where room is kept, and whether it has the reservation.
async fn node(
    session: &Session,
    lookup: &Lookup,
) -> Result<(Option<NodeObservation>, Option<bool>), ApiError> {
    let Some(found) = readable(reader::node(session, &lookup.node).await)? else { return Ok((None, None)) };
    let Some((node, _)) = found else {
        return Ok((Some(NodeObservation { is_gone: true, ..NodeObservation::default() }), Some(false)));
    };
    let observation =
        NodeObservation { is_gone: false, is_ready: node.is_ready, is_cordoned: node.unschedulable };
    Ok((Some(observation), Some(is_reserved(&node, lookup.id.as_ref()))))
}

pub(super) fn is_reserved(node: &Node, id: Option<&ReservationId>) -> bool {
    let mut there = node.reservations.iter().filter_map(ParsedReservation::valid);
    id.is_some_and(|id| there.any(|reservation| reservation.id == *id))
}

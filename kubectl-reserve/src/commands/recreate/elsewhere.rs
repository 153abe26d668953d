//! Reservations on another node than the pod's own: `drain` makes them for all pods before it evicts any.

use super::keep;
use super::look::is_reserved;
use super::prepare::RecreationTask;
use crate::api::{self as calls, JSON};
use crate::commands::Context;
use crate::error::{Exit, Failure};
use crate::flow::keep::exchange_patch;
use crate::flow::recreate::{Answer, KeepMethod, StopReason};
use crate::node_patch::{DryRun, rewrite};
use crate::reader::{NODES, PODS, get, list, on_node};
use common::api;
use common::api::reservation::patch::ObservedNode;
use common::model::{Node, Reservation, ReservationId};
use jiff::{SignedDuration, Timestamp};

impl RecreationTask {
    /// Changes the task so that room is reserved on the node called `to`.
    pub(crate) async fn elsewhere(mut self, context: &Context, to: &str) -> Result<Self, Failure> {
        if self.terms.keep_method != KeepMethod::Reservation {
            let text = "places on other nodes can only be kept with the right to patch nodes";
            return Err(Failure::new(text)
                .hint("ask an administrator for: patch nodes")
                .exit(Exit::Forbidden));
        }
        let node = read(context, to).await?;
        self.other_node_uid = Some(node.uid.to_string());
        self.terms.node = to.to_owned();
        self.terms.is_own_node = false;
        self.plan.to = Some(to.to_owned());
        Ok(self)
    }

    /// The node where room is reserved.
    pub(crate) fn place(&self) -> &str {
        &self.terms.node
    }

    /// The sort key of its reservation, by which pods of the same owner take theirs: creation time and id.
    pub(crate) fn age(&self) -> Option<(Option<Timestamp>, ReservationId)> {
        let reservation = self.reservation.as_ref()?;
        Some((reservation.created(), reservation.id.clone()))
    }

    /// The reservation of the pod on another node; `None` if it is on the pod's own node.
    pub(crate) fn node_reservation(&self) -> Option<NodeReservation> {
        let reservation = self.reservation.clone()?;
        let node_uid = self.other_node_uid.clone()?;
        Some(NodeReservation { node: self.terms.node.clone(), node_uid, reservation })
    }

    /// Whether the reservation still exists and no pod has taken it.
    pub(crate) async fn is_kept(&self, context: &Context) -> Result<bool, Failure> {
        let id = self.reservation.as_ref().map(|reservation| &reservation.id);
        is_kept(context, &self.terms.node, id).await
    }
}

#[derive(Clone, Debug)]
pub(crate) struct NodeReservation {
    node: String,
    node_uid: String,
    reservation: Reservation,
}

impl NodeReservation {
    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    /// Whether a pod of the same owner could use this reservation instead of `other`.
    pub(crate) fn suits(&self, other: &Self) -> bool {
        let (here, wanted) = (&self.reservation.amount, &other.reservation.amount);
        let is_enough = wanted.iter().all(|(resource, amount)| here.get(&resource) >= amount);
        self.reservation.id.owner == other.reservation.id.owner && is_enough
    }
}

/// Replaces the reservation `left`, if no pod has taken it, by that of `task` on the same node. Returns whether `task` has its
/// reservation then.
pub(crate) async fn take_over(
    context: &Context,
    task: &RecreationTask,
    left: &NodeReservation,
) -> Result<bool, Failure> {
    let Some(wanted) = &task.reservation else { return Ok(false) };
    if !is_kept(context, &left.node, Some(&left.reservation.id)).await? {
        return Ok(false);
    }
    // If it cannot be written, the caller looks for another node.
    let plan = |seen: &ObservedNode<'_>, now| {
        let patch = exchange_patch(seen, &left.node_uid, &left.reservation, wanted, now);
        Ok::<_, Failure>(patch.ok().flatten())
    };
    rewrite(&context.session, &left.node, DryRun::None, plan).await?;
    task.is_kept(context).await
}

/// Whether the node has the reservation, and no pod has taken it.
async fn is_kept(context: &Context, on: &str, id: Option<&ReservationId>) -> Result<bool, Failure> {
    let node = read(context, on).await?;
    let pods = list(&context.session, PODS, &on_node(on), JSON, api::pod::pod).await;
    let (pods, _) = pods.map_err(|error| error.into_failure("list pods", "list pods"))?;
    let seat = id.map(ToString::to_string);
    // Another pod of the same owner may have taken the seat.
    let is_taken = seat.is_some_and(|seat| pods.iter().any(|pod| pod.stamp.as_deref() == Some(&*seat)));
    Ok(is_reserved(&node, id) && !is_taken)
}

async fn read(context: &Context, node: &str) -> Result<Node, Failure> {
    let found = get(&context.session, &format!("{NODES}/{node}"), api::node::node).await;
    Ok(found.map_err(|error| error.into_failure("read the node", "get nodes"))?.0)
}

pub(crate) async fn reserve(context: &Context, task: &RecreationTask) -> Result<(), Failure> {
    let Some(wanted) = &task.reservation else { return Ok(()) };
    let (session, node) = (&context.session, &task.terms.node);
    match keep::reserve(session, node, &task.node_uid(), wanted, DryRun::None).await {
        Answer::Reserved { .. } => Ok(()),
        Answer::Failed(StopReason::Forbidden { message, needs }) => Err(Failure::new(message)
            .hint(format!("ask an administrator for: {needs}"))
            .exit(Exit::Forbidden)),
        Answer::Failed(StopReason::NoRoom(lacks)) => Err(Failure::new(lacks.join("; ")).exit(Exit::NoRoom)),
        Answer::Failed(StopReason::Failed(text)) | Answer::Lost(text) => Err(Failure::new(text)),
        other => Err(Failure::new(format!("{other:?}"))),
    }
}

/// Extends the reservation: it ends one life from now.
pub(crate) async fn keep_alive(context: &Context, task: &RecreationTask) -> Result<(), Failure> {
    let Some(reservation) = &task.reservation else { return Ok(()) };
    let answer = calls::get(&context.session, "/version", JSON).await;
    let now: Option<Timestamp> = answer.ok().and_then(|answer| answer.at);
    let life = SignedDuration::try_from(task.life).unwrap_or(SignedDuration::ZERO);
    let Some(until) = now.and_then(|now| now.checked_add(life).ok()) else { return Ok(()) };
    keep::extend(&context.session, &task.terms.node, &reservation.id, until).await
}

/// Releases the reservation. Returns whether that succeeded.
pub(crate) async fn release(context: &Context, task: &RecreationTask) -> bool {
    let Some(ours) = &task.reservation else { return true };
    keep::release(&context.session, &task.terms.node, ours).await == Answer::Released
}

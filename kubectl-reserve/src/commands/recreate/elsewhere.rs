//! Room on another node than the pod's own: what `drain` reserves before anything is evicted.

use super::executor;
use super::keep;
use super::prepare::Prepared;
use crate::api::{self as calls, JSON};
use crate::commands::Context;
use crate::error::{Exit, Failure};
use crate::flow::keep::exchanged;
use crate::flow::recreate::{Answer, Keeping, Why};
use crate::node_patch::{DryRun, rewrite};
use common::api;
use common::api::reservation::patch::Seen;
use common::model::{Reservation, ReservationId};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

impl Prepared {
    /// The same, with its room kept on the node called `to`.
    pub(crate) async fn elsewhere(mut self, context: &Context, to: &str) -> Result<Self, Failure> {
        if self.terms.keeping != Keeping::Reservation {
            let text = "places on other nodes can only be kept with the right to patch nodes";
            return Err(Failure::new(text)
                .hint("ask an administrator for: patch nodes")
                .exit(Exit::Forbidden));
        }
        let node = read(context, to).await?;
        self.place_uid = Some(node["metadata"]["uid"].as_str().unwrap_or_default().to_owned());
        self.terms.node = to.to_owned();
        self.terms.is_home = false;
        self.plan.to = Some(to.to_owned());
        Ok(self)
    }

    /// Where its room is kept.
    pub(crate) fn place(&self) -> &str {
        &self.terms.node
    }

    /// How old its reservation is among those of its owner.
    pub(crate) fn age(&self) -> Option<(Option<Timestamp>, ReservationId)> {
        let reservation = self.reservation.as_ref()?;
        Some((reservation.created(), reservation.id.clone()))
    }

    /// What is reserved for it, and where.
    pub(crate) fn kept(&self) -> Option<Kept> {
        let reservation = self.reservation.clone()?;
        let node_uid = self.place_uid.clone()?;
        Some(Kept { node: self.terms.node.clone(), node_uid, reservation })
    }

    /// Whether its room is still kept.
    pub(crate) async fn is_kept(&self, context: &Context) -> Result<bool, Failure> {
        let id = self.reservation.as_ref().map(|reservation| &reservation.id);
        is_kept(context, &self.terms.node, id).await
    }
}

/// Room that is kept on a node.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    node: String,
    node_uid: String,
    reservation: Reservation,
}

impl Kept {
    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    /// Whether a sibling could have this room instead of its own.
    pub(crate) fn suits(&self, other: &Self) -> bool {
        let (here, wanted) = (&self.reservation.amount, &other.reservation.amount);
        let is_enough = wanted.iter().all(|(resource, amount)| here.get(&resource) >= amount);
        self.reservation.id.owner == other.reservation.id.owner && is_enough
    }
}

/// Gives `left`, if nobody sits there, to `prepared`, which goes to the same node. Whether it has its room then.
pub(crate) async fn take_over(context: &Context, prepared: &Prepared, left: &Kept) -> Result<bool, Failure> {
    let Some(wanted) = &prepared.reservation else { return Ok(false) };
    if !is_kept(context, &left.node, Some(&left.reservation.id)).await? {
        return Ok(false);
    }
    // Where it cannot be written, another place is looked for.
    let plan =
        |seen: &Seen<'_>| Ok(exchanged(seen, &left.node_uid, &left.reservation, wanted).ok().flatten());
    rewrite(&context.session, &left.node, DryRun::None, plan).await?;
    prepared.is_kept(context).await
}

/// Whether the node has the reservation, and nobody sits there.
async fn is_kept(context: &Context, on: &str, id: Option<&ReservationId>) -> Result<bool, Failure> {
    let node = read(context, on).await?;
    let seat = id.map(ToString::to_string);
    let query = format!("fieldSelector=spec.nodeName%3D{on}");
    let mut is_taken = false;
    let listed = calls::list(&context.session, "/api/v1/pods", &query, JSON, |json| {
        let pod = api::pod::pod(json).map_err(|error| error.to_string())?;
        // A sibling was faster.
        is_taken |= seat.is_some() && pod.stamp.as_deref() == seat.as_deref();
        Ok(())
    });
    listed.await.map_err(|error| error.into_failure("list pods", "list pods"))?;
    Ok(super::look::is_reserved(&node, id) && !is_taken)
}

async fn read(context: &Context, node: &str) -> Result<Value, Failure> {
    let answer = calls::get(&context.session, &format!("/api/v1/nodes/{node}"), JSON).await;
    let answer = answer.map_err(|error| error.into_failure("read the node", "get nodes"))?;
    serde_json::from_str(&answer.text).map_err(Failure::new)
}

/// Reserves the room.
pub(crate) async fn reserve(context: &Context, prepared: &Prepared) -> Result<(), Failure> {
    let executor = executor(context, prepared);
    let Some(wanted) = &executor.reservation else { return Ok(()) };
    match keep::reserve(executor.session, &executor.node, &executor.node_uid, wanted, DryRun::None).await {
        Answer::Reserved { .. } => Ok(()),
        Answer::Failed(Why::Forbidden { message, needs }) => Err(Failure::new(message)
            .hint(format!("ask an administrator for: {needs}"))
            .exit(Exit::Forbidden)),
        Answer::Failed(Why::NoRoom(lacks)) => Err(Failure::new(lacks.join("; ")).exit(Exit::NoRoom)),
        Answer::Failed(Why::Failed(text)) | Answer::Lost(text) => Err(Failure::new(text)),
        other => Err(Failure::new(format!("{other:?}"))),
    }
}

/// Moves the end of the reservation to one life from now.
pub(crate) async fn keep_alive(context: &Context, prepared: &Prepared) -> Result<(), Failure> {
    let Some(reservation) = &prepared.reservation else { return Ok(()) };
    let answer = calls::get(&context.session, "/version", JSON).await;
    let now: Option<Timestamp> = answer.ok().and_then(|answer| answer.at);
    let life = SignedDuration::try_from(prepared.life).unwrap_or(SignedDuration::ZERO);
    let Some(until) = now.and_then(|now| now.checked_add(life).ok()) else { return Ok(()) };
    keep::extend(&context.session, &prepared.terms.node, &reservation.id, until).await
}

/// Takes the reservation back. Whether that worked.
pub(crate) async fn release(context: &Context, prepared: &Prepared) -> bool {
    let Some(reservation) = &prepared.reservation else { return true };
    let request = reservation.record().map(|record| record.request.clone()).unwrap_or_default();
    let answer = keep::release(&context.session, &prepared.terms.node, &reservation.id, &request).await;
    answer == Answer::Released
}

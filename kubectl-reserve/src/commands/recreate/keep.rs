//! Writes, extends and removes the reservation on the node, each with one patch that fails if the node has changed. The patches
//! come from `flow::keep`.

use crate::connect::Session;
use crate::error::{Exit, Failure};
use crate::flow::keep::{release_patch, reserve_patch};
use crate::flow::recreate::{Answer, StopReason};
use crate::node_patch::{DryRun, rewrite};
use common::api::reservation::encode;
use common::api::reservation::patch::{keys_of, patch, reservation_of};
use common::model::reservation::{Origin, Reservation, ReservationId};
use jiff::Timestamp;

/// Writes `wanted` to the node. A reservation that exists for the same pod is taken over.
pub(super) async fn reserve(
    session: &Session,
    node: &str,
    node_uid: &str,
    wanted: &Reservation,
    dry_run: DryRun,
) -> Answer {
    let mut refusal = None;
    let mut until = wanted.expires();
    let written = rewrite(session, node, dry_run, |seen| match reserve_patch(seen, node_uid, wanted) {
        Ok((patch, end)) => {
            until = Some(end);
            Ok(patch)
        }
        Err(why) => {
            refusal = Some(why);
            Err(Failure::new("it cannot be written"))
        }
    });
    match (written.await, refusal) {
        (_, Some(why)) => Answer::Failed(why),
        (Ok(written), None) => Answer::Reserved { version: written.version, until },
        (Err(failure), None) => failed(failure),
    }
}

/// Removes the reservation, unless it has another request id by now.
pub(super) async fn release(session: &Session, node: &str, id: &ReservationId, request: &str) -> Answer {
    let written = rewrite(session, node, DryRun::None, |seen| Ok(release_patch(seen, id, request)));
    match written.await {
        Ok(_) => Answer::Released,
        Err(failure) => failed(failure),
    }
}

/// Extends a reservation to `until`. Does nothing if it is gone.
pub(crate) async fn extend(
    session: &Session,
    node: &str,
    id: &ReservationId,
    until: Timestamp,
) -> Result<(), Failure> {
    let written = rewrite(session, node, DryRun::None, |seen| {
        let keys = keys_of(seen.annotations, id);
        let Some(mut found) = reservation_of(&keys) else { return Ok(None) };
        if let Origin::Recorded(record) = &mut found.origin {
            if record.expires >= until {
                return Ok(None);
            }
            record.expires = until;
        }
        let new = encode(&found).map_err(Failure::new)?;
        Ok(Some(patch(seen, &keys, &new, false)))
    });
    written.await.map(drop)
}

fn failed(failure: Failure) -> Answer {
    let message = failure.message.unwrap_or_default();
    match failure.exit {
        Exit::Forbidden => {
            let needs = "get, patch nodes and update nodes/reservations".to_owned();
            Answer::Failed(StopReason::Forbidden { message, needs })
        }
        _ => Answer::Failed(StopReason::Failed(message)),
    }
}

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
    let mut until = None;
    let written = rewrite(session, node, dry_run, |seen, now| {
        let (patch, end) = reserve_patch(seen, node_uid, wanted, now)?;
        until = Some(end);
        Ok(patch)
    });
    match written.await {
        Ok(written) => Answer::Reserved { version: written.version, until },
        Err(why) => Answer::Failed(why),
    }
}

/// Removes the reservation `ours`, unless it has another request id by now.
pub(super) async fn release(session: &Session, node: &str, ours: &Reservation) -> Answer {
    let request = ours.record().map(|record| record.request.clone()).unwrap_or_default();
    let written = rewrite(session, node, DryRun::None, |seen, _| Ok(release_patch(seen, &ours.id, &request)));
    written.await.map_or_else(Answer::Failed, |_| Answer::Released)
}

/// Extends a reservation to `until`. Does nothing if it is gone.
pub(crate) async fn extend(
    session: &Session,
    node: &str,
    id: &ReservationId,
    until: Timestamp,
) -> Result<(), Failure> {
    let written = rewrite(session, node, DryRun::None, |seen, _| {
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

impl From<Failure> for StopReason {
    fn from(failure: Failure) -> Self {
        let message = failure.message.unwrap_or_default();
        match failure.exit {
            Exit::Forbidden => Self::Forbidden {
                message,
                needs: "get, patch nodes and update nodes/reservations".to_owned(),
            },
            _ => Self::Failed(message),
        }
    }
}

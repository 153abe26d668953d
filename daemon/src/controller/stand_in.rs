//! What a replica does that does not lead: it creates the reservation of a deleted pod if the leader has not done so within half a
//! second. The leader may be dead while its Lease is still valid.
//!
//! All replicas write the same reservation under the same key: of two that try, one finds it done. A replica that is behind can
//! create one that is not needed, which the leader releases. A stand-in does nothing else: it extends, releases and binds nothing.
//! The fence (`manifests/daemon/fence.yaml`) allows it no more.

use super::Controller;
use super::create::{PodAction, action};
use crate::state::{AnnotationWrite, ReservationChange, Step};
use common::cluster::{Cluster, Ledger};
use common::model::{NodeName, Reservation, ReservationId};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the leader has for the write: many times what it needs.
const LEADER_TIME: Duration = Duration::from_millis(500);

/// The time between two checks.
const CHECK_PERIOD: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(super) struct MissingReservations {
    /// Since when each reservation is missing on its node.
    since: BTreeMap<(NodeName, ReservationId), Duration>,
    has_changed: bool,
    checked: Duration,
}

impl MissingReservations {
    /// The cluster changed since the last check.
    pub(super) fn set_changed(&mut self) {
        self.has_changed = true;
    }

    fn due(&self) -> Option<Duration> {
        (self.has_changed || !self.since.is_empty()).then(|| self.checked + CHECK_PERIOD)
    }
}

impl Controller {
    /// Writes the reservations that the leader should have written by now.
    pub(crate) fn stand_in(&mut self, step: &mut Step<'_>) {
        let now = step.now.elapsed;
        if self.missing.due().is_none_or(|due| now < due) {
            return;
        }
        let missing = missing(step.cluster, step.now.wall);
        let before = std::mem::replace(
            &mut self.missing,
            MissingReservations { checked: now, ..MissingReservations::default() },
        );
        for annotation in missing {
            let key = (annotation.node.clone(), annotation.id().clone());
            let since = before.since.get(&key).copied().unwrap_or(now);
            self.missing.since.insert(key, since);
            let ledger = step.cluster.ledger_of(&annotation.node);
            let is_written =
                ledger.is_some_and(|ledger| self.writes.is_created_unseen(ledger, annotation.id()));
            if now >= since + LEADER_TIME && !is_written {
                self.write(annotation, step);
            }
        }
    }

    /// When `stand_in` has something to do although nothing changes.
    pub(crate) fn stand_in_due(&self) -> Option<Duration> {
        self.missing.due()
    }
}

/// The reservations that no node has yet: those of pods that are being deleted, and of pods that are gone.
fn missing(cluster: &Cluster, now: Timestamp) -> Vec<AnnotationWrite> {
    let leaving =
        cluster.reservation_candidates().filter_map(|key| cluster.pod(key)).filter(|pod| pod.deleting);
    let leaving = leaving.filter_map(|pod| {
        let ledger = cluster.ledger_of(pod.node.as_ref()?)?;
        match action(pod, ledger, cluster, now) {
            PodAction::Create(reservation) => Some(reserve(ledger, *reservation)),
            PodAction::Keep | PodAction::Nothing | PodAction::Refuse(_) => None,
        }
    });
    let gone = cluster.reserved().flat_map(|ledger| {
        let unwritten = ledger.unwritten().filter(|one| cluster.is_still_needed(one));
        unwritten.map(|one| reserve(ledger, (**one).clone()))
    });
    leaving.chain(gone).collect()
}

fn reserve(ledger: &Ledger, reservation: Reservation) -> AnnotationWrite {
    let (node, uid) = (ledger.node.name.clone(), ledger.node.uid.clone());
    AnnotationWrite { node, uid, change: ReservationChange::Reserve(Box::new(reservation)) }
}

//! What a replica does that does not lead: it writes down the place of a pod that is on its way out, or gone, if nobody has for a
//! moment. The leader may be dead, and its Lease still runs for a while.
//!
//! All replicas write the same reservation under the same key: of two that try, one finds it done. A replica that is behind can
//! write one that nobody needs, which the leader releases. Nothing else is done without the Lease: nothing is extended, released
//! or bound. The fence (`manifests/daemon/fence.yaml`) allows just that.

use super::Controller;
use super::make::{Wish, wish};
use crate::state::{Annotation, Rewrite, Step};
use common::cluster::{Cluster, Ledger};
use common::model::{NodeName, Reservation, ReservationId};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the leader has for it: many times what it needs.
const PATIENCE: Duration = Duration::from_millis(500);

/// How often is looked at most.
const EVERY: Duration = Duration::from_millis(100);

/// What nobody has written down yet.
#[derive(Default)]
pub(super) struct Missing {
    /// Since when each place is missing on its node.
    since: BTreeMap<(NodeName, ReservationId), Duration>,
    has_news: bool,
    /// When was looked last.
    looked: Duration,
}

impl Missing {
    /// Something happened since.
    pub(super) fn has_news(&mut self) {
        self.has_news = true;
    }

    /// When to look next.
    fn due(&self) -> Option<Duration> {
        (self.has_news || !self.since.is_empty()).then(|| self.looked + EVERY)
    }
}

impl Controller {
    /// Writes down what the leader should have written by now.
    pub(crate) fn stand_in(&mut self, step: &mut Step<'_>) {
        let now = step.now.elapsed;
        if self.missing.due().is_none_or(|due| now < due) {
            return;
        }
        let missing = missing(step.cluster, step.now.wall);
        let before = std::mem::replace(&mut self.missing, Missing { looked: now, ..Missing::default() });
        for annotation in missing {
            let place = (annotation.node.clone(), annotation.id().clone());
            let since = before.since.get(&place).copied().unwrap_or(now);
            self.missing.since.insert(place, since);
            let ledger = step.cluster.ledger_of(&annotation.node);
            let is_written = ledger.is_some_and(|ledger| self.writes.is_on_its_way(ledger, annotation.id()));
            if now >= since + PATIENCE && !is_written {
                self.write(annotation, step);
            }
        }
    }

    /// When something is due by itself for a replica that does not lead.
    pub(crate) fn stand_in_due(&self) -> Option<Duration> {
        self.missing.due()
    }
}

/// The places that no node says: of pods that are on their way out, and of those that are gone.
fn missing(cluster: &Cluster, now: Timestamp) -> Vec<Annotation> {
    let leaving = cluster.leaving().filter_map(|key| cluster.pod(key)).filter(|pod| pod.deleting);
    let leaving = leaving.filter_map(|pod| {
        let ledger = cluster.ledger_of(pod.node.as_ref()?)?;
        match wish(pod, ledger, cluster, now) {
            Wish::Make(reservation) => Some(reserve(ledger, *reservation)),
            Wish::Made | Wish::Nothing | Wish::Refused(_) => None,
        }
    });
    let gone = cluster.reserved().flat_map(|ledger| {
        let unwritten = ledger.unwritten().filter(|one| cluster.is_still_needed(one));
        unwritten.map(|one| reserve(ledger, (**one).clone()))
    });
    leaving.chain(gone).collect()
}

fn reserve(ledger: &Ledger, reservation: Reservation) -> Annotation {
    let (node, uid) = (ledger.node.name.clone(), ledger.node.uid.clone());
    Annotation { node, uid, change: Rewrite::Reserve(Box::new(reservation)) }
}

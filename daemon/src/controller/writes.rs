//! The writes to nodes that are under way, those that failed and have to wait, and those that have not been seen yet.

use crate::state::{Annotated, Annotation, Rewrite};
use common::cluster::Ledger;
use common::model::ids::Uid;
use common::model::{NodeName, ReservationId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The pauses after the first and after the last of many failures.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// How long nothing is tried after the API server said that we may not: a role may be given later.
const FORBIDDEN_PAUSE: Duration = Duration::from_secs(60);

/// How long a failure is remembered.
const FORGET: Duration = Duration::from_secs(10 * 60);

type Place = (NodeName, ReservationId);

/// What is known about our own writes.
#[derive(Default)]
pub(super) struct Writes {
    under_way: BTreeSet<Place>,
    failed: BTreeMap<Place, Failed>,
    /// The version of each node that we wrote last, until it is seen.
    wrote: BTreeMap<NodeName, (Uid, u64)>,
    /// What we made on nodes of which we have not seen what we wrote last.
    made: BTreeSet<Place>,
    /// What we released, until it is seen to be gone.
    released: BTreeSet<Place>,
    forbidden_until: Option<Duration>,
}

struct Failed {
    times: u32,
    again: Duration,
    /// Whether one of them had no answer, and may have been done.
    is_unknown: bool,
}

impl Writes {
    /// Whether the write may begin now; then it has.
    pub(super) fn start(&mut self, annotation: &Annotation, now: Duration) -> bool {
        let place = place(annotation);
        let is_early = self.failed.get(&place).is_some_and(|failed| now < failed.again)
            || self.forbidden_until.is_some_and(|until| now < until);
        if is_early || !self.under_way.insert(place.clone()) {
            return false;
        }
        if matches!(annotation.change, Rewrite::Release { .. }) {
            self.released.insert(place);
        }
        true
    }

    /// What has become of a write. Says after what pause it may be tried again.
    pub(super) fn answered(
        &mut self,
        annotation: &Annotation,
        outcome: &Annotated,
        now: Duration,
    ) -> Option<Duration> {
        self.failed.retain(|_, failed| now < failed.again + FORGET);
        let place = place(annotation);
        self.under_way.remove(&place);
        match outcome {
            Annotated::Done { version } => {
                self.failed.remove(&place);
                self.forbidden_until = None;
                if matches!(annotation.change, Rewrite::Reserve(_)) {
                    self.released.remove(&place);
                    self.made.insert(place);
                }
                self.wrote.insert(annotation.node.clone(), (annotation.uid.clone(), *version));
                None
            }
            Annotated::Refused { is_forbidden: true, .. } => {
                self.forbidden_until = Some(now + FORBIDDEN_PAUSE);
                self.released.remove(&place);
                Some(FORBIDDEN_PAUSE)
            }
            Annotated::Refused { .. } | Annotated::Unknown { .. } => {
                let is_unknown = matches!(outcome, Annotated::Unknown { .. });
                if !is_unknown {
                    self.released.remove(&place);
                }
                let first = Failed { times: 0, again: now, is_unknown };
                let failed = self.failed.entry(place).or_insert(first);
                failed.is_unknown |= is_unknown;
                let pause = PAUSES.0 * 2_u32.pow(failed.times.min(5));
                failed.times = failed.times.saturating_add(1);
                failed.again = now + pause.min(PAUSES.1);
                Some(pause.min(PAUSES.1))
            }
        }
    }

    /// Whether what we last wrote to the node has been seen.
    pub(super) fn has_seen_own(&mut self, ledger: &Ledger) -> bool {
        let node = &ledger.node;
        let Some((uid, version)) = self.wrote.get(&node.name) else { return true };
        let is_seen = *uid != node.uid || node.resource_version >= *version;
        if is_seen {
            self.made.retain(|(on, _)| *on != node.name);
            self.wrote.remove(&node.name);
        }
        is_seen
    }

    /// Whether the node is as we left it: nothing that we write is on its way there, or back to us.
    pub(super) fn is_still(&mut self, ledger: &Ledger) -> bool {
        !self.under_way.iter().any(|(node, _)| *node == ledger.node.name) && self.has_seen_own(ledger)
    }

    /// Whether we made `id` and have not seen it yet. Making it again would only find that it is there, and as often as
    /// the API server can answer.
    pub(super) fn is_on_its_way(&mut self, ledger: &Ledger, id: &ReservationId) -> bool {
        !self.has_seen_own(ledger) && self.made.contains(&(ledger.node.name.clone(), id.clone()))
    }

    /// Whether the node may say something about `id` by our hand that we have not seen yet.
    pub(super) fn may_be_there(&mut self, ledger: &Ledger, id: &ReservationId) -> bool {
        let place = (ledger.node.name.clone(), id.clone());
        self.under_way.contains(&place)
            || self.failed.get(&place).is_some_and(|failed| failed.is_unknown)
            || self.is_on_its_way(ledger, id)
    }

    /// Whether it was us who released `id`. Asked once, when it is gone.
    pub(super) fn was_released(&mut self, node: &NodeName, id: &ReservationId) -> bool {
        self.released.remove(&(node.clone(), id.clone()))
    }
}

fn place(annotation: &Annotation) -> Place {
    (annotation.node.clone(), annotation.id().clone())
}

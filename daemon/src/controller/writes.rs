//! The writes to nodes that are under way, those that failed and have to wait, and those that have not been seen yet.

use crate::state::{Annotated, Annotation, Refusal, Rewrite};
use common::cluster::Ledger;
use common::model::ids::Uid;
use common::model::{NodeName, ReservationId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The pauses after the first and after the last of many failures.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// The pauses after a policy refused a write to a node: the first, and the longest. A new leader is refused until the API server has
/// heard of its Lease, which takes a moment.
const DENIED_PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

/// How long nothing is tried after the API server said that our role does not allow it: a role may be given later.
const NOT_ALLOWED_PAUSE: Duration = Duration::from_secs(60);

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
    /// Nodes to which a policy refused our last write.
    denied: BTreeMap<NodeName, Denied>,
    /// Our role does not allow to write reservations, and nothing is tried before this.
    not_allowed_until: Option<Duration>,
}

struct Denied {
    times: u32,
    again: Duration,
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
            || self.denied.get(&annotation.node).is_some_and(|denied| now < denied.again)
            || self.not_allowed_until.is_some_and(|until| now < until);
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
                self.not_allowed_until = None;
                self.denied.remove(&annotation.node);
                if matches!(annotation.change, Rewrite::Reserve(_)) {
                    self.released.remove(&place);
                    self.made.insert(place);
                }
                self.wrote.insert(annotation.node.clone(), (annotation.uid.clone(), *version));
                None
            }
            Annotated::Refused { refusal: Refusal::NotAllowed, .. } => {
                self.not_allowed_until = Some(now + NOT_ALLOWED_PAUSE);
                self.released.remove(&place);
                Some(NOT_ALLOWED_PAUSE)
            }
            Annotated::Refused { refusal: Refusal::Denied, .. } => {
                self.released.remove(&place);
                Some(self.denied(&annotation.node, now))
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

    /// A policy refused a write to `node`. Says after what pause the next may begin.
    fn denied(&mut self, node: &NodeName, now: Duration) -> Duration {
        self.denied.retain(|_, denied| now < denied.again + FORGET);
        let denied = self.denied.entry(node.clone()).or_insert(Denied { times: 0, again: now });
        let pause = (DENIED_PAUSES.0 * 2_u32.pow(denied.times.min(5))).min(DENIED_PAUSES.1);
        denied.times = denied.times.saturating_add(1);
        denied.again = now + pause;
        pause
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

    /// Whether we release `id`, or have released it and do not see that yet.
    pub(super) fn is_releasing(&self, node: &NodeName, id: &ReservationId) -> bool {
        self.released.contains(&(node.clone(), id.clone()))
    }

    /// Whether it was us who released `id`. Asked once, when it is gone.
    pub(super) fn was_released(&mut self, node: &NodeName, id: &ReservationId) -> bool {
        self.released.remove(&(node.clone(), id.clone()))
    }
}

fn place(annotation: &Annotation) -> Place {
    (annotation.node.clone(), annotation.id().clone())
}

#[cfg(test)]
mod tests {
    use super::Writes;
    use crate::state::{Annotated, Annotation, Refusal, Rewrite};
    use common::model::ReservationId;
    use jiff::Timestamp;
    use std::time::Duration;

    fn extend(node: &str, owner: &str) -> Annotation {
        let id = ReservationId { owner: owner.into(), seat: None };
        let change = Rewrite::Extend { id, request: "r".into(), expires: Timestamp::UNIX_EPOCH };
        Annotation { node: node.into(), uid: node.into(), change }
    }

    fn refused(refusal: Refusal) -> Annotated {
        Annotated::Refused { why: "no".into(), refusal }
    }

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_policy_that_refuses_holds_up_one_node_and_only_for_a_moment() {
        let mut writes = Writes::default();
        let (one, same, other) = (extend("n1", "a"), extend("n1", "b"), extend("n2", "a"));
        assert!(writes.start(&one, ms(0)));
        let mut pauses = vec![writes.answered(&one, &refused(Refusal::Denied), ms(0)).unwrap()];
        assert!(writes.start(&other, ms(1)), "another node is not concerned");
        assert!(!writes.start(&same, ms(199)) && !writes.start(&one, ms(199)), "the node is");
        for _ in 0..5 {
            let now = ms(1_000_000);
            assert!(writes.start(&one, now + pauses.iter().sum::<Duration>()));
            let again = now + pauses.iter().sum::<Duration>();
            pauses.extend(writes.answered(&one, &refused(Refusal::Denied), again));
        }
        assert_eq!(
            pauses,
            [200, 200, 400, 800, 1600, 2000].map(ms),
            "forgotten after a while, and never long"
        );
        assert!(writes.start(&one, ms(2_000_000)));
        writes.answered(&one, &Annotated::Done { version: 1 }, ms(2_000_000));
        assert!(writes.start(&same, ms(2_000_000)), "what was accepted ends it");
    }

    #[test]
    fn without_the_right_nothing_is_tried_anywhere_for_a_minute() {
        let mut writes = Writes::default();
        let (one, other) = (extend("n1", "a"), extend("n2", "a"));
        assert!(writes.start(&one, ms(0)));
        writes.answered(&one, &refused(Refusal::NotAllowed), ms(0));
        assert!(!writes.start(&other, ms(59_999)));
        assert!(writes.start(&other, ms(60_000)));
    }
}

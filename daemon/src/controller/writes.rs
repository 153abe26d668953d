//! The controller's writes to nodes: those that are pending, those that failed and have to wait, and those that the watch has not
//! shown yet. `start` begins a write, `finish` takes its outcome.

use crate::state::{AnnotationOutcome, AnnotationWrite, ReservationChange, WriteRefusal};
use common::cluster::Ledger;
use common::model::{NodeName, ReservationId, Uid};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The first and the longest pause after failures.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// The first and the longest pause after an admission policy refused a write to a node. A new leader is refused until the policy
/// sees its Lease, which takes a short time.
const DENIED_PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

/// How long nothing is written after RBAC refused a write: a role may be added later.
const NOT_ALLOWED_PAUSE: Duration = Duration::from_secs(60);

/// How long a failure is remembered.
const FORGET: Duration = Duration::from_secs(10 * 60);

type ReservationKey = (NodeName, ReservationId);

#[derive(Default)]
pub(super) struct Writes {
    pending: BTreeSet<ReservationKey>,
    failures: BTreeMap<ReservationKey, WriteFailure>,
    /// The version of each node after our last write, until the watch shows it.
    unseen: BTreeMap<NodeName, (Uid, u64)>,
    /// What we created on the nodes in `unseen`.
    created: BTreeSet<ReservationKey>,
    /// What we release or released, until it is seen to be gone.
    released: BTreeSet<ReservationKey>,
    /// Nodes to which a policy refused our last write.
    denials: BTreeMap<NodeName, WriteDenial>,
    /// RBAC does not allow to write reservations, and nothing is tried before this.
    not_allowed_until: Option<Duration>,
}

struct WriteDenial {
    times: u32,
    again: Duration,
}

struct WriteFailure {
    times: u32,
    again: Duration,
    /// Whether one of the tries had no answer, and may have been done.
    is_unknown: bool,
}

impl Writes {
    /// Whether the write may begin now. If so, it counts as pending.
    pub(super) fn start(&mut self, annotation: &AnnotationWrite, now: Duration) -> bool {
        let key = key(annotation);
        let is_early = self.failures.get(&key).is_some_and(|failure| now < failure.again)
            || self.denials.get(&annotation.node).is_some_and(|denial| now < denial.again)
            || self.not_allowed_until.is_some_and(|until| now < until);
        if is_early || !self.pending.insert(key.clone()) {
            return false;
        }
        if matches!(annotation.change, ReservationChange::Release { .. }) {
            self.released.insert(key);
        }
        true
    }

    /// Takes the outcome of a write. Returns the pause after which it may be tried again.
    pub(super) fn finish(
        &mut self,
        annotation: &AnnotationWrite,
        outcome: &AnnotationOutcome,
        now: Duration,
    ) -> Option<Duration> {
        self.failures.retain(|_, failure| now < failure.again + FORGET);
        let key = key(annotation);
        self.pending.remove(&key);
        match outcome {
            AnnotationOutcome::Done { version } => {
                self.failures.remove(&key);
                self.not_allowed_until = None;
                self.denials.remove(&annotation.node);
                if matches!(annotation.change, ReservationChange::Reserve(_)) {
                    self.released.remove(&key);
                    self.created.insert(key);
                }
                self.unseen.insert(annotation.node.clone(), (annotation.uid.clone(), *version));
                None
            }
            AnnotationOutcome::Refused { refusal: WriteRefusal::NotAllowed, .. } => {
                self.not_allowed_until = Some(now + NOT_ALLOWED_PAUSE);
                self.released.remove(&key);
                Some(NOT_ALLOWED_PAUSE)
            }
            AnnotationOutcome::Refused { refusal: WriteRefusal::Denied, .. } => {
                self.released.remove(&key);
                Some(self.deny(&annotation.node, now))
            }
            AnnotationOutcome::Refused { .. } | AnnotationOutcome::Unknown { .. } => {
                let is_unknown = matches!(outcome, AnnotationOutcome::Unknown { .. });
                if !is_unknown {
                    self.released.remove(&key);
                }
                let first = WriteFailure { times: 0, again: now, is_unknown };
                let failure = self.failures.entry(key).or_insert(first);
                failure.is_unknown |= is_unknown;
                let pause = PAUSES.0 * 2_u32.pow(failure.times.min(5));
                failure.times = failure.times.saturating_add(1);
                failure.again = now + pause.min(PAUSES.1);
                Some(pause.min(PAUSES.1))
            }
        }
    }

    /// A policy refused a write to `node`. Returns the pause before the next one.
    fn deny(&mut self, node: &NodeName, now: Duration) -> Duration {
        self.denials.retain(|_, denial| now < denial.again + FORGET);
        let denial = self.denials.entry(node.clone()).or_insert(WriteDenial { times: 0, again: now });
        let pause = (DENIED_PAUSES.0 * 2_u32.pow(denial.times.min(5))).min(DENIED_PAUSES.1);
        denial.times = denial.times.saturating_add(1);
        denial.again = now + pause;
        pause
    }

    /// Whether the watch has shown our last write to the node.
    pub(super) fn has_seen_own(&mut self, ledger: &Ledger) -> bool {
        let node = &ledger.node;
        let Some((uid, version)) = self.unseen.get(&node.name) else { return true };
        let is_seen = *uid != node.uid || node.resource_version >= *version;
        if is_seen {
            self.created.retain(|(on, _)| *on != node.name);
            self.unseen.remove(&node.name);
        }
        is_seen
    }

    /// Whether no write to the node is pending, and the last one was seen.
    pub(super) fn is_settled(&mut self, ledger: &Ledger) -> bool {
        !self.pending.iter().any(|(node, _)| *node == ledger.node.name) && self.has_seen_own(ledger)
    }

    /// Whether we created `id` and have not seen it yet. To create it again would only find that it exists, without a pause between
    /// the tries.
    pub(super) fn is_created_unseen(&mut self, ledger: &Ledger, id: &ReservationId) -> bool {
        !self.has_seen_own(ledger) && self.created.contains(&(ledger.node.name.clone(), id.clone()))
    }

    /// Whether the node may have `id` by a write of ours that we have not seen yet.
    pub(super) fn may_exist(&mut self, ledger: &Ledger, id: &ReservationId) -> bool {
        let key = (ledger.node.name.clone(), id.clone());
        self.pending.contains(&key)
            || self.failures.get(&key).is_some_and(|failure| failure.is_unknown)
            || self.is_created_unseen(ledger, id)
    }

    /// Whether we release `id`, or have released it and have not seen that yet.
    pub(super) fn is_releasing(&self, node: &NodeName, id: &ReservationId) -> bool {
        self.released.contains(&(node.clone(), id.clone()))
    }

    /// Whether we released `id`, which is gone. Forgets the release.
    pub(super) fn take_released(&mut self, node: &NodeName, id: &ReservationId) -> bool {
        self.released.remove(&(node.clone(), id.clone()))
    }
}

fn key(annotation: &AnnotationWrite) -> ReservationKey {
    (annotation.node.clone(), annotation.id().clone())
}

#[cfg(test)]
mod tests {
    use super::Writes;
    use crate::state::{AnnotationOutcome, AnnotationWrite, ReservationChange, WriteRefusal};
    use common::model::ReservationId;
    use jiff::Timestamp;
    use std::time::Duration;

    fn extend(node: &str, owner: &str) -> AnnotationWrite {
        let id = ReservationId { owner: owner.into(), seat: None };
        let change = ReservationChange::Extend { id, request: "r".into(), expires: Timestamp::UNIX_EPOCH };
        AnnotationWrite { node: node.into(), uid: node.into(), change }
    }

    fn refused(refusal: WriteRefusal) -> AnnotationOutcome {
        AnnotationOutcome::Refused { why: "no".into(), refusal }
    }

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_policy_that_refuses_holds_up_one_node_and_only_for_a_moment() {
        let mut writes = Writes::default();
        let (one, same, other) = (extend("n1", "a"), extend("n1", "b"), extend("n2", "a"));
        assert!(writes.start(&one, ms(0)));
        let mut pauses = vec![writes.finish(&one, &refused(WriteRefusal::Denied), ms(0)).unwrap()];
        assert!(writes.start(&other, ms(1)), "another node is not concerned");
        assert!(!writes.start(&same, ms(199)) && !writes.start(&one, ms(199)), "the node is");
        for _ in 0..5 {
            let now = ms(1_000_000);
            assert!(writes.start(&one, now + pauses.iter().sum::<Duration>()));
            let again = now + pauses.iter().sum::<Duration>();
            pauses.extend(writes.finish(&one, &refused(WriteRefusal::Denied), again));
        }
        assert_eq!(
            pauses,
            [200, 200, 400, 800, 1600, 2000].map(ms),
            "forgotten after a while, and never long"
        );
        assert!(writes.start(&one, ms(2_000_000)));
        writes.finish(&one, &AnnotationOutcome::Done { version: 1 }, ms(2_000_000));
        assert!(writes.start(&same, ms(2_000_000)), "what was accepted ends it");
    }

    #[test]
    fn without_the_right_nothing_is_tried_anywhere_for_a_minute() {
        let mut writes = Writes::default();
        let (one, other) = (extend("n1", "a"), extend("n2", "a"));
        assert!(writes.start(&one, ms(0)));
        writes.finish(&one, &refused(WriteRefusal::NotAllowed), ms(0));
        assert!(!writes.start(&other, ms(59_999)));
        assert!(writes.start(&other, ms(60_000)));
    }
}

//! Which owners of foreign kinds are read, and when.
//!
//! The built-in kinds of owners are watched. Other kinds can control pods, too (a CloneSet, a database operator). The daemon reads
//! the metadata of each such owner that a pod names, and of the owners above it, where RBAC allows it; and again every five
//! minutes, as long as anything names the owner. If it may not read an owner and `reserve/keep` asks for reservations of its pods,
//! it sends one event.
//!
//! `changed` queues reads, `act` starts them, `answered` handles a result. Knows nothing of: how an owner is read.

use crate::state::{Effect, Note, ObjectEvent, ObjectRef, Step};
use common::cluster::{Change, Cluster, OwnerAnswer};
use common::model::ids::{PodKey, Uid};
use common::model::owner::ForeignClaim;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// The most reads at the same time.
const READS_MAX: usize = 4;

/// The time between the starts of two reads. Reads share the client's rate limit with bindings.
const PAUSE: Duration = Duration::from_millis(200);

/// How long an owner waits after a read of it had no answer.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// The time after which all owners are read again.
const READ_AGAIN: Duration = Duration::from_secs(300);

/// How many reported owners are remembered; beyond that all are forgotten and may be reported once more.
const REPORTED_MAX: usize = 10_000;

/// An owner that is to be read.
struct WaitingRead {
    claim: ForeignClaim,
    /// The pod that names it, if it was never read.
    pod: Option<PodKey>,
    /// When it may be read.
    due: Duration,
}

#[derive(Default)]
pub(crate) struct OwnerReads {
    waiting: VecDeque<WaitingRead>,
    reading: BTreeMap<ForeignClaim, Option<PodKey>>,
    /// When the next read may begin.
    next: Duration,
    /// When everything is read again; `None` before the first check of all pods.
    again: Option<Duration>,
    /// The owners that an event was sent about.
    reported: BTreeSet<Uid>,
}

impl OwnerReads {
    /// Learns what an event altered.
    pub(crate) fn changed(&mut self, changes: &[Change], is_leading: bool, step: &mut Step<'_>) {
        for change in changes {
            if let Change::PodWaiting(key) | Change::PodNotWaiting(key) = change {
                self.read_owner_of(key, step);
                self.report_unreadable(key, is_leading, step);
            }
        }
    }

    /// Handles the result of a read, which the belief has already taken in.
    pub(crate) fn answered(
        &mut self,
        claim: &ForeignClaim,
        answer: &OwnerAnswer,
        is_leading: bool,
        step: &mut Step<'_>,
    ) {
        let pod = self.reading.remove(claim).flatten();
        match answer {
            OwnerAnswer::Found(found) => {
                if let Some(above) = step.cluster.owner_above_to_read(found) {
                    self.enqueue(above, pod, step.now.elapsed, step);
                }
            }
            OwnerAnswer::Refused(_) => {
                for key in pod.into_iter().chain(step.cluster.reservation_candidates_of(&claim.uid)) {
                    self.report_unreadable(&key, is_leading, step);
                }
            }
            // An owner that was never read is tried again soon, as long as the pod that names it exists.
            OwnerAnswer::Unknown => {
                if let Some(pod) = pod.filter(|key| step.cluster.pod(key).is_some()) {
                    self.enqueue(claim.clone(), Some(pod), step.now.elapsed + PAUSE_AFTER_FAILURE, step);
                }
            }
            OwnerAnswer::Gone => {}
        }
    }

    pub(crate) fn act(&mut self, step: &mut Step<'_>) {
        let now = step.now.elapsed;
        match self.again {
            Some(again) if now < again => {}
            Some(_) => self.read_all_again(step),
            None => {
                let pods: Vec<PodKey> = step.cluster.pods().map(|pod| pod.key.clone()).collect();
                pods.iter().for_each(|key| self.read_owner_of(key, step));
            }
        }
        if self.again.is_none_or(|again| again <= now) {
            self.again = Some(now + READ_AGAIN);
        }
        while self.reading.len() < READS_MAX
            && now >= self.next
            && let Some(due) = self.waiting.iter().position(|read| read.due <= now)
            && let Some(WaitingRead { claim, pod, .. }) = self.waiting.remove(due)
        {
            step.effects.push(Effect::ReadOwner(Box::new(claim.clone())));
            self.reading.insert(claim, pod);
            self.next = now + PAUSE;
        }
    }

    /// When `act` has something to do although nothing changes.
    pub(crate) fn next_tick(&self, cluster: &Cluster) -> Option<Duration> {
        let due = self.waiting.iter().map(|read| read.due).min().filter(|_| self.reading.len() < READS_MAX);
        let again = self.again.filter(|_| cluster.foreign_claims().next().is_some());
        due.map(|due| due.max(self.next)).or(again)
    }

    fn read_owner_of(&mut self, key: &PodKey, step: &mut Step<'_>) {
        let claim = step.cluster.pod(key).and_then(|pod| step.cluster.owner_to_read(pod));
        if let Some(claim) = claim {
            self.enqueue(claim, Some(key.clone()), step.now.elapsed, step);
        }
    }

    fn enqueue(&mut self, claim: ForeignClaim, pod: Option<PodKey>, due: Duration, step: &mut Step<'_>) {
        step.cluster.note_owner_being_read(&claim);
        self.waiting.push_back(WaitingRead { claim, pod, due });
    }

    fn read_all_again(&mut self, step: &mut Step<'_>) {
        let claims: Vec<ForeignClaim> = step.cluster.foreign_claims().cloned().collect();
        let busy: BTreeSet<ForeignClaim> = self.waiting.iter().map(|read| read.claim.clone()).collect();
        for claim in claims {
            if !step.cluster.is_named(&claim.uid) {
                // Nothing names the owner, so its removal changes nothing else.
                drop(step.cluster.forget_owner(&claim));
                self.reported.remove(&claim.uid);
            } else if !self.reading.contains_key(&claim) && !busy.contains(&claim) {
                self.waiting.push_back(WaitingRead { claim, pod: None, due: step.now.elapsed });
            }
        }
        self.waiting.retain(|read| step.cluster.is_named(&read.claim.uid));
    }

    /// Sends an event on the pod, once for its owner, that no reservation is made because the owner cannot be read.
    fn report_unreadable(&mut self, key: &PodKey, is_leading: bool, step: &mut Step<'_>) {
        let Some(pod) = step.cluster.pod(key).filter(|_| is_leading) else { return };
        let Some((claim, why)) = step.cluster.unreadable_owner(pod) else { return };
        if self.reported.len() >= REPORTED_MAX {
            self.reported.clear();
        }
        if self.reported.insert(claim.uid.clone()) {
            let (kind, name) = (&claim.kind.kind, &claim.name);
            let note = format!("No room is reserved for the pods of {kind} {name}: {why}");
            let event = ObjectEvent::warning(ObjectRef::from(&**pod), "OwnerUnreadable", note);
            step.effects.push(Effect::WriteEvent(Box::new(ObjectEvent { at: step.now.wall, ..event })));
            step.notes.push(Note::OwnerUnreadable);
        }
    }
}

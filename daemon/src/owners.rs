//! Which owners of foreign kinds are read, and when.
//!
//! The kinds of Kubernetes itself are followed by watches. Any other kind may control pods, too (a CloneSet, a database). The daemon
//! reads the metadata of each such owner that a pod names, and of the owners above it, where its role lets it; and again every
//! five minutes, as long as anything names the owner. Where it may not read an owner, and somebody wishes that the places of its
//! pods be kept, that is told once.
//!
//! Knows nothing of: how an owner is read.

use crate::state::{Effect, Note, ObjectEvent, ObjectRef, Step};
use common::cluster::{Change, Cluster, OwnerAnswer};
use common::model::ids::{PodKey, Uid};
use common::model::owner::ForeignClaim;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// How many are read at once.
const READS_MAX: usize = 4;

/// The time between the beginnings of two reads. Bindings share the rate at which the API server may be asked.
const PAUSE: Duration = Duration::from_millis(200);

/// The same after a read that had no answer.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// How long what was read is good for.
const READ_AGAIN: Duration = Duration::from_secs(300);

/// So many owners are remembered to have been told of; then all may be told of once more.
const TOLD_MAX: usize = 10_000;

/// Reads owners.
#[derive(Default)]
pub(crate) struct OwnerReads {
    /// What is to be read, each with the pod that names it, if it is read for the first time.
    waiting: VecDeque<(ForeignClaim, Option<PodKey>)>,
    reading: BTreeMap<ForeignClaim, Option<PodKey>>,
    /// When the next read may begin.
    next: Duration,
    /// When everything is read again; `None` before all pods were looked at once.
    again: Option<Duration>,
    /// The owners that people were told of.
    told: BTreeSet<Uid>,
}

impl OwnerReads {
    /// Learns what an event altered.
    pub(crate) fn changed(&mut self, changes: &[Change], is_leading: bool, step: &mut Step<'_>) {
        for change in changes {
            if let Change::PodWaiting(key) | Change::PodSettled(key) = change {
                self.look(key, step);
                self.tell(key, is_leading, step);
            }
        }
    }

    /// Learns what came of a read. The cluster has learnt it already.
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
                    self.ask(above, pod, step);
                }
            }
            OwnerAnswer::Refused(_) => {
                for key in pod.into_iter().chain(step.cluster.leaving_of(&claim.uid)) {
                    self.tell(&key, is_leading, step);
                }
            }
            // What was never read is tried again soon, for as long as there is the pod that names it.
            OwnerAnswer::Unknown => {
                if let Some(pod) = pod.filter(|key| step.cluster.pod(key).is_some()) {
                    self.ask(claim.clone(), Some(pod), step);
                    self.next = step.now.elapsed + PAUSE_AFTER_FAILURE;
                }
            }
            OwnerAnswer::Gone => {}
        }
    }

    /// Begins what is due.
    pub(crate) fn act(&mut self, step: &mut Step<'_>) {
        let now = step.now.elapsed;
        match self.again {
            Some(again) if now < again => {}
            Some(_) => self.read_all_again(step),
            None => {
                let pods: Vec<PodKey> = step.cluster.pods().map(|pod| pod.key.clone()).collect();
                pods.iter().for_each(|key| self.look(key, step));
            }
        }
        if self.again.is_none_or(|again| again <= now) {
            self.again = Some(now + READ_AGAIN);
        }
        while self.reading.len() < READS_MAX
            && now >= self.next
            && let Some((claim, pod)) = self.waiting.pop_front()
        {
            step.effects.push(Effect::ReadOwner(Box::new(claim.clone())));
            self.reading.insert(claim, pod);
            self.next = now + PAUSE;
        }
    }

    /// When something is due by itself.
    pub(crate) fn next_tick(&self, cluster: &Cluster) -> Option<Duration> {
        let is_due = !self.waiting.is_empty() && self.reading.len() < READS_MAX;
        let again = self.again.filter(|_| cluster.foreign_claims().next().is_some());
        if is_due { Some(self.next) } else { again }
    }

    /// Looks whether the pod names an owner that is to be read.
    fn look(&mut self, key: &PodKey, step: &mut Step<'_>) {
        let claim = step.cluster.pod(key).and_then(|pod| step.cluster.owner_to_read(pod));
        if let Some(claim) = claim {
            self.ask(claim, Some(key.clone()), step);
        }
    }

    fn ask(&mut self, claim: ForeignClaim, pod: Option<PodKey>, step: &mut Step<'_>) {
        step.cluster.asks_for_owner(&claim);
        self.waiting.push_back((claim, pod));
    }

    fn read_all_again(&mut self, step: &mut Step<'_>) {
        let claims: Vec<ForeignClaim> = step.cluster.foreign_claims().cloned().collect();
        let busy: BTreeSet<ForeignClaim> = self.waiting.iter().map(|(claim, _)| claim.clone()).collect();
        for claim in claims {
            if !step.cluster.is_named(&claim.uid) {
                // Nothing names it, so that nothing follows from its being forgotten.
                drop(step.cluster.forget_owner(&claim));
                self.told.remove(&claim.uid);
            } else if !self.reading.contains_key(&claim) && !busy.contains(&claim) {
                self.waiting.push_back((claim, None));
            }
        }
        self.waiting.retain(|(claim, _)| step.cluster.is_named(&claim.uid));
    }

    /// Tells the pod, once for its owner, that its place is not kept because the owner cannot be read.
    fn tell(&mut self, key: &PodKey, is_leading: bool, step: &mut Step<'_>) {
        let Some(pod) = step.cluster.pod(key).filter(|_| is_leading) else { return };
        let Some((claim, why)) = step.cluster.unreadable_owner(pod) else { return };
        if self.told.len() >= TOLD_MAX {
            self.told.clear();
        }
        if self.told.insert(claim.uid.clone()) {
            let (kind, name) = (&claim.kind.kind, &claim.name);
            let note = format!("No room is reserved for the pods of {kind} {name}: {why}");
            let report = ObjectEvent::warning(ObjectRef::from(&**pod), "OwnerUnreadable", note);
            step.effects.push(Effect::WriteEvent(Box::new(ObjectEvent { at: step.now.wall, ..report })));
            step.notes.push(Note::OwnerUnreadable);
        }
    }
}

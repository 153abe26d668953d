//! Confirms reservations to pods that have `reserve/keep` themselves: sends the event `Reserved` once every live replica has seen
//! the reservation. Also measures how long replicas take to see one.
//!
//! Each run of the command writes a value of its own (`reserve/keep: 10m#2f6c01`), and the event repeats its name (`reserve/answers`): what
//! was answered to another run, or to a value that was taken back, is no answer.

use super::{Controller, WorkItems, events};
use crate::state::{Effect, Note, Step};
use common::cluster::{Acknowledgement, Cluster, Ledger, acknowledgement};
use common::model::{Keep, Pod, PodKey, Uid};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

#[derive(Default)]
pub(super) struct Confirmations {
    by_pod: BTreeMap<PodKey, Confirmation>,
    /// The versions of nodes after our writes, and the times of the writes: to measure how long replicas take to see them.
    written: VecDeque<(u64, Duration)>,
}

/// How many writes are remembered.
const WRITTEN_MAX: usize = 256;

/// How far the clocks of replicas may differ.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_secs(2);

/// A write that was not seen by all after this long is not measured.
const SEEN_WITHIN: Duration = Duration::from_secs(60);

struct Confirmation {
    uid: Uid,
    /// The value of `reserve/keep` that is confirmed: a new value is confirmed again.
    keep: Keep,
    /// The version of the node that every replica must have seen; `None` once the event was sent.
    version: Option<u64>,
}

impl Confirmations {
    /// The node has the pod's reservation: its confirmation waits for the replicas from now on.
    pub(super) fn await_replicas(&mut self, pod: &Pod, ledger: &Ledger) {
        let Some(keep) = pod.keep().filter(|keep| keep.life().is_some() && !pod.deleting) else { return };
        let is_known = |known: &Confirmation| known.uid == pod.uid && known.keep == *keep;
        if self.by_pod.get(&pod.key).is_some_and(is_known) {
            return;
        }
        let version = Some(ledger.node.resource_version);
        let confirmation = Confirmation { uid: pod.uid.clone(), keep: keep.clone(), version };
        self.by_pod.insert(pod.key.clone(), confirmation);
    }

    /// Forgets a pod without `reserve/keep`; if it has one again later, that is confirmed again.
    pub(super) fn forget_unless_requested(&mut self, pod: &Pod) {
        if pod.keep().and_then(Keep::life).is_none() {
            self.by_pod.remove(&pod.key);
        }
    }

    pub(super) fn note_write(&mut self, version: u64, now: Duration) {
        if self.written.len() >= WRITTEN_MAX {
            self.written.pop_front();
        }
        self.written.push_back((version, now));
    }

    /// Notes how long it took for the writes that every live replica has seen by now.
    fn measure(&mut self, step: &mut Step<'_>) {
        let (cluster, now) = (&*step.cluster, step.now);
        self.written.retain(|(version, since)| {
            let took = now.elapsed.saturating_sub(*since);
            let is_seen =
                acknowledgement(cluster.replicas().iter(), *version, now.wall) == Acknowledgement::ByAll;
            if is_seen {
                let after_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                step.notes.push(Note::Acknowledged { after_ms });
            }
            !is_seen && took < SEEN_WITHIN
        });
    }
}

impl Controller {
    /// Sends the confirmations of reservations that every live replica has seen.
    pub(super) fn confirm(&mut self, work: &WorkItems, step: &mut Step<'_>) {
        if !work.replicas && work.pods.is_empty() && !work.all {
            return;
        }
        self.confirmations.measure(step);
        let (cluster, now) = (&*step.cluster, step.now.wall);
        // A reservation that vanished before its confirmation is created again, and then waits for the replicas again.
        let is_valid = |key: &PodKey, known: &Confirmation| {
            let pod = cluster.pod(key).filter(|pod| pod.uid == known.uid);
            pod.is_some_and(|pod| known.version.is_none() || expiry(pod, cluster).is_some())
        };
        self.confirmations.by_pod.retain(|key, known| is_valid(key, known));
        for (key, known) in &mut self.confirmations.by_pod {
            let Some(version) = known.version else { continue };
            let Some(pod) = cluster.pod(key) else { continue };
            if acknowledgement(cluster.replicas().iter(), version, before(now)) == Acknowledgement::ByAll {
                known.version = None;
                let event = events::reserved(pod, expiry(pod, cluster), now);
                step.effects.push(Effect::WriteEvent(Box::new(event)));
            }
        }
    }
}

/// A time early enough that every Lease counts as live that may be live by another clock: clocks differ, and the API server's time
/// has whole seconds.
pub(super) fn before(now: Timestamp) -> Timestamp {
    now.checked_sub(CLOCK_SKEW).unwrap_or(now)
}

/// When the pod's reservation expires, by the node's annotations.
fn expiry(pod: &Pod, cluster: &Cluster) -> Option<Timestamp> {
    let ledger = pod.node.as_ref().and_then(|node| cluster.ledger_of(node))?;
    let mut own = ledger.node.reservations.iter().filter_map(|parsed| parsed.valid());
    own.find(|one| one.replaces().is_some_and(|replaced| replaced.uid == pod.uid))?.expires()
}

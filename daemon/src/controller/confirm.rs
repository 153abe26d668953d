//! Pods that asked for a reservation by themselves are told when they have it: once every live replica has seen it.

use super::{Controller, Look, events};
use crate::state::{Effect, Note, Step};
use common::cluster::{Acknowledged, Cluster, Ledger, acknowledged};
use common::model::keep::Keep;
use common::model::{Pod, PodKey, Uid};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Who has to be told, and who was.
#[derive(Default)]
pub(super) struct Confirmations {
    by_pod: BTreeMap<PodKey, Confirmation>,
    /// The versions of nodes that we wrote a reservation into, and when: it is measured how long others take to see them.
    written: VecDeque<(u64, Duration)>,
}

/// How many of them are remembered.
const WRITTEN_MAX: usize = 256;

/// How far apart clocks are.
const CLOCKS: SignedDuration = SignedDuration::from_secs(2);

/// Whoever has not seen one after this long is not going to.
const SEEN_WITHIN: Duration = Duration::from_secs(60);

struct Confirmation {
    uid: Uid,
    /// The wish that is answered: who wishes it anew is told anew.
    wish: Keep,
    /// The version of the node that every replica must have seen; `None` once the pod was told.
    version: Option<u64>,
}

impl Confirmations {
    /// The pod's reservation is there.
    pub(super) fn made(&mut self, pod: &Pod, ledger: &Ledger) {
        let Some(wish) = pod.keep().filter(|wish| wish.life().is_some() && !pod.deleting) else { return };
        let is_known = |known: &Confirmation| known.uid == pod.uid && known.wish == *wish;
        if self.by_pod.get(&pod.key).is_some_and(is_known) {
            return;
        }
        let version = Some(ledger.node.resource_version);
        let confirmation = Confirmation { uid: pod.uid.clone(), wish: wish.clone(), version };
        self.by_pod.insert(pod.key.clone(), confirmation);
    }

    /// The pod no longer asks; if it does again it is told again.
    pub(super) fn unasked(&mut self, pod: &Pod) {
        if pod.keep().and_then(Keep::life).is_none() {
            self.by_pod.remove(&pod.key);
        }
    }
}

impl Confirmations {
    /// We wrote a reservation.
    pub(super) fn wrote(&mut self, version: u64, now: Duration) {
        if self.written.len() >= WRITTEN_MAX {
            self.written.pop_front();
        }
        self.written.push_back((version, now));
    }

    /// Counts how long it took with those that every live replica has seen by now.
    fn measure(&mut self, step: &mut Step<'_>) {
        let (cluster, now) = (&*step.cluster, step.now);
        self.written.retain(|(version, since)| {
            let took = now.elapsed.saturating_sub(*since);
            let is_seen = acknowledged(cluster.replicas().iter(), *version, now.wall) == Acknowledged::ByAll;
            if is_seen {
                let after_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                step.notes.push(Note::Acknowledged { after_ms });
            }
            !is_seen && took < SEEN_WITHIN
        });
    }
}

impl Controller {
    /// Tells the pods whose reservations every live replica has seen.
    pub(super) fn confirm(&mut self, look: &Look, step: &mut Step<'_>) {
        if !look.replicas && look.pods.is_empty() && !look.all {
            return;
        }
        self.confirmations.measure(step);
        let (cluster, now) = (&*step.cluster, step.now.wall);
        // What went before anybody was told of it, with its node or by somebody's hand, is made again, and then awaited again.
        let is_there = |key: &PodKey, known: &Confirmation| {
            let pod = cluster.pod(key).filter(|pod| pod.uid == known.uid);
            pod.is_some_and(|pod| known.version.is_none() || until(pod, cluster).is_some())
        };
        self.confirmations.by_pod.retain(|key, known| is_there(key, known));
        for (key, known) in &mut self.confirmations.by_pod {
            let Some(version) = known.version else { continue };
            let Some(pod) = cluster.pod(key) else { continue };
            if acknowledged(cluster.replicas().iter(), version, before(now)) == Acknowledged::ByAll {
                known.version = None;
                let event = events::reserved(pod, until(pod, cluster), now);
                step.effects.push(Effect::WriteEvent(Box::new(event)));
            }
        }
    }
}

/// So long ago that no Lease which has run out by then is live: clocks differ, and the API server tells whole seconds.
pub(super) fn before(now: Timestamp) -> Timestamp {
    now.checked_sub(CLOCKS).unwrap_or(now)
}

/// When the pod's reservation ends, as its node says now.
fn until(pod: &Pod, cluster: &Cluster) -> Option<Timestamp> {
    let ledger = pod.node.as_ref().and_then(|node| cluster.ledger_of(node))?;
    let mut own = ledger.node.reservations.iter().filter_map(|parsed| parsed.valid());
    own.find(|one| one.replaces().is_some_and(|replaced| replaced.uid == pod.uid))?.expires()
}

//! Indexes of the waiting pods, so that no call iterates over all of them: active pods by sort key, pods with a timer by time,
//! unschedulable pods by who refused them.
//!
//! Knows nothing of: which pod belongs into which sub-queue. Pods are known by their number of arrival.

use super::PendingPods;
use super::hints::{HintClass, Hints, RefusedBy, RefusedPod};
use common::cluster::ClusterChange;
use common::framework::QueueSortKey;
use common::model::Pod;
use common::model::ids::Text;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum SubQueue {
    /// To be tried next, in the order of the sort key.
    Active(QueueSortKey),
    /// To be tried again at `due`, or before if no pod is active.
    Backoff { due: Duration, sort_key: QueueSortKey },
    /// To be tried again at `due`, and not before: the attempt failed.
    ErrorBackoff { due: Duration },
    /// To be tried again after a change that may help, or at `until`.
    Unschedulable { until: Duration, refused: RefusedPod },
    /// To be tried again when the pod itself changes, or at `until`.
    Gated { until: Duration, refused: RefusedPod },
    /// In none: the pod is being decided on, or bound.
    #[default]
    InFlight,
}

/// Unschedulable pods that the same changes help.
#[derive(Debug)]
struct SimilarPods {
    /// One of them, which plugins are asked about.
    example: Arc<Pod>,
    arrivals: BTreeSet<u64>,
}

#[derive(Debug, Default)]
pub(super) struct SubQueues {
    active: BTreeSet<(QueueSortKey, u64)>,
    backoff: BTreeSet<(Duration, QueueSortKey, u64)>,
    timed: BTreeSet<(Duration, u64)>,
    unschedulable: BTreeMap<(Text, RefusedBy), BTreeMap<HintClass, SimilarPods>>,
    counts: PendingPods,
}

impl SubQueues {
    pub(super) fn insert(&mut self, arrival: u64, sub_queue: &SubQueue) {
        match sub_queue {
            SubQueue::Active(sort_key) => drop(self.active.insert((*sort_key, arrival))),
            SubQueue::Backoff { due, sort_key } => drop(self.backoff.insert((*due, *sort_key, arrival))),
            SubQueue::Unschedulable { refused, .. } => self.insert_unschedulable(arrival, refused),
            SubQueue::ErrorBackoff { .. } | SubQueue::Gated { .. } | SubQueue::InFlight => {}
        }
        if let Some(at) = time(sub_queue) {
            self.timed.insert((at, arrival));
        }
        if let Some(count) = self.count(sub_queue) {
            *count += 1;
        }
    }

    pub(super) fn remove(&mut self, arrival: u64, sub_queue: &SubQueue) {
        match sub_queue {
            SubQueue::Active(sort_key) => drop(self.active.remove(&(*sort_key, arrival))),
            SubQueue::Backoff { due, sort_key } => drop(self.backoff.remove(&(*due, *sort_key, arrival))),
            SubQueue::Unschedulable { refused, .. } => self.remove_unschedulable(arrival, refused),
            SubQueue::ErrorBackoff { .. } | SubQueue::Gated { .. } | SubQueue::InFlight => {}
        }
        if let Some(at) = time(sub_queue) {
            self.timed.remove(&(at, arrival));
        }
        if let Some(count) = self.count(sub_queue) {
            *count = count.saturating_sub(1);
        }
    }

    /// The pod to try next: the first active one, else the first one in backoff.
    pub(super) fn first_ready(&self) -> Option<u64> {
        let active = self.active.first().map(|(_, arrival)| *arrival);
        active.or_else(|| self.backoff.first().map(|(_, _, arrival)| *arrival))
    }

    /// The pod with the earliest timer, and the time.
    pub(super) fn first_timed(&self) -> Option<(Duration, u64)> {
        self.timed.first().copied()
    }

    /// The unschedulable pods that `change` may help.
    pub(super) fn helped_by(&self, change: &ClusterChange, hints: &dyn Hints) -> Vec<u64> {
        let mut helped = Vec::new();
        for ((scheduler, refused_by), classes) in &self.unschedulable {
            if hints.is_event_of_interest(scheduler, refused_by, change.event) {
                let is_helped =
                    |similar: &&SimilarPods| hints.is_worth_requeuing(&similar.example, refused_by, change);
                helped.extend(classes.values().filter(is_helped).flat_map(|similar| &similar.arrivals));
            }
        }
        helped
    }

    fn insert_unschedulable(&mut self, arrival: u64, refused: &RefusedPod) {
        let classes = self.unschedulable.entry(refused.key()).or_default();
        let new = || SimilarPods { example: Arc::clone(&refused.pod), arrivals: BTreeSet::new() };
        classes.entry(HintClass::of(&refused.pod)).or_insert_with(new).arrivals.insert(arrival);
    }

    fn remove_unschedulable(&mut self, arrival: u64, refused: &RefusedPod) {
        let (key, class) = (refused.key(), HintClass::of(&refused.pod));
        let Some(classes) = self.unschedulable.get_mut(&key) else { return };
        if let Some(similar) = classes.get_mut(&class) {
            similar.arrivals.remove(&arrival);
            if similar.arrivals.is_empty() {
                classes.remove(&class);
            }
        }
        if classes.is_empty() {
            self.unschedulable.remove(&key);
        }
    }

    pub(super) fn pending(&self) -> PendingPods {
        self.counts
    }

    fn count(&mut self, sub_queue: &SubQueue) -> Option<&mut usize> {
        match sub_queue {
            SubQueue::Active(_) => Some(&mut self.counts.active),
            SubQueue::Backoff { .. } | SubQueue::ErrorBackoff { .. } => Some(&mut self.counts.backoff),
            SubQueue::Unschedulable { .. } => Some(&mut self.counts.unschedulable),
            SubQueue::Gated { .. } => Some(&mut self.counts.gated),
            SubQueue::InFlight => None,
        }
    }
}

/// When a pod leaves the sub-queue although nothing changes.
fn time(sub_queue: &SubQueue) -> Option<Duration> {
    match sub_queue {
        SubQueue::Backoff { due, .. } | SubQueue::ErrorBackoff { due } => Some(*due),
        SubQueue::Unschedulable { until, .. } | SubQueue::Gated { until, .. } => Some(*until),
        SubQueue::Active(_) | SubQueue::InFlight => None,
    }
}

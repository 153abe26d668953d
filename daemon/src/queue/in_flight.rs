//! What happens while pods are in flight: it counts when they are put aside. As in kube-scheduler, the changes themselves are kept,
//! so that the plugins that refused a pod can be asked about them.

use common::cluster::ClusterChange;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// The most changes that are kept. A pod that is in flight for longer is tried again, whatever happened.
const CHANGES_MAX: usize = 10_000;

/// The changes since the pod came in flight that is longest in flight.
#[derive(Debug, Default)]
pub(super) struct InFlightChanges {
    changes: VecDeque<Arc<ClusterChange>>,
    /// The number of the first of `changes`.
    first: u64,
    /// The pods in flight, each after the number of the first change that it did not see.
    pods: BTreeSet<(u64, u64)>,
}

impl InFlightChanges {
    /// The pod with this number of arrival comes in flight. Returns the number of the first change that it does not see.
    pub(super) fn begin(&mut self, arrival: u64) -> u64 {
        let next = self.first + self.changes.len() as u64;
        self.pods.insert((next, arrival));
        next
    }

    /// Keeps a change for the pods in flight.
    pub(super) fn push(&mut self, change: &Arc<ClusterChange>) {
        if self.pods.is_empty() {
            return;
        }
        self.changes.push_back(Arc::clone(change));
        if self.changes.len() > CHANGES_MAX {
            self.changes.pop_front();
            self.first += 1;
        }
    }

    /// The changes since `begin`; `None` if there were too many.
    pub(super) fn since(&self, begin: u64) -> Option<impl Iterator<Item = &Arc<ClusterChange>>> {
        let seen = usize::try_from(begin.checked_sub(self.first)?).ok()?;
        Some(self.changes.iter().skip(seen))
    }

    /// The pod is no longer in flight.
    pub(super) fn end(&mut self, begin: u64, arrival: u64) {
        self.pods.remove(&(begin, arrival));
        let needed = self.pods.first().map_or(u64::MAX, |(first, _)| *first);
        while self.first < needed && self.changes.pop_front().is_some() {
            self.first += 1;
        }
    }
}

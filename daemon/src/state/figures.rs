//! How things stand: what gauges show. Counted from the belief when somebody wants to know, every few seconds at most.

use super::{Now, State};
use crate::queue::Pending;
use common::cluster::{Ledger, State as Standing};
use common::model::ResourceName;
use common::model::ids::Text;
use common::model::reservation::{Origin, Parsed};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many there are of everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Nodes that are known.
    pub nodes: usize,
    /// Pods that take room on them.
    pub pods: usize,
    /// Those of them that we placed and the API server has not confirmed.
    pub assumed: usize,
    /// Pods whose turn comes.
    pub active: usize,
    /// Pods that are to be tried again soon.
    pub backoff: usize,
    /// Pods that wait for something to change.
    pub unschedulable: usize,
    /// Pods that may not be looked at yet.
    pub gated: usize,
    /// Pods without a place, by their scheduler and each plugin that kept them from one.
    pub rejected: BTreeMap<(Text, &'static str), usize>,
    /// Reservations by state; each state is there.
    pub reservations: BTreeMap<&'static str, usize>,
    /// What is kept empty by all of them.
    pub held: BTreeMap<&'static str, i64>,
    /// The age of the oldest held one that says when it was made.
    pub oldest: Duration,
    /// Annotations under our prefix that are no reservation.
    pub invalid: usize,
    /// Pods whose place is to be kept when they are deleted, and cannot be.
    pub unprotected: usize,
}

/// Every state that a reservation can be in.
const STATES: [Standing; 5] =
    [Standing::Occupied, Standing::Held, Standing::Taken, Standing::Short, Standing::Expired];

/// What is summed up of what is held. Whatever else there is differs from cluster to cluster.
const HELD: [(&str, ResourceName); 4] = [
    ("cpu", ResourceName::Cpu),
    ("memory", ResourceName::Memory),
    ("ephemeral-storage", ResourceName::EphemeralStorage),
    ("pods", ResourceName::Pods),
];

impl State {
    /// How things stand at `now`.
    pub fn figures(&mut self, now: Now) -> Figures {
        let Pending { active, backoff, unschedulable, gated } = self.scheduler.pending();
        let mut figures = Figures {
            active,
            backoff,
            unschedulable,
            gated,
            rejected: self.scheduler.rejected(),
            assumed: self.cluster.assumed(),
            reservations: STATES.map(|state| (state.as_str(), 0)).into(),
            held: HELD.map(|(name, _)| (name, 0)).into(),
            unprotected: self.cluster.pods().filter(|pod| self.cluster.unprotected(pod).is_some()).count(),
            ..Figures::default()
        };
        let snapshot = self.cluster.snapshot(now.wall);
        snapshot.nodes().for_each(|ledger| figures.add(ledger, now.wall));
        figures
    }
}

impl Figures {
    fn add(&mut self, ledger: &Ledger, now: Timestamp) {
        self.nodes += 1;
        self.pods += ledger.pods.len();
        let parsed = ledger.node.reservations.iter();
        self.invalid += parsed.filter(|parsed| matches!(parsed, Parsed::Invalid(_))).count();
        for entry in &ledger.entries {
            *self.reservations.entry(entry.state.as_str()).or_default() += 1;
            for (name, resource) in &HELD {
                let sum = self.held.entry(name).or_default();
                *sum = sum.saturating_add(entry.held.get(resource));
            }
            if let (Standing::Held | Standing::Short, Origin::Recorded(record)) =
                (entry.state, &entry.reservation.origin)
            {
                let age = Duration::try_from(now.duration_since(record.created)).unwrap_or_default();
                self.oldest = self.oldest.max(age);
            }
        }
    }
}

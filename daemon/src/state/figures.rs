//! The values of the gauges: counted from the belief when metrics are shown, every few seconds at most.

use super::{Now, State};
use crate::queue::PendingPods;
use common::cluster::{Ledger, ReservationState};
use common::model::{Origin, ParsedReservation, ResourceName, Text};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    pub nodes: usize,
    pub pods: usize,
    /// Of these pods, those that this daemon placed and that are not seen bound yet.
    pub assumed: usize,
    pub active: usize,
    pub backoff: usize,
    /// Unschedulable pods, which wait for a change.
    pub unschedulable: usize,
    /// Pods with scheduling gates, or that must not be tried yet.
    pub gated: usize,
    /// Pods without a node, by their scheduler and by each plugin that rejected them.
    pub rejected: BTreeMap<(Text, &'static str), usize>,
    /// Reservations by state; states without any are there with 0.
    pub reservations: BTreeMap<&'static str, usize>,
    /// The sum of what held reservations keep, by resource.
    pub held: BTreeMap<&'static str, i64>,
    /// The age of the oldest held reservation that has a record.
    pub oldest: Duration,
    /// Annotations with our prefix that are not a well-formed reservation.
    pub invalid: usize,
    /// Pods that ask for `reserve/keep` and for which no reservation can be made.
    pub unprotected: usize,
}

const STATES: [ReservationState; 5] = [
    ReservationState::Occupied,
    ReservationState::Held,
    ReservationState::Taken,
    ReservationState::Short,
    ReservationState::Expired,
];

/// The resources that are summed up. All others differ from cluster to cluster.
const HELD: [(&str, ResourceName); 4] = [
    ("cpu", ResourceName::Cpu),
    ("memory", ResourceName::Memory),
    ("ephemeral-storage", ResourceName::EphemeralStorage),
    ("pods", ResourceName::Pods),
];

impl State {
    pub fn figures(&mut self, now: Now) -> Figures {
        let PendingPods { active, backoff, unschedulable, gated } = self.scheduler.pending();
        let mut figures = Figures {
            active,
            backoff,
            unschedulable,
            gated,
            rejected: self.scheduler.rejected(),
            assumed: self.cluster.assumed(),
            reservations: STATES.map(|state| (state.as_str(), 0)).into(),
            held: HELD.map(|(name, _)| (name, 0)).into(),
            unprotected: self
                .cluster
                .pods()
                .filter(|pod| self.cluster.record_too_long(pod).is_some())
                .count(),
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
        self.invalid += parsed.filter(|parsed| matches!(parsed, ParsedReservation::Invalid(_))).count();
        for entry in &ledger.entries {
            *self.reservations.entry(entry.state.as_str()).or_default() += 1;
            for (name, resource) in &HELD {
                let sum = self.held.entry(name).or_default();
                *sum = sum.saturating_add(entry.held.get(resource));
            }
            if let (ReservationState::Held | ReservationState::Short, Origin::Recorded(record)) =
                (entry.state, &entry.reservation.origin)
            {
                let age = Duration::try_from(now.duration_since(record.created)).unwrap_or_default();
                self.oldest = self.oldest.max(age);
            }
        }
    }
}

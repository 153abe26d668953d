//! Our own metrics: how many reservations there are, how they ended, and whether this replica leads.

use super::scheduler::set;
use super::{Counters, Gauges};
use crate::state::{ComparisonResult, Figures};
use common::cluster::compare::DifferenceKind;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::time::Duration;

/// The metrics with the prefix `reserve_`.
#[derive(Clone)]
pub(super) struct ReserveMetrics {
    reservations: Gauges<1>,
    held: Gauges<1>,
    oldest: Gauge,
    invalid: Gauge,
    unprotected: Gauge,
    made: Counters<1>,
    released: Counters<1>,
    not_made: Counters<1>,
    lost: Counter,
    yielded: Counter,
    owners_unreadable: Counter,
    events_dropped: Counter,
    acknowledgement: Histogram,
    is_leader: Gauge,
    comparisons: Counters<1>,
    differences: Gauges<1>,
}

impl ReserveMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            reservations: Gauges::default(),
            held: Gauges::default(),
            oldest: Gauge::default(),
            invalid: Gauge::default(),
            unprotected: Gauge::default(),
            made: Counters::default(),
            released: Counters::default(),
            not_made: Counters::default(),
            lost: Counter::default(),
            yielded: Counter::default(),
            owners_unreadable: Counter::default(),
            events_dropped: Counter::default(),
            acknowledgement: Histogram::new(exponential_buckets(0.01, 2.0, 12)),
            is_leader: Gauge::default(),
            comparisons: Counters::default(),
            differences: Gauges::default(),
        };
        metrics.register(registry);
        metrics
    }

    fn register(&self, registry: &mut Registry) {
        let all = registry.sub_registry_with_prefix("reserve");
        let version = Gauges::<1>::default();
        set(&version, "version", env!("CARGO_PKG_VERSION"), 1);
        all.register("build_info", "The version of the daemon", version);
        all.register("reservations", "Reservations on nodes, by state", self.reservations.clone());
        let about = "What is kept empty: pods, milli-cpus, bytes of memory and of ephemeral storage";
        all.register("held", about, self.held.clone());
        all.register("oldest_seconds", "The age of the oldest held reservation", self.oldest.clone());
        let about = "Annotations under our prefix that are no reservation, now";
        all.register("invalid_annotations", about, self.invalid.clone());
        let about = "Pods whose place is to be kept when they are deleted, and cannot be, now";
        all.register("unprotected_pods", about, self.unprotected.clone());
        all.register("made", "Reservations that the daemon made, by what for", self.made.clone());
        all.register("released", "Reservations that the daemon removed, by why", self.released.clone());
        let about = "Places that were to be kept and were not, by why";
        all.register("not_made", about, self.not_made.clone());
        let about = "Reservations whose room was gone before they were used";
        all.register("lost", about, self.lost.clone());
        all.register("yielded", "Reservations that gave way to more important pods", self.yielded.clone());
        let about = "Owners that cannot be read, so that no places are kept for their pods";
        all.register("owners_unreadable", about, self.owners_unreadable.clone());
        let about = "Events that were not written because too many waited";
        all.register("events_dropped", about, self.events_dropped.clone());
        let about = "Time until all replicas had seen a reservation";
        all.register("acknowledgement_seconds", about, self.acknowledgement.clone());
        all.register("is_leader", "1 if this replica works, 0 if it waits", self.is_leader.clone());
        let about = "Comparisons of the belief with the API server, by result: equal, different, unknown";
        all.register("cache_comparisons", about, self.comparisons.clone());
        let about = "What the last comparison found to differ, by kind: nodes, pods, books";
        all.register("cache_differences", about, self.differences.clone());
    }

    pub(super) fn figures(&self, figures: &Figures) {
        for (state, count) in &figures.reservations {
            set(&self.reservations, "state", &state.to_lowercase(), *count);
        }
        for (resource, amount) in &figures.held {
            self.held.get_or_create(&[("resource", (*resource).to_owned())]).set(*amount);
        }
        self.oldest.set(i64::try_from(figures.oldest.as_secs()).unwrap_or(i64::MAX));
        self.invalid.set(i64::try_from(figures.invalid).unwrap_or(i64::MAX));
        self.unprotected.set(i64::try_from(figures.unprotected).unwrap_or(i64::MAX));
    }

    pub(super) fn leading(&self, is_leading: bool) {
        self.is_leader.set(i64::from(is_leading));
    }

    pub(super) fn compared(&self, compared: &ComparisonResult) {
        let (result, differences) = match compared {
            ComparisonResult::Equal => ("equal", &[][..]),
            ComparisonResult::Different(differences) => ("different", differences.as_slice()),
            ComparisonResult::Unknown(_) => ("unknown", &[][..]),
        };
        self.comparisons.get_or_create(&[("result", result.to_owned())]).inc();
        if !matches!(compared, ComparisonResult::Unknown(_)) {
            for kind in DifferenceKind::ALL {
                let count = differences.iter().filter(|difference| difference.kind == kind).count();
                set(&self.differences, "kind", kind.as_str(), count);
            }
        }
    }

    pub(super) fn made(&self, by: &str) {
        self.made.get_or_create(&[("by", by.to_owned())]).inc();
    }

    pub(super) fn released(&self, why: &str) {
        self.released.get_or_create(&[("why", why.to_owned())]).inc();
    }

    pub(super) fn not_made(&self, why: &str) {
        self.not_made.get_or_create(&[("why", why.to_owned())]).inc();
    }

    pub(super) fn lost(&self) {
        self.lost.inc();
    }

    pub(super) fn yielded(&self) {
        self.yielded.inc();
    }

    pub(super) fn owner_unreadable(&self) {
        self.owners_unreadable.inc();
    }

    pub(super) fn events_dropped(&self, count: u64) {
        self.events_dropped.inc_by(count);
    }

    pub(super) fn acknowledged(&self, after: Duration) {
        self.acknowledgement.observe(after.as_secs_f64());
    }
}

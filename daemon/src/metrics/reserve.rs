//! Our own metrics: how many reservations there are, how they ended, and whether this replica leads.

use super::scheduler::set;
use super::{Counters, Gauges, count, metric, register};
use crate::state::{ComparisonResult, Figures};
use common::cluster::compare::DifferenceKind;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// The metrics with the prefix `reserve_`.
#[derive(Clone)]
pub(super) struct ReserveMetrics {
    reservations: Gauges<1>,
    held: Gauges<1>,
    oldest: Gauge,
    invalid: Gauge,
    unprotected: Gauge,
    pub(super) made: Counters<1>,
    pub(super) released: Counters<1>,
    pub(super) not_made: Counters<1>,
    pub(super) lost: Counter,
    pub(super) yielded: Counter,
    pub(super) owners_unreadable: Counter,
    pub(super) events_dropped: Counter,
    pub(super) acknowledgement: Histogram,
    pub(super) is_leader: Gauge,
    comparisons: Counters<1>,
    differences: Gauges<1>,
}

impl ReserveMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let all = registry.sub_registry_with_prefix("reserve");
        set(&metric(all, "build_info", "The version of the daemon"), "version", env!("CARGO_PKG_VERSION"), 1);
        let held = "What is kept empty: pods, milli-cpus, bytes of memory and of ephemeral storage";
        let unprotected = "Pods whose place is to be kept when they are deleted, and cannot be, now";
        let unreadable = "Owners that cannot be read, so that no places are kept for their pods";
        let seen = "Time until all replicas had seen a reservation";
        let by_seconds = Histogram::new(exponential_buckets(0.01, 2.0, 12));
        let comparisons =
            "Comparisons of the belief with the API server, by result: equal, different, unknown";
        let differences = "What the last comparison found to differ, by kind: nodes, pods, books";
        Self {
            reservations: metric(all, "reservations", "Reservations on nodes, by state"),
            held: metric(all, "held", held),
            oldest: metric(all, "oldest_seconds", "The age of the oldest held reservation"),
            invalid: metric(
                all,
                "invalid_annotations",
                "Annotations under our prefix that are no reservation, now",
            ),
            unprotected: metric(all, "unprotected_pods", unprotected),
            made: metric(all, "made", "Reservations that the daemon made, by what for"),
            released: metric(all, "released", "Reservations that the daemon removed, by why"),
            not_made: metric(all, "not_made", "Places that were to be kept and were not, by why"),
            lost: metric(all, "lost", "Reservations whose room was gone before they were used"),
            yielded: metric(all, "yielded", "Reservations that gave way to more important pods"),
            owners_unreadable: metric(all, "owners_unreadable", unreadable),
            events_dropped: metric(
                all,
                "events_dropped",
                "Events that were not written because too many waited",
            ),
            acknowledgement: register(all, "acknowledgement_seconds", seen, by_seconds),
            is_leader: metric(all, "is_leader", "1 if this replica works, 0 if it waits"),
            comparisons: metric(all, "cache_comparisons", comparisons),
            differences: metric(all, "cache_differences", differences),
        }
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

    pub(super) fn compared(&self, compared: &ComparisonResult) {
        let (result, differences) = match compared {
            ComparisonResult::Equal => ("equal", &[][..]),
            ComparisonResult::Different(differences) => ("different", differences.as_slice()),
            ComparisonResult::Unknown(_) => ("unknown", &[][..]),
        };
        count(&self.comparisons, "result", result);
        if !matches!(compared, ComparisonResult::Unknown(_)) {
            for kind in DifferenceKind::ALL {
                let count = differences.iter().filter(|difference| difference.kind == kind).count();
                set(&self.differences, "kind", kind.as_str(), count);
            }
        }
    }
}

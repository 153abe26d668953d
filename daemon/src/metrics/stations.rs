//! How long each station of a pod's way takes, by kube-scheduler's names.
//!
//! Filter and Score are measured for all nodes together, as upstream does it. Single plugins are measured where they are
//! asked about a pod; what they say about nodes is kept for all pods that ask for the same.

use super::{Histograms, Labels};
use crate::clock::Clock;
use common::framework::{Meter, Station, Status};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Whose time at PostFilter is that of looking for victims.
const PREEMPTION: &str = "DefaultPreemption";

/// The metrics.
#[derive(Clone)]
pub(super) struct Stations {
    points: Histograms<3>,
    plugins: Histograms<3>,
    preemption: Histograms<2>,
}

impl Stations {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let stations = Self {
            points: Histograms::new_with_constructor(|| Histogram::new(exponential_buckets(0.0001, 2.0, 12))),
            plugins: Histograms::new_with_constructor(|| {
                // As Go does it, with what is lost on the way.
                let by_plugin = std::iter::successors(Some(0.000_01_f64), |bound| Some(bound * 1.5));
                Histogram::new(by_plugin.take(20))
            }),
            preemption: Histograms::new_with_constructor(by_preemption),
        };
        let all = registry.sub_registry_with_prefix("scheduler");
        let about = "How long all plugins of an extension point took";
        all.register("framework_extension_point_duration_seconds", about, stations.points.clone());
        let about = "How long one plugin took at an extension point";
        all.register("plugin_execution_duration_seconds", about, stations.plugins.clone());
        let about = "How long it took to find out who would have to go";
        all.register("preemption_evaluation_duration_seconds", about, stations.preemption.clone());
        stations
    }

    /// A pod of a scheduler has passed a station.
    pub(super) fn passed(&self, profile: &str, station: Station, status: Status, took: Duration) {
        self.points.get_or_create(&at(profile, station, status)).observe(took.as_secs_f64());
    }

    /// Measures for one scheduler.
    pub(super) fn meter(&self, profile: &str, clock: Clock) -> Stopwatch {
        Stopwatch {
            profile: profile.to_owned(),
            clock,
            stations: self.clone(),
            points: Mutex::default(),
            plugins: Mutex::default(),
        }
    }
}

/// The buckets of what has to do with preemption.
pub(super) fn by_preemption() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 16))
}

fn at(profile: &str, station: Station, status: Status) -> Labels<3> {
    [("extension_point", station.name()), ("profile", profile.to_owned()), ("status", status.name())]
}

/// Measures for one scheduler. Where a measurement goes is remembered: to spell labels takes longer than to count.
pub(super) struct Stopwatch {
    profile: String,
    clock: Clock,
    stations: Stations,
    points: Mutex<BTreeMap<(Station, Status), Histogram>>,
    plugins: Mutex<BTreeMap<(&'static str, Station, Status), Arc<[Histogram]>>>,
}

impl Stopwatch {
    /// Where the time of a plugin goes.
    fn of_plugin(&self, plugin: &'static str, station: Station, status: Status) -> Arc<[Histogram]> {
        let labels =
            [("extension_point", station.name()), ("plugin", plugin.to_owned()), ("status", status.name())];
        let mut all = vec![self.stations.plugins.get_or_create(&labels).clone()];
        if plugin == PREEMPTION && station == Station::PostFilter {
            let labels = [("preemptor", "pod".to_owned()), ("result", status.name())];
            all.push(self.stations.preemption.get_or_create(&labels).clone());
        }
        all.into()
    }
}

impl Meter for Stopwatch {
    fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    fn passed(&self, station: Station, status: Status, took: Duration) {
        let mut points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        let histogram = points.entry((station, status)).or_insert_with(|| {
            self.stations.points.get_or_create(&at(&self.profile, station, status)).clone()
        });
        histogram.observe(took.as_secs_f64());
    }

    fn asked(&self, plugin: &'static str, station: Station, status: Status, took: Duration) {
        let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        let known = plugins.entry((plugin, station, status));
        let histograms = known.or_insert_with(|| self.of_plugin(plugin, station, status));
        histograms.iter().for_each(|histogram| histogram.observe(took.as_secs_f64()));
    }
}

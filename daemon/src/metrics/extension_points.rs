//! How long each extension point takes, in kube-scheduler's metrics.
//!
//! Filter and Score are measured for all nodes together, as upstream. Single plugins are measured at extension points that are
//! called once for a pod; their answers about nodes are kept and used for many pods.

use super::{Histograms, Labels, register};
use crate::clock::Clock;
use common::framework::{Meter, Status};
use common::model::ExtensionPoint;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The plugin whose time at PostFilter is the time of preemption evaluation.
const PREEMPTION: &str = "DefaultPreemption";

#[derive(Clone)]
pub(super) struct ExtensionPointMetrics {
    points: Histograms<3>,
    plugins: Histograms<3>,
    preemption: Histograms<2>,
}

impl ExtensionPointMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let by_point =
            Histograms::new_with_constructor(|| Histogram::new(exponential_buckets(0.0001, 2.0, 12)));
        let all = registry.sub_registry_with_prefix("scheduler");
        let points = "How long all plugins of an extension point took";
        let plugins = "How long one plugin took at an extension point";
        let by_plugin = Histograms::new_with_constructor(by_plugin);
        let preemption = "How long it took to find out who would have to go";
        let by_preemption = Histograms::new_with_constructor(by_preemption);
        Self {
            points: register(all, "framework_extension_point_duration_seconds", points, by_point),
            plugins: register(all, "plugin_execution_duration_seconds", plugins, by_plugin),
            preemption: register(all, "preemption_evaluation_duration_seconds", preemption, by_preemption),
        }
    }

    /// Records how long an extension point took for a pod of the profile.
    pub(super) fn passed(
        &self,
        profile: &str,
        extension_point: ExtensionPoint,
        status: Status,
        took: Duration,
    ) {
        self.points.get_or_create(&at(profile, extension_point, status)).observe(took.as_secs_f64());
    }

    pub(super) fn meter(&self, profile: &str, clock: Clock) -> ProfileMeter {
        ProfileMeter {
            profile: profile.to_owned(),
            clock,
            extension_points: self.clone(),
            points: Mutex::default(),
            plugins: Mutex::default(),
        }
    }
}

/// The buckets of single plugins: each bound is 1.5 times the one before, with the same rounding errors as in Go.
#[expect(clippy::float_arithmetic, reason = "bounds of buckets are no amounts")]
fn by_plugin() -> Histogram {
    Histogram::new(std::iter::successors(Some(0.000_01_f64), |bound| Some(bound * 1.5)).take(20))
}

pub(super) fn by_preemption() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 16))
}

fn at(profile: &str, extension_point: ExtensionPoint, status: Status) -> Labels<3> {
    [
        ("extension_point", extension_point.name().to_owned()),
        ("profile", profile.to_owned()),
        ("status", status.name()),
    ]
}

/// A plugin, an extension point, and the status that it returned there.
type PluginCall = (&'static str, ExtensionPoint, Status);

/// Measures for one profile. Histograms are cached, because building labels takes longer than counting.
pub(super) struct ProfileMeter {
    profile: String,
    clock: Clock,
    extension_points: ExtensionPointMetrics,
    points: Mutex<BTreeMap<(ExtensionPoint, Status), Histogram>>,
    plugins: Mutex<BTreeMap<PluginCall, Arc<[Histogram]>>>,
}

impl ProfileMeter {
    fn plugin_histograms(
        &self,
        plugin: &'static str,
        extension_point: ExtensionPoint,
        status: Status,
    ) -> Arc<[Histogram]> {
        let labels = [
            ("extension_point", extension_point.name().to_owned()),
            ("plugin", plugin.to_owned()),
            ("status", status.name()),
        ];
        let mut all = vec![self.extension_points.plugins.get_or_create(&labels).clone()];
        if plugin == PREEMPTION && extension_point == ExtensionPoint::PostFilter {
            let labels = [("preemptor", "pod".to_owned()), ("result", status.name())];
            all.push(self.extension_points.preemption.get_or_create(&labels).clone());
        }
        all.into()
    }
}

impl Meter for ProfileMeter {
    fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    fn record_extension_point(&self, extension_point: ExtensionPoint, status: Status, took: Duration) {
        let mut points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
        let histogram = points.entry((extension_point, status)).or_insert_with(|| {
            self.extension_points.points.get_or_create(&at(&self.profile, extension_point, status)).clone()
        });
        histogram.observe(took.as_secs_f64());
    }

    fn record_plugin(
        &self,
        plugin: &'static str,
        extension_point: ExtensionPoint,
        status: Status,
        took: Duration,
    ) {
        let mut plugins = self.plugins.lock().unwrap_or_else(PoisonError::into_inner);
        let known = plugins.entry((plugin, extension_point, status));
        let histograms = known.or_insert_with(|| self.plugin_histograms(plugin, extension_point, status));
        histograms.iter().for_each(|histogram| histogram.observe(took.as_secs_f64()));
    }
}

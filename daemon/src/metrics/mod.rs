//! What is counted: kube-scheduler's metrics under their own names, with its labels and buckets, and ours.
//!
//! No label names a namespace, an owner, a pod or a node: a big cluster must not make a big answer. Nothing is global;
//! whoever runs a daemon makes one [`Metrics`] and hands it on.
//!
//! Knows nothing of: HTTP, the state's insides. It hears notes and figures.

mod extension_points;
mod process;
mod reserve;
mod resources;
mod scheduler;
#[cfg(test)]
mod tests;
mod text;

use crate::clock::Clock;
use crate::connect::Calls;
use crate::state::{Attempted, Figures, Note};
use common::framework::Meter;
use extension_points::ExtensionPointMetrics;
use http::{Method, StatusCode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use reserve::Reserve;
pub(crate) use resources::PodResources;
use scheduler::Scheduler;
use std::sync::Arc;
use std::time::Duration;

/// The values of `N` labels.
type Labels<const N: usize> = [(&'static str, String); N];

/// Counters by label.
type Counters<const N: usize> = Family<Labels<N>, Counter>;

/// Gauges by label.
type Gauges<const N: usize> = Family<Labels<N>, Gauge>;

/// Histograms by label.
type Histograms<const N: usize> = Family<Labels<N>, Histogram, fn() -> Histogram>;

/// Everything that is counted. Clones count together.
#[derive(Clone)]
pub struct Metrics {
    scheduler: Scheduler,
    extension_points: ExtensionPointMetrics,
    reserve: Reserve,
    calls: Counters<3>,
    registry: Arc<Registry>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::default();
        let scheduler = Scheduler::new(&mut registry);
        let extension_points = ExtensionPointMetrics::new(&mut registry);
        let reserve = Reserve::new(&mut registry);
        let calls = Counters::default();
        let about = "Number of HTTP requests, partitioned by status code, method, and host";
        registry.register("rest_client_requests", about, calls.clone());
        registry.register_collector(Box::new(process::Process));
        Self { scheduler, extension_points, reserve, calls, registry: Arc::new(registry) }
    }
}

impl Metrics {
    /// Counts what happened inside.
    pub fn note(&self, note: &Note) {
        match note {
            Note::Attempt { profile, result } => self.scheduler.attempt(profile, word(*result)),
            Note::Bound { attempts, waited_ms, was_flushed, .. } => {
                self.scheduler.bound(*attempts, Duration::from_millis(*waited_ms), *was_flushed);
            }
            Note::Passed { profile, extension_point, status, took } => {
                self.extension_points.passed(profile, *extension_point, *status, *took);
            }
            Note::Preemption { victims, violations } => self.scheduler.preempted(*victims, *violations),
            Note::Preempted { is_done, took } => self.scheduler.preemption_took(*is_done, *took),
            Note::PermitWait { result, waited_ms } => {
                self.scheduler.permit_waited(result, Duration::from_millis(*waited_ms));
            }
            Note::Queued { queue, event, count } => self.scheduler.queued(queue, event, *count),
            Note::EventsDropped { count } => self.reserve.events_dropped(*count),
            Note::Reserved { by } => self.reserve.made(by),
            Note::Released { why } => self.reserve.released(why),
            Note::NotReserved { why } => self.reserve.not_made(why),
            Note::Lost => self.reserve.lost(),
            Note::Yielded => self.reserve.yielded(),
            Note::OwnerUnreadable => self.reserve.owner_unreadable(),
            Note::Compared(compared) => self.reserve.compared(compared),
            Note::Acknowledged { after_ms } => self.reserve.acknowledged(Duration::from_millis(*after_ms)),
        }
    }

    /// One input was handled, in which pods were looked at. Each is counted with its share of the time.
    pub fn handled(&self, took: Duration, notes: &[Note]) {
        notes.iter().for_each(|note| self.note(note));
        let attempts = notes.iter().filter_map(|note| match note {
            Note::Attempt { profile, result } => Some((profile, *result)),
            _ => None,
        });
        let count = u32::try_from(attempts.clone().count()).unwrap_or(u32::MAX);
        let Some(share) = took.checked_div(count) else { return };
        attempts.for_each(|(profile, result)| self.scheduler.took(profile, word(result), share));
    }

    /// Whoever measures the plugins of a scheduler.
    pub fn meter(&self, profile: &str, clock: &Clock) -> Arc<dyn Meter> {
        Arc::new(self.extension_points.meter(profile, clock.clone()))
    }

    /// How things stand.
    pub fn figures(&self, figures: &Figures) {
        self.scheduler.figures(figures);
        self.reserve.figures(figures);
    }

    /// Whether this replica works, and by which Lease; `None` without an election.
    pub fn leading(&self, lease: Option<&str>, is_leading: bool) {
        if let Some(lease) = lease {
            self.scheduler.leading(lease, is_leading);
        }
        self.reserve.leading(is_leading);
    }

    /// Everything, in Prometheus' text format 0.0.4, which kube-scheduler serves too.
    pub fn text(&self) -> String {
        let mut open_metrics = String::new();
        // Writing to a String does not fail; what there is so far is better than nothing.
        let _ = prometheus_client::encoding::text::encode_registry(&mut open_metrics, &self.registry);
        text::plain(&open_metrics)
    }
}

impl Calls for Metrics {
    fn called(&self, host: &str, method: &Method, code: Option<StatusCode>) {
        let code = code.map_or_else(|| "<error>".to_owned(), |code| code.as_str().to_owned());
        let labels = [("code", code), ("host", host.to_owned()), ("method", method.to_string())];
        self.calls.get_or_create(&labels).inc();
    }
}

/// As upstream calls it.
fn word(result: Attempted) -> &'static str {
    match result {
        Attempted::Scheduled => "scheduled",
        Attempted::Unschedulable => "unschedulable",
        Attempted::Error => "error",
    }
}

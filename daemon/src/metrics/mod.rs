//! The metrics: kube-scheduler's with the same names, labels and buckets, and our own. Entry point: [`Metrics`].
//!
//! No label contains the name of a namespace, owner, pod or node: a big cluster must not cause a big answer. There are no
//! globals; the program that runs a daemon creates one [`Metrics`] and passes it on.
//!
//! Must not know: HTTP, and the state, which passes notes and figures.

mod extension_points;
mod process;
mod reserve;
mod resources;
mod scheduler;
#[cfg(test)]
mod tests;
mod text;

use crate::clock::Clock;
use crate::connect::CallCounter;
use crate::state::{AttemptResult, Figures, Note};
use common::framework::Meter;
use extension_points::ExtensionPointMetrics;
use http::{Method, StatusCode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};
use reserve::ReserveMetrics;
pub(crate) use resources::PodResources;
use scheduler::SchedulerMetrics;
use std::sync::Arc;
use std::time::Duration;

type Labels<const N: usize> = [(&'static str, String); N];

type Counters<const N: usize> = Family<Labels<N>, Counter>;

type Gauges<const N: usize> = Family<Labels<N>, Gauge>;

type Histograms<const N: usize> = Family<Labels<N>, Histogram, fn() -> Histogram>;

/// Makes a metric and registers it. The registry has a clone, which shows what is counted here.
fn metric<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, about: &str) -> M {
    register(registry, name, about, M::default())
}

fn register<M: Metric + Clone>(registry: &mut Registry, name: &str, about: &str, metric: M) -> M {
    registry.register(name, about, metric.clone());
    metric
}

/// Counts one more of what the label says.
fn count(counters: &Counters<1>, label: &'static str, value: &str) {
    counters.get_or_create(&[(label, value.to_owned())]).inc();
}

/// All metrics of a daemon. Clones share them.
#[derive(Clone)]
pub struct Metrics {
    scheduler: SchedulerMetrics,
    extension_points: ExtensionPointMetrics,
    reserve: ReserveMetrics,
    calls: Counters<3>,
    registry: Arc<Registry>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::default();
        let scheduler = SchedulerMetrics::new(&mut registry);
        let extension_points = ExtensionPointMetrics::new(&mut registry);
        let reserve = ReserveMetrics::new(&mut registry);
        let about = "Number of HTTP requests, partitioned by status code, method, and host";
        let calls = metric(&mut registry, "rest_client_requests", about);
        registry.register_collector(Box::new(process::ProcessMetrics));
        Self { scheduler, extension_points, reserve, calls, registry: Arc::new(registry) }
    }
}

impl Metrics {
    pub fn note(&self, note: &Note) {
        match note {
            Note::Attempt { profile, result } => self.scheduler.attempt(profile, result_label(*result)),
            Note::Bound { attempts, waited_ms, was_flushed, .. } => {
                self.scheduler.bound(*attempts, Duration::from_millis(*waited_ms), *was_flushed);
            }
            Note::ExtensionPointDuration { profile, extension_point, status, took } => {
                self.extension_points.passed(profile, *extension_point, *status, *took);
            }
            Note::Preemption { victims, violations } => self.scheduler.preempted(*victims, *violations),
            Note::VictimDeletion { is_done, took } => self.scheduler.preemption_took(*is_done, *took),
            Note::PermitWait { result, waited_ms } => {
                self.scheduler.permit_waited(result, Duration::from_millis(*waited_ms));
            }
            Note::Queued { queue, event, count } => self.scheduler.queued(queue, event, *count),
            Note::EventsDropped { count } => _ = self.reserve.events_dropped.inc_by(*count),
            Note::Reserved { by } => count(&self.reserve.made, "by", by),
            Note::Released { why } => count(&self.reserve.released, "why", why),
            Note::NotReserved { why } => count(&self.reserve.not_made, "why", why),
            Note::ReservationLost => _ = self.reserve.lost.inc(),
            Note::ReservationYielded => _ = self.reserve.yielded.inc(),
            Note::OwnerUnreadable => _ = self.reserve.owners_unreadable.inc(),
            Note::Compared(compared) => self.reserve.compared(compared),
            Note::Acknowledged { after_ms } => {
                let after = Duration::from_millis(*after_ms);
                self.reserve.acknowledgement.observe(after.as_secs_f64());
            }
        }
    }

    /// Counts the notes of one input that took `took` to handle. Each scheduling attempt gets an equal share of the time.
    pub fn handled(&self, took: Duration, notes: &[Note]) {
        notes.iter().for_each(|note| self.note(note));
        let attempts = notes.iter().filter_map(|note| match note {
            Note::Attempt { profile, result } => Some((profile, *result)),
            _ => None,
        });
        let count = u32::try_from(attempts.clone().count()).unwrap_or(u32::MAX);
        let Some(share) = took.checked_div(count) else { return };
        attempts.for_each(|(profile, result)| self.scheduler.took(profile, result_label(result), share));
    }

    pub fn meter(&self, profile: &str, clock: &Clock) -> Arc<dyn Meter> {
        Arc::new(self.extension_points.meter(profile, clock.clone()))
    }

    pub fn figures(&self, figures: &Figures) {
        self.scheduler.figures(figures);
        self.reserve.figures(figures);
    }

    /// Sets whether this replica leads. `lease` is the name of the leader's Lease; `None`: there is no election.
    pub fn leading(&self, lease: Option<&str>, is_leading: bool) {
        if let Some(lease) = lease {
            self.scheduler.leading(lease, is_leading);
        }
        self.reserve.is_leader.set(i64::from(is_leading));
    }

    /// All metrics in Prometheus' text format 0.0.4, which kube-scheduler serves too.
    pub fn text(&self) -> String {
        let mut open_metrics = String::new();
        // Writing to a String does not fail; if it did, a part would be better than nothing.
        let _ = prometheus_client::encoding::text::encode_registry(&mut open_metrics, &self.registry);
        text::plain(&open_metrics)
    }
}

impl CallCounter for Metrics {
    fn called(&self, host: &str, method: &Method, code: Option<StatusCode>) {
        let code = code.map_or_else(|| "<error>".to_owned(), |code| code.as_str().to_owned());
        let labels = [("code", code), ("host", host.to_owned()), ("method", method.to_string())];
        self.calls.get_or_create(&labels).inc();
    }
}

/// The value of the label `result`, as upstream.
fn result_label(result: AttemptResult) -> &'static str {
    match result {
        AttemptResult::Scheduled => "scheduled",
        AttemptResult::Unschedulable => "unschedulable",
        AttemptResult::Error => "error",
    }
}

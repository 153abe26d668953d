//! kube-scheduler's metrics, with upstream's names, labels and buckets. `tests/tests/admin.rs` compares them with a running
//! kube-scheduler.

use super::extension_points::by_preemption;
use super::{Counters, Gauges, Histograms, Labels, metric, register};
use crate::state::Figures;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::time::Duration;

/// This number of attempts and more share the label `15+`.
const ATTEMPTS_MAX: u32 = 15;

/// The metrics with the prefix `scheduler_`, and `leader_election_master_status`.
#[derive(Clone)]
pub(super) struct SchedulerMetrics {
    attempts: Counters<2>,
    attempt_seconds: Histograms<2>,
    algorithm_seconds: Histogram,
    sli_seconds: Histograms<1>,
    attempts_of_pods: Histogram,
    pending: Gauges<1>,
    incoming: Counters<2>,
    cache: Gauges<1>,
    preemptions: Counter,
    victims: Histogram,
    preemption_seconds: Histograms<2>,
    violations: Counters<1>,
    permit_seconds: Histograms<1>,
    flushed: Counter,
    rejected: Gauges<2>,
    entities: Gauges<2>,
    incoming_entities: Counters<3>,
    master: Gauges<1>,
}

impl SchedulerMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let by_attempt: fn() -> Histogram = || Histogram::new(exponential_buckets(0.001, 2.0, 15));
        let by_sli: fn() -> Histogram = || Histogram::new(exponential_buckets(0.01, 2.0, 20));
        let powers = |len| Histogram::new(exponential_buckets(1.0, 2.0, len));
        let about = "1 if this replica is the leader, 0 if it waits";
        let master = metric(registry, "leader_election_master_status", about);
        let all = registry.sub_registry_with_prefix("scheduler");
        let took = "How long an attempt took, by result";
        let found = "How long it took to find a node";
        let waited = "Time from when a pod was first seen until it was bound, by attempts";
        let tried = "Attempts that pods needed until they were bound";
        let incoming = "Pods that came to a queue, by what brought them";
        let flushed = "Pods that were placed only after they had waited for the longest time";
        let rejected = "Pods without a place, by the plugins that kept them from one";
        let gone = "Pods that had to go in one preemption";
        let preempted = "How long it took until all who had to go were on their way";
        let violations = "Pods that had to go although a disruption budget protects them";
        let permitted = "How long pods waited for leave to be bound, by result";
        Self {
            master,
            attempts: metric(all, "schedule_attempts", "Attempts to place pods, by result"),
            attempt_seconds: register(all, "scheduling_attempt_duration_seconds", took, of(by_attempt)),
            algorithm_seconds: register(all, "scheduling_algorithm_duration_seconds", found, by_attempt()),
            sli_seconds: register(all, "pod_scheduling_sli_duration_seconds", waited, of(by_sli)),
            attempts_of_pods: register(all, "pod_scheduling_attempts", tried, powers(5)),
            pending: metric(all, "pending_pods", "Pods that wait, by queue"),
            incoming: metric(all, "queue_incoming_pods", incoming),
            cache: metric(all, "cache_size", "Nodes, pods and assumed pods that are known"),
            flushed: metric(all, "pod_scheduled_after_flush", flushed),
            rejected: metric(all, "unschedulable_pods", rejected),
            // An entity is a pod or a group of pods. There are no groups here, so these are the same numbers again.
            entities: metric(all, "queued_entities", "Pods that wait, by queue"),
            incoming_entities: metric(all, "queue_incoming_entities", incoming),
            preemptions: metric(all, "preemption_attempts", "Preemptions so far"),
            victims: register(all, "preemption_victims", gone, powers(7)),
            preemption_seconds: register(
                all,
                "preemption_execution_duration_seconds",
                preempted,
                of(by_preemption),
            ),
            violations: metric(all, "preemption_pdb_violations", violations),
            permit_seconds: register(all, "permit_wait_duration_seconds", permitted, of(by_attempt)),
        }
    }

    pub(super) fn attempt(&self, profile: &str, result: &str) {
        self.attempts.get_or_create(&by_result(profile, result)).inc();
    }

    pub(super) fn took(&self, profile: &str, result: &str, took: Duration) {
        self.attempt_seconds.get_or_create(&by_result(profile, result)).observe(took.as_secs_f64());
        self.algorithm_seconds.observe(took.as_secs_f64());
    }

    pub(super) fn bound(&self, attempts: u32, waited: Duration, was_flushed: bool) {
        self.flushed.inc_by(u64::from(was_flushed));
        self.attempts_of_pods.observe(f64::from(attempts));
        let attempts = match attempts {
            ATTEMPTS_MAX.. => format!("{ATTEMPTS_MAX}+"),
            fewer => fewer.to_string(),
        };
        self.sli_seconds.get_or_create(&[("attempts", attempts)]).observe(waited.as_secs_f64());
    }

    pub(super) fn preemption_took(&self, is_done: bool, took: Duration) {
        let result = if is_done { "success" } else { "error" };
        let labels = [("preemptor", "pod".to_owned()), ("result", result.to_owned())];
        self.preemption_seconds.get_or_create(&labels).observe(took.as_secs_f64());
    }

    pub(super) fn preempted(&self, victims: usize, violations: usize) {
        self.preemptions.inc();
        let violations = u64::try_from(violations).unwrap_or(u64::MAX);
        self.violations.get_or_create(&[("preemptor", "pod".to_owned())]).inc_by(violations);
        self.victims.observe(f64::from(u32::try_from(victims).unwrap_or(u32::MAX)));
    }

    pub(super) fn permit_waited(&self, result: &str, waited: Duration) {
        self.permit_seconds.get_or_create(&[("result", result.to_owned())]).observe(waited.as_secs_f64());
    }

    pub(super) fn queued(&self, queue: &str, event: &str, count: u64) {
        let [event, queue] = [("event", event.to_owned()), ("queue", queue.to_owned())];
        let entity = [event.clone(), queue.clone(), ("type", "pod".to_owned())];
        self.incoming.get_or_create(&[event, queue]).inc_by(count);
        self.incoming_entities.get_or_create(&entity).inc_by(count);
    }

    pub(super) fn figures(&self, figures: &Figures) {
        let queues = [
            ("active", figures.active),
            ("backoff", figures.backoff),
            ("gated", figures.gated),
            ("unschedulable", figures.unschedulable),
        ];
        for (queue, count) in queues {
            set(&self.pending, "queue", queue, count);
            let entity = [("queue", queue.to_owned()), ("type", "pod".to_owned())];
            self.entities.get_or_create(&entity).set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        self.rejected.clear();
        for ((profile, plugin), count) in &figures.rejected {
            let labels = [("plugin", (*plugin).to_owned()), ("profile", profile.to_string())];
            self.rejected.get_or_create(&labels).set(i64::try_from(*count).unwrap_or(i64::MAX));
        }
        let kinds = [("assumed_pods", figures.assumed), ("nodes", figures.nodes), ("pods", figures.pods)];
        for (kind, count) in kinds {
            set(&self.cache, "type", kind, count);
        }
    }

    pub(super) fn leading(&self, lease: &str, is_leading: bool) {
        self.master.get_or_create(&[("name", lease.to_owned())]).set(i64::from(is_leading));
    }
}

pub(super) fn set(gauges: &Gauges<1>, label: &'static str, value: &str, count: usize) {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    gauges.get_or_create(&[(label, value.to_owned())]).set(count);
}

fn of<const N: usize>(buckets: fn() -> Histogram) -> Histograms<N> {
    Family::new_with_constructor(buckets)
}

fn by_result(profile: &str, result: &str) -> Labels<2> {
    [("profile", profile.to_owned()), ("result", result.to_owned())]
}

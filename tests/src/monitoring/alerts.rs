//! The alerts. Each has a section of its name in `docs/runbook.md` and a case in `monitoring/rules_test.yaml`.

use std::fmt::Write as _;

/// A rule by which Prometheus warns.
#[derive(Clone, Copy, Debug)]
pub struct Alert {
    /// Also the heading in the runbook.
    pub name: &'static str,
    /// In PromQL.
    pub expression: &'static str,
    /// How long it must be so, as Prometheus writes times.
    pub pending: &'static str,
    /// `critical`: places of pods are lost now. `warning`: they may be.
    pub severity: &'static str,
    /// What is so, in one sentence.
    pub summary: &'static str,
}

/// All of them, the worst first.
pub const ALERTS: &[Alert] = &[
    Alert {
        name: "ReserveDaemonDown",
        expression: "absent(reserve_build_info)",
        pending: "5m",
        severity: "critical",
        summary: "No replica of reserve-daemon shows metrics.",
    },
    Alert {
        name: "ReserveNoLeader",
        expression: "sum by (job) (reserve_is_leader) == 0",
        pending: "2m",
        severity: "critical",
        summary: "Replicas run and none leads: nothing is scheduled and nothing released.",
    },
    Alert {
        name: "ReserveTwoLeaders",
        expression: "sum by (job) (reserve_is_leader) > 1",
        pending: "5m",
        severity: "critical",
        summary: "More than one replica says that it leads.",
    },
    Alert {
        name: "ReserveCacheDifferent",
        expression: "max by (job, kind) (reserve_cache_differences) > 0",
        pending: "0m",
        severity: "critical",
        summary: "What the daemon believes of {{ $labels.kind }} is not what the API server has.",
    },
    Alert {
        name: "ReserveReservationsLost",
        expression: "sum by (job) (increase(reserve_lost_total[15m])) > 0",
        pending: "0m",
        severity: "critical",
        summary: "The room of a reservation was gone before its pod came.",
    },
    Alert {
        name: "ReserveReservationsShort",
        expression: "max by (job) (reserve_reservations{state=\"short\"}) > 0",
        pending: "10m",
        severity: "warning",
        summary: "{{ $value }} reservations are on nodes that have promised more than they have.",
    },
    Alert {
        name: "ReserveReservationsStuck",
        expression: "max by (job) (reserve_oldest_seconds) > 7200 and max by (job) (reserve_reservations{state=\"held\"}) > 0",
        pending: "15m",
        severity: "warning",
        summary: "A reservation has been held for {{ $value | humanizeDuration }} and no pod has taken it.",
    },
    Alert {
        name: "ReserveWritesFailing",
        expression: "sum by (job, code) (rate(rest_client_requests_total{method!=\"GET\",code=~\"<error>|403|422|429|5..\"}[10m]) * on (job, instance) group_left () reserve_build_info) > 0.05",
        pending: "10m",
        severity: "warning",
        summary: "The API server refuses writes of the daemon with {{ $labels.code }}.",
    },
    Alert {
        name: "ReserveWatchBehind",
        expression: "histogram_quantile(0.99, sum by (job, le) (rate(reserve_acknowledgement_seconds_bucket[10m]))) > 5",
        pending: "10m",
        severity: "warning",
        summary: "Replicas see reservations {{ $value | humanizeDuration }} after they are written.",
    },
    Alert {
        name: "ReserveNotMade",
        expression: "sum by (job, why) (increase(reserve_not_made_total[15m])) > 0",
        pending: "0m",
        severity: "warning",
        summary: "Places that were to be kept were not: {{ $labels.why }}.",
    },
    Alert {
        name: "ReserveEventsDropped",
        expression: "sum by (job) (increase(reserve_events_dropped_total[15m])) > 0",
        pending: "0m",
        severity: "warning",
        summary: "Events were not written because too many waited.",
    },
    Alert {
        name: "ReserveUnprotectedPods",
        expression: "max by (job) (reserve_unprotected_pods) > 0",
        pending: "15m",
        severity: "warning",
        summary: "{{ $value }} pods ask for their place to be kept, and it cannot be.",
    },
    Alert {
        name: "ReserveInvalidAnnotations",
        expression: "max by (job) (reserve_invalid_annotations) > 0",
        pending: "15m",
        severity: "warning",
        summary: "{{ $value }} annotations of nodes begin with reserve. and are no reservation.",
    },
];

impl Alert {
    /// Where the runbook says what to do, from the root of the repository.
    pub fn runbook(&self) -> String {
        format!("docs/runbook.md#{}", self.name.to_lowercase())
    }
}

/// The text of `monitoring/rules.yaml`.
pub fn rules() -> String {
    let mut text = String::from(
        "# Rules for Prometheus, written by `make monitoring`. What to do is in docs/runbook.md.\ngroups:\n  - name: reserve\n    rules:\n",
    );
    for alert in ALERTS {
        let Alert { name, expression, pending, severity, summary } = alert;
        let quoted = |text: &str| text.replace('\'', "''");
        // Writing to a String does not fail.
        let _ = write!(
            text,
            "      - alert: {name}\n        expr: '{}'\n        for: {pending}\n        labels:\n          severity: {severity}\n        annotations:\n          summary: '{}'\n          runbook_url: {}\n",
            quoted(expression),
            quoted(summary),
            alert.runbook(),
        );
    }
    text
}

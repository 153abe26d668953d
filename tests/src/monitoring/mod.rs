//! What is watched of the daemon: the rules for Prometheus and the dashboard for Grafana in `monitoring/`, made from the daemon's own
//! metrics. `make monitoring` writes the files; `tests/tests/monitoring.rs` compares them, and finds what names no metric.

mod alerts;
mod dashboard;
mod families;

pub use alerts::{ALERTS, Alert, rules};
pub use dashboard::dashboard;
pub use families::{Family, MetricKind, families};

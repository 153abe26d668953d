//! The dashboard: a panel for each metric of the daemon. What a panel shows follows from the type of the metric.

use super::families::{Family, MetricKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The rows, by the prefix of the metrics' names. A metric belongs to the first that matches.
const ROWS: [(&str, &str); 5] = [
    ("reserve_", "Reservations"),
    ("scheduler_", "Scheduling"),
    ("leader_election_", "Election"),
    ("rest_client_", "Requests to the API server"),
    ("process_", "Processes"),
];

/// What is constant, and tells nothing as a line.
const CONSTANT: [&str; 1] = ["reserve_build_info"];

/// What differs from replica to replica by its meaning.
const BY_REPLICA: [&str; 1] = ["reserve_is_leader"];

const WIDTH: u32 = 8;
const HEIGHT: u32 = 7;
const COLUMNS: u32 = 3;

/// The dashboard as Grafana imports it.
pub fn dashboard(families: &BTreeMap<String, Family>) -> Value {
    let mut panels = vec![];
    let mut y = 0;
    for (prefix, title) in ROWS {
        panels.push(json!({
            "type": "row", "title": title, "collapsed": false, "panels": [],
            "gridPos": {"x": 0, "y": y, "w": WIDTH * COLUMNS, "h": 1},
        }));
        y += 1;
        let mut column = 0;
        for (name, family) in families.iter().filter(|(name, _)| name.starts_with(prefix)) {
            if CONSTANT.contains(&name.as_str()) {
                continue;
            }
            if column == COLUMNS {
                (column, y) = (0, y + HEIGHT);
            }
            panels.push(panel(name, family, column * WIDTH, y));
            column += 1;
        }
        y += HEIGHT;
    }
    for (panel, id) in panels.iter_mut().zip(1_u32..) {
        panel["id"] = id.into();
    }
    json!({
        "uid": "kubectl-reserve", "title": "kubectl reserve", "tags": ["kubernetes", "scheduler"],
        "schemaVersion": 39, "editable": true, "refresh": "30s", "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": variables()},
        "panels": panels,
    })
}

/// The data source, and the jobs that have a daemon.
fn variables() -> Value {
    json!([
        {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source"},
        {
            "name": "job", "type": "query", "label": "Job", "datasource": source(), "refresh": 2,
            "query": {"query": "label_values(reserve_build_info, job)", "refId": "job"},
            "includeAll": true, "multi": true, "current": {"text": "All", "value": "$__all"},
        },
    ])
}

fn source() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

fn panel(name: &str, family: &Family, x: u32, y: u32) -> Value {
    let targets: Vec<Value> = queries(name, family)
        .into_iter()
        .zip('A'..)
        .map(|((expression, legend), id)| {
            json!({"refId": id.to_string(), "expr": expression, "legendFormat": legend, "datasource": source()})
        })
        .collect();
    json!({
        "type": "timeseries", "title": name, "description": family.help, "datasource": source(),
        "gridPos": {"x": x, "y": y, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit(name, family.kind), "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": targets,
    })
}

/// Each query of a panel with the text for its legend.
fn queries(name: &str, family: &Family) -> Vec<(String, String)> {
    let labels: Vec<&str> = family.labels.iter().map(String::as_str).collect();
    let selected = |suffix: &str| format!("{name}{suffix}{{job=~\"$job\"}}");
    let legend =
        |labels: &[&str]| labels.iter().map(|label| format!("{{{{{label}}}}}")).collect::<Vec<_>>().join(" ");
    let by = |labels: &[&str]| {
        if labels.is_empty() { String::new() } else { format!(" by ({})", labels.join(", ")) }
    };
    match family.kind {
        MetricKind::Counter => {
            vec![(format!("sum{} (rate({}[$__rate_interval]))", by(&labels), selected("")), legend(&labels))]
        }
        // Replicas show the same; the highest is that of the replica that has seen most.
        MetricKind::Gauge if is_of_cluster(name) => {
            vec![(format!("max{} ({})", by(&labels), selected("")), legend(&labels))]
        }
        MetricKind::Gauge => {
            let labels = [&["instance"], &labels[..]].concat();
            vec![(selected(""), legend(&labels))]
        }
        MetricKind::Histogram => [("0.5", "half"), ("0.99", "99 %")]
            .map(|(quantile, word)| {
                let rate = format!("sum by (le) (rate({}[$__rate_interval]))", selected("_bucket"));
                (format!("histogram_quantile({quantile}, {rate})"), word.to_owned())
            })
            .to_vec(),
    }
}

/// Whether a gauge says something about the cluster, and not about the process that shows it.
fn is_of_cluster(name: &str) -> bool {
    !BY_REPLICA.contains(&name) && ["reserve_", "scheduler_"].iter().any(|prefix| name.starts_with(prefix))
}

/// Grafana's name for what is counted.
fn unit(name: &str, kind: MetricKind) -> &'static str {
    match kind {
        MetricKind::Counter => "ops",
        _ if name == "process_start_time_seconds" => "dateTimeFromNow",
        _ if name.ends_with("_seconds") => "s",
        _ if name.ends_with("_bytes") => "bytes",
        _ => "short",
    }
}

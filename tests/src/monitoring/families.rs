//! All metrics that the daemon has, read from what it would show once everything that it counts has happened.

use common::framework::Status;
use common::model::ExtensionPoint;
use daemon::connect::CallCounter as _;
use daemon::metrics::Metrics;
use daemon::state::{AttemptResult, ComparisonResult, Figures, Note};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What Prometheus may do with a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows.
    Counter,
    /// A value of now.
    Gauge,
    /// Counts by size, as `_bucket`, `_sum` and `_count`.
    Histogram,
}

/// A metric with all its labels.
#[derive(Clone, Debug)]
pub struct Family {
    /// As `# TYPE` has it.
    pub kind: MetricKind,
    /// What it is, in words.
    pub help: String,
    /// The names of its labels.
    pub labels: BTreeSet<String>,
}

/// Each metric of the daemon by its name.
pub fn families() -> BTreeMap<String, Family> {
    read(&everything())
}

/// The text of metrics in which each one has a value: a family of labelled metrics is not shown before.
fn everything() -> String {
    let metrics = Metrics::default();
    notes().iter().for_each(|note| metrics.note(note));
    metrics.handled(Duration::from_millis(1), &notes());
    let clock = daemon::clock::Clock::start();
    let meter = metrics.meter("p", &clock);
    let (point, took) = (ExtensionPoint::PostFilter, Duration::from_millis(1));
    meter.record_extension_point(point, Status::Success, took);
    meter.record_plugin("DefaultPreemption", point, Status::Success, took);
    metrics.figures(&Figures {
        rejected: BTreeMap::from([(("p".into(), "NodeName"), 1)]),
        reservations: BTreeMap::from([("Held", 1)]),
        held: BTreeMap::from([("cpu", 1)]),
        ..Figures::default()
    });
    metrics.leading(Some("reserve-daemon"), true);
    metrics.called("host", &http::Method::GET, Some(http::StatusCode::OK));
    metrics.text()
}

fn notes() -> Vec<Note> {
    let took = Duration::from_millis(1);
    vec![
        Note::Attempt { profile: "p".into(), result: AttemptResult::Scheduled },
        Note::Bound { profile: "p".into(), attempts: 1, waited_ms: 1, was_flushed: true },
        Note::ExtensionPointDuration {
            profile: "p".into(),
            extension_point: ExtensionPoint::Bind,
            status: Status::Success,
            took,
        },
        Note::Preemption { victims: 1, violations: 1 },
        Note::VictimDeletion { is_done: true, took },
        Note::PermitWait { result: "Success", waited_ms: 1 },
        Note::Queued { queue: "active", event: "PodAdd".to_owned(), count: 1 },
        Note::EventsDropped { count: 1 },
        Note::Reserved { by: "delete" },
        Note::Released { why: "taken" },
        Note::NotReserved { why: "quota" },
        Note::ReservationLost,
        Note::ReservationYielded,
        Note::OwnerUnreadable,
        Note::Acknowledged { after_ms: 1 },
        Note::Compared(ComparisonResult::Equal),
    ]
}

fn read(text: &str) -> BTreeMap<String, Family> {
    let mut families = BTreeMap::new();
    let mut helps: BTreeMap<&str, &str> = BTreeMap::new();
    let mut current = "";
    for line in text.lines() {
        if let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|rest| rest.split_once(' ')) {
            helps.insert(name, help.trim_end_matches('.'));
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' '))
        {
            current = name;
            let kind = match kind {
                "counter" => MetricKind::Counter,
                "histogram" => MetricKind::Histogram,
                _ => MetricKind::Gauge,
            };
            let help = (*helps.get(name).unwrap_or(&"")).to_owned();
            families.insert(name.to_owned(), Family { kind, help, labels: BTreeSet::new() });
        } else if let Some(family) = families.get_mut(current) {
            family.labels.extend(labels(line).map(str::to_owned).filter(|label| label != "le"));
        }
    }
    families
}

/// The names of the labels of a sample.
fn labels(line: &str) -> impl Iterator<Item = &str> {
    let inner =
        line.split_once('{').and_then(|(_, rest)| rest.rsplit_once('}')).map_or("", |(inner, _)| inner);
    inner.split("\",").filter_map(|pair| Some(pair.split_once("=\"")?.0))
}

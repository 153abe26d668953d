//! Progress of a recreation, one line for each event: `  ok   31.2s  bound      pod/web-2 -> node-2 (same node)`.

use super::end::RecreateSubject;
use crate::flow::budget::BlockedEviction;
use crate::flow::recreate::{NodeMatch, ProgressEvent};
use jiff::Timestamp;
use std::time::Duration;

/// The line for an event, `at` after the start. `amount` is what is reserved.
pub(crate) fn line(
    event: &ProgressEvent,
    subject: &RecreateSubject<'_>,
    amount: &str,
    at: Duration,
) -> String {
    let RecreateSubject { pod, node, seat, removed, .. } = subject;
    let name = format!("pod/{pod}");
    let (mark, verb, rest) = match event {
        ProgressEvent::Blocked(blocked) => {
            return format!("{} (will retry after 5s)", waiting(blocked, &name));
        }
        ProgressEvent::Reserved { until } => {
            ("ok", "reserved", format!("node/{node}  {amount}{}", ends(*until)))
        }
        ProgressEvent::Acknowledged { replicas: 0 } => ("ok", "acknowledged", "by the daemon".to_owned()),
        ProgressEvent::Acknowledged { replicas: 1 } => {
            ("ok", "acknowledged", "by 1 replica of the daemon".to_owned())
        }
        ProgressEvent::Acknowledged { replicas } => {
            ("ok", "acknowledged", format!("by {replicas} replicas of the daemon"))
        }
        ProgressEvent::Unacknowledged => {
            ("--", "not seen", "nobody acknowledges it (--unenforced)".to_owned())
        }
        ProgressEvent::Again(lacks) => ("--", "no room", format!("{}; planning again", lacks.join("; "))),
        ProgressEvent::TakenBack => ("ok", "taken back", format!("reservation {seat}")),
        ProgressEvent::Evicted => ("ok", *removed, name),
        ProgressEvent::Gone => ("ok", "gone", String::new()),
        ProgressEvent::Created => ("ok", "created", name),
        ProgressEvent::Bound { pod, node, node_match } => {
            let which = match node_match {
                NodeMatch::SameNode => "same node",
                NodeMatch::IntendedNode => "as reserved",
                NodeMatch::Elsewhere => "another node",
            };
            ("ok", "bound", format!("pod/{pod} -> {node} ({which})"))
        }
        ProgressEvent::ReplacementGone { pod, node } => {
            ("--", "lost", format!("pod/{pod} on {node} was deleted or preempted"))
        }
        ProgressEvent::Ready => ("ok", "ready", String::new()),
        ProgressEvent::NotReady { pod } => ("--", "not ready", format!("pod/{pod} is not ready any more")),
        ProgressEvent::Released => ("ok", "released", (*seat).to_owned()),
    };
    format!("  {mark}  {:>6}  {verb:<12}  {rest}", times(at)).trim_end().to_owned()
}

/// A duration as `0.1s`, `38.4s`, `2m5s` or `3m`.
pub(crate) fn times(at: Duration) -> String {
    match at.as_secs() {
        0..=99 => format!("{}.{}s", at.as_secs(), at.subsec_millis() / 100),
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{}m{}s", seconds / 60, seconds % 60),
    }
}

fn ends(until: Option<Timestamp>) -> String {
    until.map(|until| format!(", until {}", clock(until))).unwrap_or_default()
}

/// The time of day in UTC: `08:20 UTC`.
pub(super) fn clock(time: Timestamp) -> String {
    let text = time.to_string();
    text.get(11..16).map(|clock| format!("{clock} UTC")).unwrap_or(text)
}

fn waiting(blocked: &BlockedEviction, name: &str) -> String {
    format!("evicting {name}: {}", super::end::budget_words(blocked))
}

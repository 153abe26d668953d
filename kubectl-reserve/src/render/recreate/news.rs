//! What happens, a line each: `  ok   31.2s  bound      pod/web-2 -> node-2 (same node)`.

use crate::flow::budget::Blocked;
use crate::flow::recreate::{Landed, News};
use jiff::Timestamp;
use std::time::Duration;

/// The line for a piece of news about the pod called `name`, so long after the beginning.
pub(crate) fn line(news: &News, name: &str, keeps: &str, seat: &str, at: Duration) -> String {
    let (mark, verb, rest) = match news {
        News::Blocked(blocked) => return format!("{} (will retry after 5s)", waiting(blocked, name)),
        News::Reserved { until } => ("ok", "reserved", format!("{keeps}{}", ends(*until))),
        News::Acknowledged { replicas: 0 } => ("ok", "acknowledged", "by the daemon".to_owned()),
        News::Acknowledged { replicas: 1 } => ("ok", "acknowledged", "by 1 replica of the daemon".to_owned()),
        News::Acknowledged { replicas } => {
            ("ok", "acknowledged", format!("by {replicas} replicas of the daemon"))
        }
        News::Unacknowledged => ("--", "not seen", "nobody acknowledges it (--unenforced)".to_owned()),
        News::Again(lacks) => ("--", "no room", format!("{}; planning again", lacks.join("; "))),
        News::TakenBack => ("ok", "taken back", format!("reservation {seat}")),
        News::Evicted => ("ok", "evicted", name.to_owned()),
        News::Gone => ("ok", "gone", String::new()),
        News::Created => ("ok", "created", name.to_owned()),
        News::Bound { pod, node, landed } => {
            let which = match landed {
                Landed::SameNode => "same node",
                Landed::Kept => "as reserved",
                Landed::Elsewhere => "another node",
            };
            ("ok", "bound", format!("pod/{pod} -> {node} ({which})"))
        }
        News::ReplacementGone { pod, node } => {
            ("--", "lost", format!("pod/{pod} on {node} was deleted or preempted"))
        }
        News::Ready => ("ok", "ready", String::new()),
        News::NotReady { pod } => ("--", "not ready", format!("pod/{pod} is not ready any more")),
        News::Released => ("ok", "released", seat.to_owned()),
    };
    format!("  {mark}  {:>6}  {verb:<12}  {rest}", times(at)).trim_end().to_owned()
}

/// `0.1s`, `38.4s`, `2m5s`.
pub(crate) fn times(at: Duration) -> String {
    match at.as_secs() {
        0..=99 => format!("{}.{}s", at.as_secs(), at.subsec_millis() / 100),
        seconds => format!("{}m{}s", seconds / 60, seconds % 60),
    }
}

fn ends(until: Option<Timestamp>) -> String {
    until.map(|until| format!(", until {}", clock(until))).unwrap_or_default()
}

/// The time of day, as the API server has it.
pub(super) fn clock(time: Timestamp) -> String {
    let text = time.to_string();
    text.get(11..16).map(|clock| format!("{clock} UTC")).unwrap_or(text)
}

fn waiting(blocked: &Blocked, name: &str) -> String {
    format!("evicting {name}: {}", super::end::budget_words(blocked))
}

//! Everything about one reservation, or about all of a node, as `kubectl describe` would say it.

mod node;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use node::node;

use super::printable;
use super::table::table_with_gap;
use super::time::between;
use crate::capacity::Room;
use crate::reservations::{Row, Waiting, owner_name, words};
use common::model::owner::Owner;
use common::model::reservation::{Origin, Placement, Record};
use jiff::Timestamp;
use state::{state, usable_by, yields_to};

const NONE: &str = "<none>";

/// How wide the labels are.
const LABEL: usize = 14;

/// Everything that is known about one reservation.
pub(crate) struct Described<'w> {
    pub(crate) row: &'w Row<'w>,
    pub(crate) now: Timestamp,
    /// Whether pods were read.
    pub(crate) has_pods: bool,
    pub(crate) waiting: Vec<Waiting>,
    /// Its annotations as they are.
    pub(crate) annotations: Vec<(String, String)>,
    /// What happened to it; `None` if events could not be read.
    pub(crate) events: Option<Vec<Happened>>,
    /// Who enforces it; `None` if that could not be read.
    pub(crate) enforced_by: Option<String>,
}

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Happened {
    pub(crate) at: Option<Timestamp>,
    pub(crate) kind: String,
    pub(crate) reason: String,
    /// `Pod/web-1`.
    pub(crate) about: String,
    pub(crate) note: String,
}

/// One reservation.
pub(crate) fn reservation(known: &Described<'_>) -> String {
    let row = known.row;
    let mut text = String::new();
    field(&mut text, "Name", &row.name());
    field(&mut text, "Namespace", row.namespace().unwrap_or("<unknown>"));
    field(&mut text, "Owner", &owner(row));
    field(&mut text, "Node", &format!("{} ({})", row.node(), node::status(row.ledger)));
    field(&mut text, "State", &state(row, known.now, known.has_pods));
    if let Some(entry) = row.entry() {
        block(&mut text, "Amount", amounts(&entry.reservation.amount));
        let ports: Vec<String> =
            entry.reservation.ports.iter().map(|port| format!("{}/{}", port.port, port.protocol())).collect();
        field(&mut text, "Ports", &or_none(&ports.join(", ")));
        details(&mut text, known);
        field(&mut text, "Usable by", &usable_by(row));
        field(&mut text, "Yields to", &yields_to(&entry.reservation));
        field(
            &mut text,
            "Enforced by",
            known.enforced_by.as_deref().unwrap_or("<unknown>: the Leases cannot be read"),
        );
        block(&mut text, "Waiting", waiting(known));
    }
    block(&mut text, "Node's room", room(&Room::of(row.ledger)));
    let raw = |(key, value): &(String, String)| format!("{}: {}", printable(key), printable(value));
    block(&mut text, "Annotations", known.annotations.iter().map(raw).collect());
    events(&mut text, known.events.as_deref(), known.now);
    block(&mut text, "Next steps", state::next_steps(row));
    text
}

/// What the record says.
fn details(text: &mut String, known: &Described<'_>) {
    let Some(entry) = known.row.entry() else { return };
    let replaces = entry.reservation.replaces();
    field(text, "Replaces", &replaces.map_or_else(|| NONE.into(), |pod| format!("pod {}", pod.name)));
    let taker = entry.taken_by.as_ref().map(|pod| format!("pod {}", pod.key));
    field(text, "Taken by", &taker.unwrap_or_else(|| NONE.into()));
    match &entry.reservation.origin {
        Origin::Recorded(record) => recorded(text, record, known.now),
        Origin::Manual => {
            field(text, "Expires", "never: it was made by hand in the plain form, and has no record")
        }
        Origin::Newer { version, expires } => {
            field(text, "Version", &format!("{version}, which this program does not know"));
            field(text, "Expires", &expires.map_or_else(|| "<unknown>".into(), |at| when(at, known.now)));
        }
    }
}

fn recorded(text: &mut String, record: &Record, now: Timestamp) {
    let placement = match record.placement {
        Placement::Wait => "wait: the replacement waits while the replaced pod is on its way out",
        Placement::Prefer => "prefer: this node scores highest for the replacement",
        Placement::Require => "require: the replacement goes to this node or nowhere",
    };
    field(text, "Placement", placement);
    field(text, "Priority", &record.priority.to_string());
    // An automatic one says that it is a second younger than it is.
    field(text, "Created", &when(record.created.min(now), now));
    field(text, "Expires", &when(record.expires, now));
    field(text, "Request", &or_none(&record.request));
    field(text, "By", &or_none(&record.by));
    field(text, "Reason", &or_none(&record.reason));
}

fn owner(row: &Row<'_>) -> String {
    let Some(entry) = row.entry() else { return "<unknown>".into() };
    let uid = &entry.reservation.id.owner;
    match row.owner() {
        Some(owner) if row.is_orphaned() => format!("{} (gone), uid {uid}", owner_name(owner)),
        Some(owner) => format!("{}, uid {uid}", owner_name(owner)),
        None => format!("<unknown>: nobody was found with uid {uid}"),
    }
}

/// An owner with its namespace.
fn in_full(owner: &Owner) -> String {
    format!("{} in {}", owner_name(owner), owner.namespace)
}

fn amounts(amount: &common::model::Resources) -> Vec<String> {
    amount.iter().map(|(resource, amount)| format!("{resource}: {}", resource.format(amount))).collect()
}

/// What the node has of each resource, and what of it is whose.
fn room(room: &Room) -> Vec<String> {
    let rows: Vec<Vec<String>> = room
        .allocatable
        .plus(&room.requested)
        .plus(&room.reserved)
        .iter()
        .map(|(resource, _)| {
            let zero = |amount: i64| if amount == 0 { "0".to_owned() } else { resource.format(amount) };
            let numbers = room.get(&resource).map(zero);
            [resource.to_string()].into_iter().chain(numbers).collect()
        })
        .collect();
    let headers = ["RESOURCE", "ALLOCATABLE", "REQUESTED", "RESERVED", "FREE"];
    table_with_gap(Some(&headers), &rows, 2).lines().map(str::to_owned).collect()
}

fn waiting(known: &Described<'_>) -> Vec<String> {
    let line = |waiting: &Waiting| {
        let pod = &waiting.pod;
        let how = if waiting.is_own { "it is kept for this pod" } else { "would fit there without it" };
        vec![pod.key.to_string(), format!("asks {}", words(pod.spec.requests.counted())), how.to_owned()]
    };
    let rows: Vec<Vec<String>> = known.waiting.iter().map(line).collect();
    table_with_gap(None, &rows, 2).lines().map(str::to_owned).collect()
}

/// The events, newest last.
fn events(text: &mut String, events: Option<&[Happened]>, now: Timestamp) {
    let Some(events) = events else {
        return field(text, "Events", "<unknown>: they cannot be read; needs: list events (all namespaces)");
    };
    let row = |event: &Happened| {
        let age = event.at.map_or_else(|| "<unknown>".into(), |at| between(at, now));
        [&age, &event.kind, &event.reason, &event.about, &event.note].map(|cell| printable(cell)).into()
    };
    let rows: Vec<Vec<String>> = events.iter().map(row).collect();
    let lines = match rows.is_empty() {
        true => Vec::new(),
        false => table_with_gap(Some(&["AGE", "TYPE", "REASON", "OBJECT", "MESSAGE"]), &rows, 2)
            .lines()
            .map(str::to_owned)
            .collect(),
    };
    block(text, "Events", lines);
}

/// `2026-11-16T08:19:12Z (in 9m12s)`.
fn when(at: Timestamp, now: Timestamp) -> String {
    if at > now {
        format!("{at} (in {})", between(now, at))
    } else {
        format!("{at} ({} ago)", between(at, now))
    }
}

fn or_none(text: &str) -> String {
    if text.is_empty() { NONE.into() } else { printable(text) }
}

fn field(text: &mut String, label: &str, value: &str) {
    let label = format!("{label}:");
    *text += &format!("{label:<LABEL$}{value}\n");
}

/// A label with lines below it; `<none>` beside it if there are none.
fn block(text: &mut String, label: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return field(text, label, NONE);
    }
    *text += &format!("{label}:\n");
    for line in lines {
        *text += &format!("  {line}\n");
    }
}

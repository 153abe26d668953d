//! The output of `describe`: everything about one reservation ([`reservation`]) or about a node ([`node()`]), in the style of
//! `kubectl describe`.

mod node;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use node::node;

use super::printable;
use super::table::table_with_gap;
use super::time::between;
use crate::amount::{column, shown};
use crate::capacity::Room;
use crate::reservations::{Row, WaitingPod, owner_name, words};
use common::model::{Origin, Owner, Placement, Record};
use jiff::Timestamp;
use state::{state, usable_by, yields_to};

const NONE: &str = "<none>";

/// The width of the labels.
const LABEL: usize = 14;

/// What is shown about one reservation.
pub(crate) struct ReservationDescription<'w> {
    pub(crate) row: &'w Row<'w>,
    pub(crate) now: Timestamp,
    /// Whether pods could be read.
    pub(crate) has_pods: bool,
    pub(crate) waiting: Vec<WaitingPod>,
    pub(crate) annotations: Vec<(String, String)>,
    /// Events about it; `None` if events could not be read.
    pub(crate) events: Option<Vec<ReservationEvent>>,
    /// The schedulers that enforce it; `None` if the Leases could not be read.
    pub(crate) enforced_by: Option<String>,
}

/// An event about a reservation, or about its node, owner or pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReservationEvent {
    pub(crate) at: Option<Timestamp>,
    pub(crate) kind: String,
    pub(crate) reason: String,
    /// The object that the event is about: `Pod/web-1`.
    pub(crate) about: String,
    pub(crate) note: String,
}

pub(crate) fn reservation(description: &ReservationDescription<'_>) -> String {
    let row = description.row;
    let mut text = String::new();
    field(&mut text, "Name", &row.name());
    field(&mut text, "Namespace", row.namespace().unwrap_or("<unknown>"));
    field(&mut text, "Owner", &owner(row));
    field(&mut text, "Node", &format!("{} ({})", row.node(), node::status(row.ledger)));
    field(&mut text, "State", &state(row, description.now, description.has_pods));
    if let Some(entry) = row.entry() {
        block(&mut text, "Amount", amounts(&entry.reservation.amount));
        let ports: Vec<String> =
            entry.reservation.ports.iter().map(|port| format!("{}/{}", port.port, port.protocol())).collect();
        field(&mut text, "Ports", &or_none(&ports.join(", ")));
        details(&mut text, description);
        field(&mut text, "Usable by", &usable_by(row));
        field(&mut text, "Yields to", &yields_to(&entry.reservation));
        field(
            &mut text,
            "Enforced by",
            description.enforced_by.as_deref().unwrap_or("<unknown>: the Leases cannot be read"),
        );
        block(&mut text, "Waiting", waiting(description));
    }
    block(&mut text, "Node's room", room(&Room::of(row.ledger)));
    let raw = |(key, value): &(String, String)| format!("{}: {}", printable(key), printable(value));
    block(&mut text, "Annotations", description.annotations.iter().map(raw).collect());
    events(&mut text, description.events.as_deref(), description.now);
    block(&mut text, "Next steps", state::next_steps(row));
    text
}

/// The fields of the record.
fn details(text: &mut String, description: &ReservationDescription<'_>) {
    let Some(entry) = description.row.entry() else { return };
    let replaces = entry.reservation.replaces();
    field(text, "Replaces", &replaces.map_or_else(|| NONE.into(), |pod| format!("pod {}", pod.name)));
    let taker = entry.taken_by.as_ref().map(|pod| format!("pod {}", pod.key));
    field(text, "Taken by", &taker.unwrap_or_else(|| NONE.into()));
    match &entry.reservation.origin {
        Origin::Recorded(record) => recorded(text, record, description.now),
        Origin::Manual => {
            field(text, "Expires", "never: it was made by hand in the plain form, and has no record")
        }
        Origin::Newer { version, expires } => {
            field(text, "Version", &format!("{version}, which this program does not know"));
            field(
                text,
                "Expires",
                &expires.map_or_else(|| "<unknown>".into(), |at| when(at, description.now)),
            );
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
    // The creation time of an automatic reservation is up to a second in the future.
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

/// An owner as `Deployment/web in shop`.
fn in_full(owner: &Owner) -> String {
    format!("{} in {}", owner_name(owner), owner.namespace)
}

fn amounts(amount: &common::model::Resources) -> Vec<String> {
    amount.iter().map(|(resource, amount)| format!("{resource}: {}", shown(&resource, amount))).collect()
}

/// A table of the node's resources: allocatable, requested, reserved, free.
fn room(room: &Room) -> Vec<String> {
    let rows: Vec<Vec<String>> = room
        .allocatable
        .plus(&room.requested)
        .plus(&room.reserved)
        .iter()
        .map(|(resource, _)| {
            let numbers = column(&resource, &room.get(&resource));
            [resource.to_string()].into_iter().chain(numbers).collect()
        })
        .collect();
    let headers = ["RESOURCE", "ALLOCATABLE", "REQUESTED", "RESERVED", "FREE"];
    table_with_gap(Some(&headers), &rows, 2).lines().map(str::to_owned).collect()
}

fn waiting(description: &ReservationDescription<'_>) -> Vec<String> {
    let line = |waiting: &WaitingPod| {
        let pod = &waiting.pod;
        let how = if waiting.is_own { "it is kept for this pod" } else { "would fit there without it" };
        vec![pod.key.to_string(), format!("asks {}", words(pod.spec.requests.counted())), how.to_owned()]
    };
    let rows: Vec<Vec<String>> = description.waiting.iter().map(line).collect();
    table_with_gap(None, &rows, 2).lines().map(str::to_owned).collect()
}

/// Adds the events, the newest last.
fn events(text: &mut String, events: Option<&[ReservationEvent]>, now: Timestamp) {
    let Some(events) = events else {
        return field(text, "Events", "<unknown>: they cannot be read; needs: list events (all namespaces)");
    };
    let row = |event: &ReservationEvent| {
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

/// A time with its distance from now: `2026-11-16T08:19:12Z (in 9m12s)`.
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

/// Adds a label with lines below it; without lines, the label with `<none>`.
fn block(text: &mut String, label: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return field(text, label, NONE);
    }
    *text += &format!("{label}:\n");
    for line in lines {
        *text += &format!("  {line}\n");
    }
}

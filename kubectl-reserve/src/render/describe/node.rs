//! The description of a node with all of its reservations.

use super::{ReservationEvent, block, events, field, room};
use crate::capacity::Room;
use crate::print::Printable as _;
use crate::render::list::Rows;
use crate::render::printable;
use crate::reservations::Row;
use common::cluster::Ledger;
use common::model::reservation::{BYTES_MAX, KEYS_MAX};
use jiff::Timestamp;

/// The state of a node, in the style of kubectl.
pub(super) fn status(ledger: &Ledger) -> &'static str {
    match (ledger.node.is_ready, ledger.node.unschedulable) {
        (true, false) => "Ready",
        (true, true) => "Cordoned",
        (false, false) => "NotReady",
        (false, true) => "NotReady, Cordoned",
    }
}

/// The description of a node: its room, its reservations, and events about them.
pub(crate) fn node(
    ledger: &Ledger,
    rows: &[Row<'_>],
    reservation_events: Option<&[ReservationEvent]>,
    now: Timestamp,
    width: Option<usize>,
) -> String {
    let mut text = String::new();
    field(&mut text, "Name", ledger.node.name.as_str());
    field(&mut text, "Status", status(ledger));
    field(&mut text, "Pods", &ledger.pods.len().to_string());
    let size = ledger.node.annotations;
    let full = format!("{} of {KEYS_MAX} keys, {} of {BYTES_MAX} bytes", size.our_keys, size.our_bytes);
    field(&mut text, "Annotations", &full);
    block(&mut text, "Room", room(&Room::of(ledger)));
    let width = width.map(|width| width.saturating_sub(2));
    let shown = Rows { rows: rows.to_vec(), all_namespaces: true, now, width };
    let table = if rows.is_empty() { String::new() } else { shown.table(false, true) };
    block(&mut text, "Reservations", table.lines().map(str::to_owned).collect());
    let invalid = rows.iter().filter_map(|row| row.invalid());
    let problems = invalid.map(|invalid| format!("{}: {}", invalid.key, printable(&invalid.problem)));
    let problems: Vec<String> = problems.collect();
    if !problems.is_empty() {
        block(&mut text, "Ignored", problems);
    }
    events(&mut text, reservation_events, now);
    text
}

//! The output of `list`: reservations as rows of a table; `render/json` makes the document.

mod fit;
#[cfg(test)]
mod tests;

use super::table::table as lay_out;
use super::time::between;
use super::{json, printable};
use crate::amount::{column, shown};
use crate::error::Failure;
use crate::print::Printable;
use crate::reservations::{Row, RowContent, owner_name};
use common::cluster::ledger::Entry;
use common::model::{Origin, ResourceName, Resources};
use fit::fit;
pub(crate) use fit::shorten;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const UNKNOWN: &str = "<unknown>";
pub(super) const NONE: &str = "<none>";

pub(crate) struct Rows<'w> {
    pub(crate) rows: Vec<Row<'w>>,
    pub(crate) all_namespaces: bool,
    pub(crate) now: Timestamp,
    /// The width of the terminal; `None` if stdout is no terminal, and nothing is shortened.
    pub(crate) width: Option<usize>,
}

impl Printable for Rows<'_> {
    fn table(&self, is_wide: bool, has_headers: bool) -> String {
        let headers = headers(self.all_namespaces, is_wide);
        let mut cells: Vec<Vec<String>> =
            self.rows.iter().map(|row| cells(row, self.all_namespaces, is_wide, self.now)).collect();
        self.use_one_unit(&headers, &mut cells);
        match self.width.filter(|_| !is_wide) {
            Some(width) => fit(&headers, cells, has_headers, width),
            None => lay_out(has_headers.then_some(&headers), &cells),
        }
    }

    fn names(&self) -> Vec<String> {
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for row in &self.rows {
            *count.entry(row.name()).or_default() += 1;
        }
        // A name that several reservations have is not enough: then the node is printed, too.
        let is_clear = |row: &Row<'_>| row.invalid().is_none() && count.get(&row.name()) == Some(&1);
        let name = |row: &Row<'_>| if is_clear(row) { row.name() } else { row.id() };
        self.rows.iter().map(|row| format!("reservation/{}", name(row))).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        Ok(json::list(&self.rows))
    }
}

impl Rows<'_> {
    /// Shows all amounts of memory in the same unit.
    fn use_one_unit(&self, headers: &[&str], cells: &mut [Vec<String>]) {
        let Some(at) = headers.iter().position(|header| *header == "MEMORY") else { return };
        let valid = |row: &Row<'_>| row.entry().map(|entry| entry.reservation.amount.memory);
        let amounts: Vec<i64> = self.rows.iter().filter_map(valid).collect();
        let mut shown = column(&ResourceName::Memory, &amounts).into_iter();
        for (row, line) in self.rows.iter().zip(cells) {
            if let Some(cell) = line.get_mut(at).filter(|_| row.entry().is_some()) {
                *cell = shown.next().unwrap_or_default();
            }
        }
    }
}

pub(crate) fn headers(all_namespaces: bool, is_wide: bool) -> Vec<&'static str> {
    let mut headers = vec!["NAME", "OWNER", "NODE", "CPU", "MEMORY", "STATE", "EXPIRES", "AGE"];
    if all_namespaces {
        headers.insert(0, "NAMESPACE");
    }
    if is_wide {
        headers.extend(["OTHER", "REPLACES", "TAKEN-BY", "PLACEMENT", "BY", "REASON"]);
    }
    headers
}

pub(crate) fn cells(row: &Row<'_>, all_namespaces: bool, is_wide: bool, now: Timestamp) -> Vec<String> {
    let mut cells = narrow_cells(row, now);
    if all_namespaces {
        cells.insert(0, row.namespace().unwrap_or(UNKNOWN).to_owned());
    }
    if is_wide {
        cells.extend(wide_cells(row));
    }
    cells
}

fn narrow_cells(row: &Row<'_>, now: Timestamp) -> Vec<String> {
    let Some(entry) = row.entry() else {
        let name = row.name();
        return [&name, UNKNOWN, row.node(), NONE, NONE, "Invalid", NONE, UNKNOWN].map(str::to_owned).into();
    };
    let amount = |resource: ResourceName| shown(&resource, entry.reservation.amount.get(&resource));
    vec![
        row.name(),
        row.owner().map_or_else(|| UNKNOWN.into(), owner_name),
        row.node().to_owned(),
        amount(ResourceName::Cpu),
        amount(ResourceName::Memory),
        state(row),
        expires(entry.reservation.expires(), now),
        entry.reservation.created().map_or_else(|| UNKNOWN.into(), |created| between(created, now)),
    ]
}

fn wide_cells(row: &Row<'_>) -> Vec<String> {
    let Some(entry) = row.entry() else { return vec![NONE.into(); 6] };
    let record = entry.reservation.record();
    let text =
        |text: Option<&str>| text.filter(|text| !text.is_empty()).map_or_else(|| NONE.into(), printable);
    vec![
        text(Some(&others(&entry.reservation.amount))),
        text(entry.reservation.replaces().map(|pod| &*pod.name)),
        text(entry.taken_by.as_ref().map(|pod| &*pod.key.name)),
        text(record.map(|record| record.placement.as_str())),
        text(record.map(|record| &*record.by)),
        text(record.map(|record| &*record.reason)),
    ]
}

/// The time until `at`, or since `at` if it has passed.
pub(super) fn expires(at: Option<Timestamp>, now: Timestamp) -> String {
    match at {
        None => NONE.into(),
        Some(at) if at <= now => format!("{} ago", between(at, now)),
        Some(at) => between(now, at),
    }
}

/// The state of a reservation, with a remark such as `(manual)`.
pub(super) fn state(row: &Row<'_>) -> String {
    let RowContent::Reservation { entry, is_owner_gone, .. } = &row.content else { return "Invalid".into() };
    match (&entry.reservation.origin, entry.state.as_str()) {
        (Origin::Manual, "Held") if is_in_part(entry) => "Held (manual, in part)".into(),
        (Origin::Manual, state) => format!("{state} (manual)"),
        (Origin::Newer { version, .. }, state) => format!("{state} (v{version})"),
        (Origin::Recorded(_), state) if *is_owner_gone => format!("{state} (orphaned)"),
        (Origin::Recorded(_), state) => state.into(),
    }
}

/// Whether the owner's pods already use a part of it.
pub(super) fn is_in_part(entry: &Entry) -> bool {
    entry.held != entry.reservation.amount
}

/// All resources except cpu, memory and pods.
fn others(amount: &Resources) -> String {
    let is_other = |resource: &str| !matches!(resource, "cpu" | "memory" | "pods");
    let others = amount.iter().filter(|(resource, _)| is_other(resource.as_str()));
    others
        .map(|(resource, amount)| format!("{resource}={}", shown(&resource, amount)))
        .collect::<Vec<_>>()
        .join(",")
}

//! The output of `nodes`: what each node has, and what of it is requested, reserved and free.

mod columns;
mod json;
#[cfg(test)]
mod tests;

pub(crate) use columns::{Bar, Column};

use super::table::table_with_gap;
use super::wrap::WIDTH;
use crate::capacity::Room;
use crate::error::Failure;
use crate::print::Printable;
use common::cluster::Ledger;
use common::model::port::HostPort;
use serde_json::Value;
use std::collections::BTreeSet;

/// A node as a line of the table.
#[derive(Clone, Debug)]
pub(crate) struct NodeRow {
    pub(crate) name: String,
    pub(crate) status: String,
    pub(crate) room: Room,
    /// The host ports that pods use, and those that are reserved.
    pub(crate) ports: (BTreeSet<HostPort>, BTreeSet<HostPort>),
}

pub(crate) struct NodeRows {
    pub(crate) rows: Vec<NodeRow>,
    /// Whether only free amounts are shown.
    pub(crate) only_free: bool,
    pub(crate) more: Vec<Column>,
    /// How to draw bars; `None` if stdout is no terminal.
    pub(crate) bar: Option<Bar>,
    /// The width of the terminal, if stdout is one.
    pub(crate) width: Option<usize>,
}

impl NodeRow {
    pub(crate) fn of(ledger: &Ledger) -> Self {
        let node = &ledger.node;
        let mut words = Vec::new();
        if node.problem.is_some() {
            words.push("Unreadable");
        }
        if !node.is_ready {
            words.push("NotReady");
        }
        if node.unschedulable {
            words.push("Cordoned");
        }
        let status = if words.is_empty() { "Ready".into() } else { words.join(",") };
        let used = ledger.pods.iter().flat_map(|pod| pod.spec.ports.iter().cloned()).collect();
        let held = ledger.entries.iter().filter(|entry| !entry.held.is_zero());
        let kept = held.flat_map(|entry| entry.reservation.ports.iter().cloned()).collect();
        Self { name: node.name.to_string(), status, room: Room::of(ledger), ports: (used, kept) }
    }
}

impl NodeRows {
    pub(crate) fn total(&self) -> NodeRow {
        let mut room = Room::default();
        self.rows.iter().for_each(|row| room.add(&row.room));
        NodeRow { name: "TOTAL".into(), status: String::new(), room, ports: Default::default() }
    }

    fn columns(&self, is_wide: bool) -> Vec<Column> {
        let mut columns = vec![Column::Name, Column::Status];
        if self.only_free {
            columns.extend(Column::FREE);
        } else {
            columns.extend(Column::CPU);
            if is_wide {
                columns.extend(Column::MEMORY);
            }
            columns.extend([Column::FREE[1].clone(), Column::Pods]);
        }
        for column in &self.more {
            if !columns.contains(column) {
                columns.push(column.clone());
            }
        }
        columns
    }
}

/// Spaces between columns: normally, and if the table would be too wide.
const LOOSE: usize = 3;
const TIGHT: usize = 2;

fn lay_out(headers: &[String], cells: &[Vec<String>], has_headers: bool, gap: usize) -> String {
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    table_with_gap(has_headers.then_some(&headers), cells, gap)
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

/// The headers and the cells of a table.
type Grid = (Vec<String>, Vec<Vec<String>>);

impl NodeRows {
    fn grid(&self, lines: &[&NodeRow], is_wide: bool, has_percents: bool) -> Grid {
        let columns = self.columns(is_wide);
        let mut cells: Vec<Vec<String>> = lines.iter().map(|_| Vec::new()).collect();
        for column in &columns {
            for (row, cell) in cells.iter_mut().zip(column.cells(lines, has_percents)) {
                row.push(cell);
            }
        }
        (columns.iter().map(Column::header).collect(), cells)
    }

    /// The table with a bar for each line, if there is room for it. Percentages are left out first: a bar shows the same.
    fn with_bars(&self, lines: &[&NodeRow], has_headers: bool, width: usize) -> Option<Grid> {
        let bar = self.bar.filter(|_| !self.only_free)?;
        [true, false].into_iter().find_map(|has_percents| {
            let (mut headers, mut cells) = self.grid(lines, false, has_percents);
            let used = widest(&lay_out(&headers, &cells, has_headers, TIGHT)) + TIGHT;
            let bar = bar.within(width.saturating_sub(used))?;
            headers.push("CPU".into());
            cells.iter_mut().zip(lines).for_each(|(row, line)| row.push(bar.draw(&line.room)));
            Some((headers, cells))
        })
    }
}

impl Printable for NodeRows {
    fn table(&self, is_wide: bool, has_headers: bool) -> String {
        let total = self.total();
        let lines: Vec<&NodeRow> = self.rows.iter().chain([&total]).collect();
        let width = self.width.unwrap_or(WIDTH);
        let bars = if is_wide { None } else { self.with_bars(&lines, has_headers, width) };
        let (headers, cells) = bars.unwrap_or_else(|| self.grid(&lines, is_wide, true));
        let loose = lay_out(&headers, &cells, has_headers, LOOSE);
        if widest(&loose) > width { lay_out(&headers, &cells, has_headers, TIGHT) } else { loose }
    }

    fn names(&self) -> Vec<String> {
        self.rows.iter().map(|row| format!("node/{}", row.name)).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        Ok(json::document(self))
    }
}

//! Reservations as rows of a table.

#[cfg(test)]
mod tests;

use super::table::table as lay_out;
use super::time::between;
use super::{json, printable};
use crate::error::Failure;
use crate::print::Shown;
use common::api::reservation::encode;
use common::cluster::ledger::Entry;
use common::cluster::{Snapshot, State};
use common::model::Resources;
use common::model::owner::Owner;
use common::model::reservation::{Invalid, Origin};
use jiff::Timestamp;
use serde_json::Value;

/// One line of the list.
pub(crate) struct Row<'w> {
    /// The node that it is on.
    pub(crate) node: &'w str,
    /// What is there.
    pub(crate) what: What<'w>,
}

/// What an annotation came to.
pub(crate) enum What<'w> {
    /// A reservation, and its owner if that is known.
    Reservation {
        /// The entry in the node's books.
        entry: &'w Entry,
        /// Its owner.
        owner: Option<Owner>,
    },
    /// Something malformed.
    Invalid(&'w Invalid),
}

/// All reservations of the cluster, by node.
pub(crate) fn rows<'s>(snapshot: &'s Snapshot<'_>) -> Vec<Row<'s>> {
    let mut rows = Vec::new();
    for ledger in snapshot.nodes() {
        let node = ledger.node.name.as_str();
        let valid =
            ledger.entries.iter().map(|entry| What::Reservation { entry, owner: owner(entry, snapshot) });
        let invalid =
            ledger.node.reservations.iter().filter_map(|parsed| parsed.invalid()).map(What::Invalid);
        rows.extend(valid.chain(invalid).map(|what| Row { node, what }));
    }
    rows
}

/// The rows that are shown.
pub(crate) struct Rows<'w> {
    pub(crate) rows: Vec<Row<'w>>,
    /// Whether they are of all namespaces.
    pub(crate) all_namespaces: bool,
    pub(crate) now: Timestamp,
}

impl Shown for Rows<'_> {
    fn table(&self, is_wide: bool, has_headers: bool) -> String {
        let mut headers = vec!["NAME", "OWNER", "NODE", "CPU", "MEMORY", "STATE", "EXPIRES", "AGE"];
        if self.all_namespaces {
            headers.insert(0, "NAMESPACE");
        }
        if is_wide {
            headers.extend(["OTHER", "REPLACES", "TAKEN-BY", "PLACEMENT", "BY", "REASON"]);
        }
        let cells = |row: &Row<'_>| {
            let mut cells = row.cells(self.now);
            if self.all_namespaces {
                cells.insert(0, row.namespace().unwrap_or(UNKNOWN).to_owned());
            }
            if is_wide {
                cells.extend(row.wide_cells());
            }
            cells
        };
        let cells: Vec<Vec<String>> = self.rows.iter().map(cells).collect();
        lay_out(has_headers.then_some(&headers), &cells)
    }

    fn names(&self) -> Vec<String> {
        self.rows.iter().map(Row::id).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        json::list(&self.rows)
    }
}

const UNKNOWN: &str = "<unknown>";
const NONE: &str = "<none>";

impl Row<'_> {
    /// `NODE/NAME`, which names it in the whole cluster.
    pub(crate) fn id(&self) -> String {
        format!("{}/{}", self.node, self.name())
    }

    /// The namespace of the owner, if that is known.
    pub(crate) fn namespace(&self) -> Option<&str> {
        match &self.what {
            What::Reservation { owner, .. } => owner.as_ref().map(|owner| &*owner.namespace),
            What::Invalid(_) => None,
        }
    }

    /// Whether it is one made by hand for an owner that does not exist.
    pub(crate) fn is_for_nobody(&self) -> bool {
        matches!(&self.what, What::Reservation { entry, owner: None } if entry.reservation.is_manual())
    }

    /// What is wrong with it, if it is malformed.
    pub(crate) fn problem(&self) -> Option<&str> {
        match &self.what {
            What::Reservation { .. } => None,
            What::Invalid(invalid) => Some(&invalid.problem),
        }
    }

    /// The arguments by which `kubectl annotate` removes it.
    pub(crate) fn removal(&self) -> String {
        let What::Reservation { entry, .. } = &self.what else { return String::new() };
        let annotations = encode(&entry.reservation).unwrap_or_default();
        annotations.iter().map(|(key, _)| format!("{key}-")).collect::<Vec<_>>().join(" ")
    }

    /// The seat, or the owner's UID in the plain form.
    pub(crate) fn name(&self) -> String {
        match &self.what {
            What::Reservation { entry, .. } => match &entry.reservation.id.seat {
                Some(seat) => seat.as_str().to_owned(),
                None => entry.reservation.id.owner.to_string(),
            },
            What::Invalid(invalid) => invalid.key.to_string(),
        }
    }

    fn cells(&self, now: Timestamp) -> Vec<String> {
        let (entry, owner) = match &self.what {
            What::Reservation { entry, owner } => (entry, owner),
            What::Invalid(_) => {
                let name = self.name();
                return [&name, UNKNOWN, self.node, NONE, NONE, "Invalid", NONE, UNKNOWN]
                    .map(str::to_owned)
                    .into();
            }
        };
        let amount = |name: &str| {
            let resource = common::model::ResourceName::from(name);
            match entry.reservation.amount.get(&resource) {
                0 => "0".to_owned(),
                amount => resource.format(amount),
            }
        };
        vec![
            self.name(),
            owner.as_ref().map_or_else(|| UNKNOWN.into(), |owner| format!("{}/{}", owner.kind, owner.name)),
            self.node.to_owned(),
            amount("cpu"),
            amount("memory"),
            state(entry),
            entry.reservation.expires().map_or_else(|| NONE.into(), |expires| between(now, expires)),
            entry.reservation.created().map_or_else(|| UNKNOWN.into(), |created| between(created, now)),
        ]
    }

    fn wide_cells(&self) -> Vec<String> {
        let What::Reservation { entry, .. } = &self.what else { return vec![NONE.into(); 6] };
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
}

/// The owner: the recorded one, or whatever has the UID that somebody wrote by hand.
pub(super) fn owner(entry: &Entry, snapshot: &Snapshot<'_>) -> Option<Owner> {
    match &entry.reservation.origin {
        Origin::Recorded(record) => Some(record.owner.clone()),
        Origin::Manual | Origin::Newer { .. } => snapshot.owner(&entry.reservation.id.owner),
    }
}

/// The state in words.
fn state(entry: &Entry) -> String {
    match (&entry.reservation.origin, entry.state) {
        (Origin::Manual, State::Held) if entry.held != entry.reservation.amount => {
            "Held (manual, in part)".into()
        }
        (Origin::Manual, state) => format!("{} (manual)", state.as_str()),
        (Origin::Newer { version, .. }, state) => format!("{} (v{version})", state.as_str()),
        (Origin::Recorded(_), state) => state.as_str().into(),
    }
}

/// Everything but cpu, memory and the pod slot.
fn others(amount: &Resources) -> String {
    let shown = |resource: &str| !matches!(resource, "cpu" | "memory" | "pods");
    let others = amount.iter().filter(|(resource, _)| shown(resource.as_str()));
    others
        .map(|(resource, amount)| format!("{resource}={}", resource.format(amount)))
        .collect::<Vec<_>>()
        .join(",")
}

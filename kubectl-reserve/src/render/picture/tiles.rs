//! The nodes of a picture, and the reservations on each. Entry points: [`of_snapshot`], [`of_rows`].

use super::{NodeTile, TileReservation};
use crate::explain::{pool_of, zone_of};
use crate::render::list::{UNKNOWN, expires, state};
use crate::render::nodes::NodeRow;
use crate::reservations::{Row, owner_name, rows, words};
use common::cluster::{Ledger, Snapshot};
use common::model::Node;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// The selected nodes, with all of their reservations.
pub(crate) fn of_snapshot(
    snapshot: &Snapshot<'_>,
    now: Timestamp,
    is_meant: impl Fn(&Node) -> bool,
) -> Vec<NodeTile> {
    let rows = rows(snapshot);
    let mut by_node: BTreeMap<&str, Vec<&Row<'_>>> = BTreeMap::new();
    rows.iter().for_each(|row| by_node.entry(row.node()).or_default().push(row));
    let ledgers = snapshot.nodes().filter(|ledger| is_meant(&ledger.node));
    ledgers
        .map(|ledger| {
            tile(ledger, by_node.get(ledger.node.name.as_str()).map_or(&[][..], Vec::as_slice), now)
        })
        .collect()
}

/// The nodes of these reservations, each with those of them that it has.
pub(crate) fn of_rows(rows: &[Row<'_>], now: Timestamp) -> Vec<NodeTile> {
    let mut by_node: BTreeMap<&str, Vec<&Row<'_>>> = BTreeMap::new();
    rows.iter().for_each(|row| by_node.entry(row.node()).or_default().push(row));
    by_node.values().filter_map(|rows| Some(tile(rows.first()?.ledger, rows, now))).collect()
}

fn tile(ledger: &Ledger, rows: &[&Row<'_>], now: Timestamp) -> NodeTile {
    let NodeRow { name, status, room, .. } = NodeRow::of(ledger);
    let reservations = rows.iter().map(|row| reservation(row, now)).collect();
    NodeTile { name, status, pool: pool_of(ledger), zone: zone_of(ledger), room, reservations }
}

fn reservation(row: &Row<'_>, now: Timestamp) -> TileReservation {
    let owner = row.owner().map(|owner| format!("{} in {}", owner_name(owner), owner.namespace));
    TileReservation {
        name: row.name(),
        owner: owner.unwrap_or_else(|| UNKNOWN.to_owned()),
        amount: row.entry().map_or_else(String::new, |entry| words(&entry.reservation.amount)),
        state: state(row),
        expires: expires(row.expires(), now),
    }
}

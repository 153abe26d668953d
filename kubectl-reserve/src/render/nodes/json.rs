//! The document of `nodes`: a `NodeRoomList`.

use super::columns::port;
use super::{NodeRow, NodeRows};
use crate::capacity::Room;
use crate::render::json::{amounts, items, with};
use common::model::{HostPort, Resources};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) fn document(rows: &NodeRows) -> Value {
    with(items("NodeRoomList", rows.rows.iter().map(item)), json!({ "total": room(&rows.total().room) }))
}

fn item(row: &NodeRow) -> Value {
    let ports = |ports: &BTreeSet<HostPort>| ports.iter().map(port).collect::<Vec<_>>();
    let ports = json!({ "requestedPorts": ports(&row.ports.0), "reservedPorts": ports(&row.ports.1) });
    let item = json!({ "metadata": { "name": row.name }, "status": row.status });
    with(with(item, room(&row.room)), ports)
}

/// The four amounts. Each names every resource of the node, also those with amount 0, so that `--sort-by` finds them.
fn room(room: &Room) -> Value {
    let all = |some: &Resources| {
        let mut named = amounts(some);
        for (resource, _) in room.allocatable.iter() {
            named.entry(resource.to_string()).or_insert_with(|| resource.format(0));
        }
        named
    };
    json!({
        "allocatable": amounts(&room.allocatable),
        "requested": all(&room.requested),
        "reserved": all(&room.reserved),
        "free": all(&room.free()),
    })
}

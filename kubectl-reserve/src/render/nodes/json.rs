//! The document of `nodes`: a `NodeRoomList`.

use super::columns::port;
use super::{NodeRow, NodeRows};
use crate::capacity::Room;
use crate::error::Failure;
use crate::print::document as to_document;
use crate::render::json::{Items, amounts};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct NodeRoomList {
    #[serde(flatten)]
    list: Items<Item>,
    total: Amounts,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    metadata: Metadata,
    status: String,
    #[serde(flatten)]
    amounts: Amounts,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requested_ports: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reserved_ports: Vec<String>,
}

#[derive(Serialize)]
struct Metadata {
    name: String,
}

#[derive(Serialize)]
struct Amounts {
    allocatable: BTreeMap<String, String>,
    requested: BTreeMap<String, String>,
    reserved: BTreeMap<String, String>,
    free: BTreeMap<String, String>,
}

pub(super) fn document(rows: &NodeRows) -> Result<Value, Failure> {
    to_document(&NodeRoomList {
        list: Items::list("NodeRoomList", rows.rows.iter().map(item).collect()),
        total: of(&rows.total().room),
    })
}

fn item(row: &NodeRow) -> Item {
    Item {
        metadata: Metadata { name: row.name.clone() },
        status: row.status.clone(),
        amounts: of(&row.room),
        requested_ports: row.ports.0.iter().map(port).collect(),
        reserved_ports: row.ports.1.iter().map(port).collect(),
    }
}

/// The four amounts. Each names every resource of the node, also those with amount 0, so that `--sort-by` finds them.
fn of(room: &Room) -> Amounts {
    let all = |some: &common::model::Resources| {
        let mut named = amounts(some);
        for (resource, _) in room.allocatable.iter() {
            named.entry(resource.to_string()).or_insert_with(|| resource.format(0));
        }
        named
    };
    Amounts {
        allocatable: amounts(&room.allocatable),
        requested: all(&room.requested),
        reserved: all(&room.reserved),
        free: all(&room.free()),
    }
}

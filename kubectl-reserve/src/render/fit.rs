//! Would it fit: as a sentence and a table, and as a document.

use super::json::{API_VERSION, Generated, Named, amounts};
use super::plural;
use super::table::table;
use super::wrap::{WIDTH, wrap};
use crate::error::Failure;
use crate::fit::{FROM_FLAGS, Fitted};
use crate::print::{Shown, document};
use crate::reservations::words;
use common::model::ResourceName;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Everything that was asked for.
pub(crate) struct Report {
    pub(crate) fitted: Vec<Fitted>,
    pub(crate) now: Timestamp,
}

impl Shown for Report {
    fn table(&self, _is_wide: bool, has_headers: bool) -> String {
        self.fitted.iter().map(|one| part(one, has_headers)).collect::<Vec<_>>().join("\n")
    }

    fn names(&self) -> Vec<String> {
        let nodes = self.fitted.iter().flat_map(|one| one.nodes.keys());
        nodes.map(|node| format!("node/{node}")).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        document(&FitReport {
            api_version: API_VERSION,
            kind: "FitReport",
            metadata: Generated::at(self.now),
            items: self.fitted.iter().map(item).collect(),
        })
    }
}

fn part(one: &Fitted, has_headers: bool) -> String {
    let asks_room = one.asks.iter().any(|(resource, _)| resource != ResourceName::Pods);
    let each = if asks_room { format!(" ({} each)", words(&one.asks)) } else { String::new() };
    // Of flags alone there is nothing to name.
    let of = if one.from == FROM_FLAGS { String::new() } else { format!(" of {}", one.from) };
    let placed = one.placed;
    let verdict = match one.wanted {
        Some(wanted) if wanted != placed => format!("{placed} of {wanted} pods{of} fit now{each}."),
        _ => {
            let fit = if placed == 1 { "fits" } else { "fit" };
            format!("{}{of} {fit} now{each}.", plural(placed as usize, "pod"))
        }
    };
    let mut text = wrap("", &verdict, 0, WIDTH);
    if !one.nodes.is_empty() {
        let rows: Vec<Vec<String>> =
            one.nodes.iter().map(|(node, count)| vec![node.to_string(), count.to_string()]).collect();
        text += &table(has_headers.then_some(&["NODE", "PODS"]), &rows);
    }
    if let Some(because) = one.because.as_ref().filter(|_| !one.is_whole()) {
        text += &wrap("The next one: ", because, 2, WIDTH);
    }
    if !one.is_enforced {
        text += "Their scheduler does not enforce reservations.\n";
    }
    text
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FitReport {
    api_version: &'static str,
    kind: &'static str,
    metadata: Generated,
    items: Vec<Item>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    metadata: Named,
    asks: BTreeMap<String, String>,
    /// Left out if as many were asked for as there is room for.
    #[serde(skip_serializing_if = "Option::is_none")]
    replicas: Option<u32>,
    fit: u32,
    all: bool,
    nodes: Vec<Node>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    reservations_enforced: bool,
}

#[derive(Serialize)]
struct Node {
    name: String,
    pods: u32,
}

fn item(one: &Fitted) -> Item {
    let node = |(name, pods): (&common::model::NodeName, &u32)| Node { name: name.to_string(), pods: *pods };
    Item {
        metadata: Named { name: one.from.clone(), namespace: one.namespace.clone() },
        asks: amounts(&one.asks),
        replicas: one.wanted,
        fit: one.placed,
        all: one.is_whole(),
        nodes: one.nodes.iter().map(node).collect(),
        reason: one.because.clone(),
        reservations_enforced: one.is_enforced,
    }
}

//! The output of `fit`: a sentence with a table, and a document.

use super::json::{ItemMetadata, Items, amounts};
use super::plural;
use super::table::table;
use super::wrap::{WIDTH, wrap};
use crate::error::Failure;
use crate::fit::{FROM_FLAGS, FitResult};
use crate::print::{Printable, document};
use crate::reservations::words;
use common::model::ResourceName;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) struct FitReport {
    pub(crate) results: Vec<FitResult>,
    pub(crate) now: Timestamp,
}

impl Printable for FitReport {
    fn table(&self, _is_wide: bool, has_headers: bool) -> String {
        let parts: Vec<String> = self.results.iter().map(|one| part(one, has_headers)).collect();
        let count = |is_enforced| self.results.iter().filter(|one| one.is_enforced == is_enforced).count();
        let remark = match (count(Some(false)), count(None)) {
            (0, 0) => "",
            (0, _) => "It is unknown whether their scheduler enforces reservations.\n",
            (some, _) if some == self.results.len() => "Their scheduler does not enforce reservations.\n",
            _ => "The scheduler of some of them does not enforce reservations.\n",
        };
        parts.join("\n") + remark
    }

    fn names(&self) -> Vec<String> {
        let nodes = self.results.iter().flat_map(|one| one.nodes.keys());
        nodes.map(|node| format!("node/{node}")).collect()
    }

    fn document(&self) -> Result<Value, Failure> {
        document(&Items::report("FitReport", self.now, self.results.iter().map(item).collect()))
    }
}

/// How many of the pods fit.
pub(super) fn verdict(one: &FitResult) -> String {
    let asks_room = one.asks.iter().any(|(resource, _)| resource != ResourceName::Pods);
    let each = if asks_room { format!(" ({} each)", words(&one.asks)) } else { String::new() };
    // A pod that was made from flags has no name.
    let of = if one.from == FROM_FLAGS { String::new() } else { format!(" of {}", one.from) };
    let placed = one.placed;
    match one.requested {
        Some(requested) if requested != placed => format!("{placed} of {requested} pods{of} fit now{each}."),
        _ => {
            let fit = if placed == 1 { "fits" } else { "fit" };
            format!("{}{of} {fit} now{each}.", plural(placed as usize, "pod"))
        }
    }
}

fn part(one: &FitResult, has_headers: bool) -> String {
    let mut text = wrap("", &verdict(one), 0, WIDTH);
    if !one.nodes.is_empty() {
        let rows: Vec<Vec<String>> =
            one.nodes.iter().map(|(node, count)| vec![node.to_string(), count.to_string()]).collect();
        text += &table(has_headers.then_some(&["NODE", "PODS"]), &rows);
    }
    if let Some(because) = one.because.as_ref().filter(|_| !one.is_complete()) {
        text += &wrap(if one.placed == 0 { "" } else { "The next one: " }, because, 2, WIDTH);
    }
    text
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    metadata: ItemMetadata,
    asks: BTreeMap<String, String>,
    /// Left out if `fit` was asked for as many pods as there is room for.
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

fn item(one: &FitResult) -> Item {
    let node = |(name, pods): (&common::model::NodeName, &u32)| Node { name: name.to_string(), pods: *pods };
    Item {
        metadata: ItemMetadata { name: one.from.clone(), namespace: one.namespace.clone() },
        asks: amounts(&one.asks),
        replicas: one.requested,
        fit: one.placed,
        all: one.is_complete(),
        nodes: one.nodes.iter().map(node).collect(),
        reason: one.because.clone(),
        reservations_enforced: one.is_enforced.unwrap_or(false),
    }
}

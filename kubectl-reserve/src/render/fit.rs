//! Would it fit: as a sentence and a table, and as a document.

use super::json::API_VERSION;
use super::table::table;
use super::wrap::wrap;
use crate::error::Failure;
use crate::fit::Fitted;
use crate::print::{Shown, document};
use common::model::{ResourceName, Resources};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

const WIDTH: usize = 80;

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
            metadata: Metadata { generated_at: self.now.to_string() },
            items: self.fitted.iter().map(item).collect(),
        })
    }
}

fn part(one: &Fitted, has_headers: bool) -> String {
    let pods = |count: u32| if count == 1 { "1 pod".to_owned() } else { format!("{count} pods") };
    let asks = asks(&one.asks);
    let each = if asks.is_empty() { String::new() } else { format!(" ({asks} each)") };
    let placed = one.placed;
    let verdict = match one.wanted {
        None => format!("{} of {} fit now{each}.", pods(placed), one.from),
        Some(wanted) if wanted == placed => format!("{} of {} fit now{each}.", pods(placed), one.from),
        Some(wanted) => format!("{placed} of {wanted} pods of {} fit now{each}.", one.from),
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
    if !one.is_obeyed {
        text += "Their scheduler does not obey reservations.\n";
    }
    text
}

fn asks(asks: &Resources) -> String {
    let shown = asks.iter().filter(|(resource, _)| *resource != ResourceName::Pods);
    shown
        .map(|(resource, amount)| format!("{resource} {}", resource.format(amount)))
        .collect::<Vec<_>>()
        .join(", ")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FitReport {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata,
    items: Vec<Item>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    generated_at: String,
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
    reservations_obeyed: bool,
}

#[derive(Serialize)]
struct Named {
    name: String,
    namespace: String,
}

#[derive(Serialize)]
struct Node {
    name: String,
    pods: u32,
}

fn item(one: &Fitted) -> Item {
    let amount = |(resource, amount): (ResourceName, i64)| (resource.to_string(), resource.format(amount));
    let node = |(name, pods): (&common::model::NodeName, &u32)| Node { name: name.to_string(), pods: *pods };
    Item {
        metadata: Named { name: one.from.clone(), namespace: one.namespace.clone() },
        asks: one.asks.iter().map(amount).collect(),
        replicas: one.wanted,
        fit: one.placed,
        all: one.is_whole(),
        nodes: one.nodes.iter().map(node).collect(),
        reason: one.because.clone(),
        reservations_obeyed: one.is_obeyed,
    }
}

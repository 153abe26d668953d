//! The document of `list`, and what documents have in common: `kubectl-reserve/v1alpha1`. Within a version fields are only added.

use crate::error::Failure;
use crate::print::document;
use crate::reservations::{Row, RowContent};
use common::model::Resources;
use common::model::reservation::{HostPort, Origin};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) const API_VERSION: &str = "kubectl-reserve/v1alpha1";

/// A document with items: a list, or a report, whose metadata says when it was made.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Items<T> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<ReportMetadata>,
    items: Vec<T>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportMetadata {
    generated_at: String,
}

/// The metadata of an item of a report.
#[derive(Serialize)]
pub(super) struct ItemMetadata {
    pub(super) name: String,
    pub(super) namespace: String,
}

impl<T> Items<T> {
    pub(super) fn list(kind: &'static str, items: Vec<T>) -> Self {
        Self { api_version: API_VERSION, kind, metadata: None, items }
    }

    pub(super) fn report(kind: &'static str, now: Timestamp, items: Vec<T>) -> Self {
        let metadata = ReportMetadata { generated_at: now.to_string() };
        Self { metadata: Some(metadata), ..Self::list(kind, items) }
    }
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Item {
    metadata: Metadata,
    name: String,
    node: String,
    state: String,
    manual: bool,
    orphaned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<Owner>,
    amount: BTreeMap<String, String>,
    held: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ports: Vec<Port>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<PodIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_by: Option<PodIdentity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<Record>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// The metadata of an item of a list, as in kubectl's own lists.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    creation_timestamp: Option<String>,
}

#[derive(Serialize)]
struct Owner {
    kind: String,
    namespace: String,
    name: String,
    uid: String,
}

#[derive(Serialize)]
struct PodIdentity {
    name: String,
    uid: String,
}

#[derive(Serialize)]
struct Port {
    port: u16,
    protocol: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    ip: String,
}

#[derive(Serialize)]
struct Record {
    priority: i32,
    created: String,
    placement: &'static str,
    request: String,
    by: String,
    reason: String,
}

/// The document of a list of reservations.
pub(crate) fn list(rows: &[Row<'_>]) -> Result<Value, Failure> {
    document(&Items::list("ReservationList", rows.iter().map(item).collect()))
}

fn item(row: &Row<'_>) -> Item {
    let metadata = metadata(row);
    let (entry, owner) = match &row.content {
        RowContent::Reservation { entry, owner, .. } => (entry, owner),
        RowContent::Invalid(invalid) => {
            return Item {
                metadata,
                name: invalid.key.to_string(),
                node: row.node().into(),
                state: "Invalid".into(),
                problem: Some(invalid.problem.to_string()),
                ..Item::default()
            };
        }
    };
    let reservation = &entry.reservation;
    Item {
        metadata,
        name: row.name(),
        node: row.node().into(),
        state: entry.state.as_str().into(),
        manual: reservation.is_manual(),
        orphaned: row.is_orphaned(),
        owner: owner.as_ref().map(|owner| Owner {
            kind: owner.kind.to_string(),
            namespace: owner.namespace.to_string(),
            name: owner.name.to_string(),
            uid: owner.uid.to_string(),
        }),
        amount: amounts(&reservation.amount),
        held: amounts(&entry.held),
        ports: reservation.ports.iter().map(port).collect(),
        replaces: reservation
            .replaces()
            .map(|pod| PodIdentity { name: pod.name.to_string(), uid: pod.uid.to_string() }),
        taken_by: entry
            .taken_by
            .as_ref()
            .map(|pod| PodIdentity { name: pod.key.name.to_string(), uid: pod.uid.to_string() }),
        record: record(&reservation.origin),
        expires: reservation.expires().map(|expires| expires.to_string()),
        problem: None,
    }
}

fn metadata(row: &Row<'_>) -> Metadata {
    let created = row.entry().and_then(|entry| entry.reservation.created());
    Metadata {
        name: row.name(),
        namespace: row.namespace().map(str::to_owned),
        creation_timestamp: created.map(|created| created.to_string()),
    }
}

fn port(port: &HostPort) -> Port {
    Port { port: port.port, protocol: port.protocol.to_string(), ip: port.ip.to_string() }
}

fn record(origin: &Origin) -> Option<Record> {
    let Origin::Recorded(record) = origin else { return None };
    Some(Record {
        priority: record.priority,
        created: record.created.to_string(),
        placement: record.placement.as_str(),
        request: record.request.to_string(),
        by: record.by.to_string(),
        reason: record.reason.to_string(),
    })
}

pub(super) fn amounts(amounts: &Resources) -> BTreeMap<String, String> {
    amounts.iter().map(|(resource, amount)| (resource.to_string(), resource.format(amount))).collect()
}

//! The document of `list`, and what documents have in common: `kubectl-reserve/v1alpha1`. Within a version fields are only added.

use crate::reservations::{Row, RowContent};
use common::model::reservation::HostPort;
use common::model::{Origin, Resources, Uid};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
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

/// A list, as kubectl's own lists.
pub(super) fn items(kind: &str, items: impl Iterator<Item = Value>) -> Value {
    json!({ "apiVersion": API_VERSION, "kind": kind, "items": items.collect::<Vec<_>>() })
}

/// The object with those of the `optional` fields that have a value: not null, an empty text or an empty list.
pub(super) fn with(mut object: Value, optional: Value) -> Value {
    let is_empty = |value: &Value| value.is_null() || *value == "" || *value == json!([]);
    if let (Value::Object(fields), Value::Object(optional)) = (&mut object, optional) {
        fields.extend(optional.into_iter().filter(|(_, value)| !is_empty(value)));
    }
    object
}

/// The document of a list of reservations.
pub(super) fn list(rows: &[Row<'_>]) -> Value {
    items("ReservationList", rows.iter().map(item))
}

fn item(row: &Row<'_>) -> Value {
    let text = |time: Timestamp| time.to_string();
    let created = row.entry().and_then(|entry| entry.reservation.created()).map(text);
    let optional = json!({ "namespace": row.namespace(), "creationTimestamp": created });
    let metadata = with(json!({ "name": row.name() }), optional);
    let (entry, owner) = match &row.content {
        RowContent::Reservation { entry, owner, .. } => (entry, owner),
        RowContent::Invalid(invalid) => {
            return json!({
                "metadata": metadata, "name": invalid.key.to_string(), "node": row.node(), "state": "Invalid", "manual": false,
                "orphaned": false, "amount": {}, "held": {}, "problem": invalid.problem.to_string(),
            });
        }
    };
    let reservation = &entry.reservation;
    let item = json!({
        "metadata": metadata,
        "name": row.name(),
        "node": row.node(),
        "state": entry.state.as_str(),
        "manual": reservation.is_manual(),
        "orphaned": row.is_orphaned(),
        "amount": amounts(&reservation.amount),
        "held": amounts(&entry.held),
    });
    let owner = owner.as_ref().map(|owner| {
        json!({ "kind": *owner.kind, "namespace": *owner.namespace, "name": *owner.name, "uid": owner.uid.to_string() })
    });
    let pod = |name: &str, uid: &Uid| json!({ "name": name, "uid": uid.to_string() });
    let optional = json!({
        "owner": owner,
        "ports": reservation.ports.iter().map(port).collect::<Vec<_>>(),
        "replaces": reservation.replaces().map(|replaced| pod(&replaced.name, &replaced.uid)),
        "takenBy": entry.taken_by.as_ref().map(|taker| pod(&taker.key.name, &taker.uid)),
        "record": record(&reservation.origin),
        "expires": reservation.expires().map(text),
    });
    with(item, optional)
}

fn port(port: &HostPort) -> Value {
    with(json!({ "port": port.port, "protocol": *port.protocol }), json!({ "ip": *port.ip }))
}

fn record(origin: &Origin) -> Option<Value> {
    let Origin::Recorded(record) = origin else { return None };
    Some(json!({
        "priority": record.priority,
        "created": record.created.to_string(),
        "placement": record.placement.as_str(),
        "request": record.request.to_string(),
        "by": record.by.to_string(),
        "reason": record.reason.to_string(),
    }))
}

pub(super) fn amounts(amounts: &Resources) -> BTreeMap<String, String> {
    amounts.iter().map(|(resource, amount)| (resource.to_string(), resource.format(amount))).collect()
}

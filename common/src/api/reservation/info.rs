//! Decodes and encodes the `reserve.info` record: JSON of at most 4 KiB. Entry points: [`read()`] and [`write()`].

use super::unknown::{merge, unknown};
use super::{EncodeError, INFO_LEN_MAX, KEY_SHOWN_MAX};
use crate::model::excerpt::excerpt;
use crate::model::quantity::parse_amount;
use crate::model::reservation::HostPort;
use crate::model::resources::is_scalar_name;
use crate::model::{
    Origin, Owner, Placement, Record, ReplacedPod, ReservationId, ResourceName, Resources, Seat, Text, Uid,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

const VERSION: u64 = 1;

/// The result of [`read()`], without the amounts.
pub(super) struct DecodedRecord {
    pub(super) origin: Origin,
    pub(super) ports: Box<[HostPort]>,
}

/// The version alone, which is read first: it decides how the rest is read.
#[derive(Deserialize)]
struct VersionWire {
    v: u64,
}

/// The only field that is read of a record of a newer version.
#[derive(Deserialize)]
struct NewerWire {
    expires: String,
}

#[derive(Deserialize, Serialize)]
struct InfoWire {
    v: u64,
    owner: OwnerWire,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaces: Option<ReplacesWire>,
    #[serde(default)]
    priority: i32,
    created: String,
    expires: String,
    /// In seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    life: Option<u64>,
    request: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    by: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reason: String,
    placement: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    resources: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ports: Vec<PortWire>,
}

#[derive(Deserialize, Serialize)]
struct OwnerWire {
    kind: String,
    namespace: String,
    name: String,
    uid: String,
}

#[derive(Deserialize, Serialize)]
struct ReplacesWire {
    name: String,
    uid: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    seat: String,
}

#[derive(Deserialize, Serialize)]
struct PortWire {
    port: u16,
    protocol: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    ip: String,
}

/// Decodes the record of `id`, and sets its amounts in `amount`.
pub(super) fn read(id: &ReservationId, json: &str, amount: &mut Resources) -> Result<DecodedRecord, String> {
    if json.len() > INFO_LEN_MAX {
        return Err(format!("has {} bytes, and at most {INFO_LEN_MAX} are read", json.len()));
    }
    let VersionWire { v } = serde_json::from_str(json).map_err(|error| not_json(&error))?;
    if v == 0 {
        return Err("v: version 0 does not exist".into());
    }
    if v > VERSION {
        let expires =
            serde_json::from_str::<NewerWire>(json).ok().and_then(|newer| newer.expires.parse().ok());
        return Ok(DecodedRecord { origin: Origin::Newer { version: v, expires }, ports: Box::default() });
    }
    let wire: InfoWire = serde_json::from_str(json).map_err(|error| not_json(&error))?;
    for (name, text) in &wire.resources {
        amount.set(keyless(name)?, keyless_amount(name, text)?);
    }
    let ports = wire.ports.iter().map(port).collect::<Result<_, _>>()?;
    let record = Record { unknown: unknown(json), ..record(id, wire)? };
    Ok(DecodedRecord { origin: Origin::Recorded(Box::new(record)), ports })
}

/// Encodes a record, together with the amounts of resources that have no key of their own.
pub(super) fn write(
    record: &Record,
    keyless: &[(ResourceName, i64)],
    ports: &[HostPort],
) -> Result<String, EncodeError> {
    let wire = InfoWire {
        v: VERSION,
        owner: OwnerWire {
            kind: record.owner.kind.to_string(),
            namespace: record.owner.namespace.to_string(),
            name: record.owner.name.to_string(),
            uid: record.owner.uid.to_string(),
        },
        replaces: record.replaces.as_ref().map(|pod| ReplacesWire {
            name: pod.name.to_string(),
            uid: pod.uid.to_string(),
            seat: pod.seat.as_ref().map(|seat| seat.as_str().to_owned()).unwrap_or_default(),
        }),
        priority: record.priority,
        created: record.created.to_string(),
        expires: record.expires.to_string(),
        life: record.life.map(|life| life.as_secs()),
        request: record.request.to_string(),
        by: record.by.to_string(),
        reason: record.reason.to_string(),
        placement: record.placement.as_str().into(),
        resources: keyless.iter().map(|(name, amount)| (name.to_string(), name.format(*amount))).collect(),
        ports: ports
            .iter()
            .map(|port| PortWire {
                port: port.port,
                protocol: port.protocol.to_string(),
                ip: port.ip.to_string(),
            })
            .collect(),
    };
    // Strings and numbers with string keys can always be written as JSON.
    let json = match &record.unknown {
        None => serde_json::to_string(&wire).unwrap_or_default(),
        Some(unknown) => merge(serde_json::to_value(&wire).unwrap_or_default(), unknown).to_string(),
    };
    if json.len() > INFO_LEN_MAX { Err(EncodeError::TooLong(json.len())) } else { Ok(json) }
}

fn record(id: &ReservationId, wire: InfoWire) -> Result<Record, String> {
    let uid = Uid::from(&wire.owner.uid);
    if uid != id.owner {
        return Err(format!("owner.uid is {}, but the key names another owner", quoted(&wire.owner.uid)));
    }
    for (field, text) in names(&wire) {
        if !is_name(text) {
            return Err(format!("{field}: {} is not a name", quoted(text)));
        }
    }
    let placement = Placement::from_name(&wire.placement)
        .ok_or_else(|| format!("placement: {} is none of wait, prefer, require", quoted(&wire.placement)))?;
    Ok(Record {
        owner: Owner {
            kind: wire.owner.kind.into(),
            namespace: wire.owner.namespace.into(),
            name: wire.owner.name.into(),
            uid,
        },
        replaces: wire.replaces.map(replaced).transpose()?,
        priority: wire.priority,
        created: time("created", &wire.created)?,
        expires: time("expires", &wire.expires)?,
        life: wire.life.map(Duration::from_secs),
        request: wire.request.into(),
        by: wire.by.into(),
        reason: wire.reason.into(),
        placement,
        unknown: None,
    })
}

fn replaced(wire: ReplacesWire) -> Result<ReplacedPod, String> {
    let seat = Some(&wire.seat).filter(|text| !text.is_empty());
    let seat = seat.map(|text| {
        Seat::parse(text).ok_or_else(|| format!("replaces.seat: {} is not a seat", quoted(text)))
    });
    Ok(ReplacedPod { name: wire.name.into(), uid: wire.uid.into(), seat: seat.transpose()? })
}

/// The fields of a record that name objects. They are checked, because they are shown in tables and used in commands.
fn names(wire: &InfoWire) -> impl Iterator<Item = (&'static str, &str)> {
    let owner = &wire.owner;
    let replaces = wire.replaces.as_ref().map(|pod| ("replaces.name", pod.name.as_str()));
    let owner =
        [("owner.kind", &owner.kind), ("owner.namespace", &owner.namespace), ("owner.name", &owner.name)];
    owner.map(|(field, text)| (field, text.as_str())).into_iter().chain(replaces)
}

fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':');
    (1..=253).contains(&text.len()) && text.bytes().all(allowed)
}

/// The resource called `name`, if a record may have it: only resources without a key of their own.
fn keyless(name: &str) -> Result<ResourceName, String> {
    match ResourceName::from(name) {
        ResourceName::Scalar(scalar) if is_scalar_name(name) => Ok(ResourceName::Scalar(scalar)),
        ResourceName::Scalar(_) => {
            Err(format!("resources: {} is not a resource that nodes have", quoted(name)))
        }
        _ => Err(format!("resources: {name} does not belong here, it has a key of its own or is understood")),
    }
}

fn keyless_amount(name: &str, text: &str) -> Result<i64, String> {
    parse_amount(&ResourceName::from(name), text)
        .map_err(|error| format!("resources: {}: {error}", quoted(name)))
}

fn port(wire: &PortWire) -> Result<HostPort, String> {
    if wire.port == 0 {
        return Err("ports: 0 is not a port".into());
    }
    if !matches!(&*wire.protocol, "TCP" | "UDP" | "SCTP") {
        return Err(format!("ports: {} is none of TCP, UDP, SCTP", quoted(&wire.protocol)));
    }
    Ok(HostPort { protocol: Text::from(&*wire.protocol), ip: Text::from(&*wire.ip), port: wire.port })
}

fn time(field: &str, text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| format!("{field}: {} is not a time like 2026-01-31T12:00:00Z", quoted(text)))
}

fn not_json(error: &serde_json::Error) -> String {
    format!("not a record: {}", excerpt(&error.to_string(), KEY_SHOWN_MAX))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", excerpt(text, KEY_SHOWN_MAX))
}

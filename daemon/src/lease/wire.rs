//! Converts the leader's Lease and the events about it to and from API types.

use super::election::Record;
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::core::ObjectMeta;

/// The election record in the Lease. Missing fields get their default.
pub(super) fn record(lease: &Lease) -> Record {
    let Some(spec) = &lease.spec else { return Record::default() };
    Record {
        holder: spec.holder_identity.clone().unwrap_or_default(),
        seconds: spec.lease_duration_seconds.unwrap_or(0),
        acquired: spec.acquire_time.as_ref().map(|time| time.0),
        renewed: spec.renew_time.as_ref().map(|time| time.0),
        transitions: spec.lease_transitions.unwrap_or(0),
    }
}

/// The resource version of the Lease, which the next write must name.
pub(super) fn version(lease: &Lease) -> String {
    lease.metadata.resource_version.clone().unwrap_or_default()
}

/// The Lease `last` with `record`, to be written over the version `over`; `None`: to be created.
pub(super) fn lease(
    last: &Lease,
    namespace: &str,
    name: &str,
    record: &Record,
    over: Option<String>,
) -> Lease {
    let known = last.clone();
    let metadata = match over {
        Some(_) => ObjectMeta { resource_version: over, ..known.metadata },
        None => ObjectMeta::default(),
    };
    Lease {
        metadata: ObjectMeta { name: Some(name.into()), namespace: Some(namespace.into()), ..metadata },
        spec: Some(LeaseSpec {
            holder_identity: Some(record.holder.clone()),
            lease_duration_seconds: Some(record.seconds),
            acquire_time: record.acquired.map(MicroTime),
            renew_time: record.renewed.map(MicroTime),
            lease_transitions: Some(record.transitions),
            ..known.spec.unwrap_or_default()
        }),
    }
}

/// An event about the Lease, with the fields that kube-scheduler writes.
pub(super) fn event(
    lease: &Lease,
    namespace: &str,
    name: &str,
    identity: &str,
    what: &str,
    at: Timestamp,
) -> Event {
    Event {
        metadata: ObjectMeta {
            name: Some(format!("{name:.230}.{:x}", at.as_nanosecond())),
            namespace: Some(namespace.into()),
            ..ObjectMeta::default()
        },
        action: Some("LeaderElection".into()),
        event_time: Some(MicroTime(at)),
        note: Some(format!("{identity} {what}")),
        reason: Some("LeaderElection".into()),
        regarding: Some(ObjectReference {
            api_version: Some("coordination.k8s.io/v1".into()),
            kind: Some("Lease".into()),
            name: Some(name.into()),
            namespace: Some(namespace.into()),
            uid: lease.metadata.uid.clone(),
            ..ObjectReference::default()
        }),
        reporting_controller: Some("reserve-daemon".into()),
        reporting_instance: Some(identity.into()),
        type_: Some("Normal".into()),
        ..Event::default()
    }
}

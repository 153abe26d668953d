//! Writes a reservation into a node's annotations: makes, extends, shortens or removes it, in one JSON patch.
//!
//! Each try reads the node first, and the patch then tests that nothing relevant has changed since:
//! - the node has the same UID;
//! - the keys of the reservation have the same values. A JSON patch cannot test that a key is missing, so a patch with new keys
//!   tests the node's resource version.
//!
//! So of two writers one succeeds, and the other reads what the first one wrote. Other keys are not touched. After a try without
//! an answer the node is read again, and the reservation is found by its request.

use super::{Effects, Outcome, call};
use crate::state::{AnnotationOutcome, AnnotationWrite, EXPIRED, ReservationChange, WriteRefusal};
use common::api::reservation::encode;
use common::api::reservation::patch::{ObservedNode, keys_of, patch, reservation_of};
use common::model::reservation::{Origin, Reservation};
use jiff::Timestamp;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use k8s_openapi::api::core::v1::Node;
use kube::Api;
use kube::api::PostParams;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Tries of one write. A client that writes to the node all the time must not block us for ever.
const TRIES_MAX: u32 = 8;

/// The pause after the first try; the pause after try n is n times as long.
const PAUSE: Duration = Duration::from_millis(60);

/// What a change needs, given the node's annotations.
#[derive(Debug, PartialEq)]
pub enum Plan {
    /// Nothing: the annotations are as wanted.
    Done,
    /// The change is impossible, for this reason.
    Never(String),
    Patch(Value),
}

pub(super) async fn annotate(
    effects: &Effects,
    annotation: &AnnotationWrite,
    now: Timestamp,
) -> AnnotationOutcome {
    let nodes: Api<Node> = Api::all(effects.reservations.clone());
    let mut why = String::new();
    for attempt in 1..=TRIES_MAX {
        match try_once(effects, &nodes, annotation, now).await {
            Ok(done) => return done,
            Err(failure) => why = failure,
        }
        tokio::time::sleep(PAUSE * attempt + jitter(&effects.instance, annotation, attempt)).await;
    }
    tracing::warn!(node = %annotation.node, reservation = %annotation.id(), "write a reservation: {why}");
    AnnotationOutcome::Unknown { why }
}

/// Reads the node and writes once; an error: try again.
async fn try_once(
    effects: &Effects,
    nodes: &Api<Node>,
    annotation: &AnnotationWrite,
    now: Timestamp,
) -> Result<AnnotationOutcome, String> {
    let node = match call(nodes.get(annotation.node.as_str())).await {
        Outcome::Done(node) => node,
        Outcome::Refused(status) => return Ok(refused(effects, annotation, &status).await),
        Outcome::Unknown(why) => return Err(why),
    };
    let none = BTreeMap::new();
    let seen = ObservedNode {
        uid: node.metadata.uid.as_deref().unwrap_or(""),
        version: node.metadata.resource_version.as_deref().unwrap_or(""),
        annotations: node.metadata.annotations.as_ref().unwrap_or(&none),
    };
    let patch = match plan(&seen, annotation, now) {
        Plan::Done => return Ok(done(seen.version)),
        Plan::Never(why) => return Ok(AnnotationOutcome::Refused { why, refusal: WriteRefusal::Final }),
        Plan::Patch(patch) => patch,
    };
    match call(send(effects, annotation, &patch)).await {
        Outcome::Done(node) => {
            log_change(annotation);
            Ok(done(node.metadata.resource_version.as_deref().unwrap_or("")))
        }
        // A test of the patch failed: the node has changed since it was read.
        Outcome::Refused(status) if status.code == 409 || status.code == 422 && !is_by_policy(&status) => {
            Err(status.message)
        }
        Outcome::Refused(status) => Ok(refused(effects, annotation, &status).await),
        Outcome::Unknown(why) => Err(why),
    }
}

async fn send(effects: &Effects, annotation: &AnnotationWrite, patch: &Value) -> kube::Result<Node> {
    let request = http::Request::patch(format!("/api/v1/nodes/{}", annotation.node))
        .header(http::header::CONTENT_TYPE, "application/json-patch+json")
        .body(patch.to_string().into_bytes())
        .map_err(kube::Error::HttpError)?;
    effects.reservations.request(request).await
}

fn done(version: &str) -> AnnotationOutcome {
    AnnotationOutcome::Done { version: version.parse().unwrap_or(0) }
}

/// Classifies a refusal. A 403 comes either from RBAC, and then concerns every node, or from an admission policy, and then
/// concerns this write. Only the API server knows which.
async fn refused(
    effects: &Effects,
    annotation: &AnnotationWrite,
    status: &kube::core::Status,
) -> AnnotationOutcome {
    let refusal = match status.code {
        404 => WriteRefusal::Final,
        403 if !is_allowed(effects).await => WriteRefusal::NotAllowed,
        403 => WriteRefusal::Denied,
        _ => WriteRefusal::Later,
    };
    let why = status.message.clone();
    if refusal != WriteRefusal::NotAllowed {
        tracing::warn!(node = %annotation.node, reservation = %annotation.id(), "write a reservation: {why}");
    } else if effects.is_first_refusal() {
        tracing::warn!("reservations are honoured, but none can be made, extended or released: {why}");
    }
    AnnotationOutcome::Refused { why, refusal }
}

/// Whether RBAC allows the daemon to write reservations; true if the API server does not answer.
async fn is_allowed(effects: &Effects) -> bool {
    let reviews: Api<SelfSubjectAccessReview> = Api::all(effects.reservations.clone());
    for (verb, subresource) in [("patch", None), ("update", Some("reservations"))] {
        let attributes = ResourceAttributes {
            verb: Some(verb.into()),
            resource: Some("nodes".into()),
            subresource: subresource.map(str::to_owned),
            ..ResourceAttributes::default()
        };
        let spec =
            SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), ..Default::default() };
        let review = SelfSubjectAccessReview { spec, ..Default::default() };
        if let Outcome::Done(review) = call(reviews.create(&PostParams::default(), &review)).await
            && review.status.is_some_and(|status| !status.allowed)
        {
            return false;
        }
    }
    true
}

/// Whether an admission policy refused the write; else a test of the patch failed.
fn is_by_policy(status: &kube::core::Status) -> bool {
    status.message.contains("denied request")
}

fn log_change(annotation: &AnnotationWrite) {
    let (node, reservation) = (&annotation.node, annotation.id());
    match &annotation.change {
        ReservationChange::Reserve(_) => tracing::info!(%node, %reservation, "reserved"),
        ReservationChange::Extend { expires, .. } => {
            tracing::info!(%node, %reservation, %expires, "extended")
        }
        ReservationChange::Shorten { expires, .. } => {
            tracing::info!(%node, %reservation, %expires, "shortened")
        }
        ReservationChange::Release { why, .. } => tracing::info!(%node, %reservation, why, "released"),
    }
}

/// Decides what to write, given the node as it was read.
pub fn plan(seen: &ObservedNode<'_>, annotation: &AnnotationWrite, now: Timestamp) -> Plan {
    if seen.uid != annotation.uid.to_string() {
        return Plan::Never("the node is another one by now".into());
    }
    let id = annotation.id();
    let keys = keys_of(seen.annotations, id);
    let found = reservation_of(&keys);
    match &annotation.change {
        ReservationChange::Reserve(wanted) => reserve(seen, wanted, &keys, found.as_ref(), now),
        ReservationChange::Release { judged, why } => match found {
            None if keys.is_empty() => Plan::Done,
            Some(found) if found != **judged => Plan::Never("the reservation was changed since".into()),
            Some(found) if *why == EXPIRED && found.is_live(now) => {
                Plan::Never("the reservation has not expired".into())
            }
            Some(_) => Plan::Patch(patch(seen, &keys, &[], false)),
            None => Plan::Never("the reservation is another one by now".into()),
        },
        ReservationChange::Shorten { judged, expires } => match found {
            Some(found) if found == **judged => with_expiry(seen, &keys, found, *expires),
            _ => Plan::Never("the reservation was changed since, or is gone".into()),
        },
        ReservationChange::Extend { request, expires, .. } => match found {
            Some(found) if is_same_request(&found, request) => extend(seen, &keys, found, *expires),
            _ => Plan::Never("the reservation is another one by now, or gone".into()),
        },
    }
}

fn reserve(
    seen: &ObservedNode<'_>,
    wanted: &Reservation,
    keys: &[(&str, &str)],
    found: Option<&Reservation>,
    now: Timestamp,
) -> Plan {
    match found {
        // It does not matter who made it: the room is reserved.
        Some(found) if found.is_live(now) => return Plan::Done,
        Some(Reservation { origin: Origin::Newer { .. }, .. }) => {
            return Plan::Never("what is there is of a newer version".into());
        }
        _ => {}
    }
    match encode(wanted) {
        Ok(new) => Plan::Patch(patch(seen, keys, &new, true)),
        Err(error) => Plan::Never(error.to_string()),
    }
}

fn extend(seen: &ObservedNode<'_>, keys: &[(&str, &str)], found: Reservation, expires: Timestamp) -> Plan {
    if found.expires().is_some_and(|before| before >= expires) {
        return Plan::Done;
    }
    with_expiry(seen, keys, found, expires)
}

fn with_expiry(
    seen: &ObservedNode<'_>,
    keys: &[(&str, &str)],
    mut found: Reservation,
    expires: Timestamp,
) -> Plan {
    if let Origin::Recorded(record) = &mut found.origin {
        record.expires = expires;
    }
    match encode(&found) {
        Ok(new) => Plan::Patch(patch(seen, keys, &new, false)),
        Err(error) => Plan::Never(error.to_string()),
    }
}

fn is_same_request(found: &Reservation, request: &str) -> bool {
    found.record().is_some_and(|record| &*record.request == request)
}

/// A small extra pause that differs between replicas, so that two replicas do not conflict again and again.
fn jitter(instance: &str, annotation: &AnnotationWrite, attempt: u32) -> Duration {
    let text = format!("{instance}{}{attempt}", annotation.node);
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    Duration::from_millis(u64::from(text.bytes().fold(0x811c_9dc5, step) % 50))
}

#[cfg(test)]
pub(super) mod tests;

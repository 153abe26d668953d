//! A node's annotations: one reservation made, extended or removed, in one patch.
//!
//! Each try looks at the node first, and then writes on the condition that what it saw is still so:
//! - the node is that very node (its UID);
//! - the keys of the reservation have the values that were seen. That a key is not there cannot be said in a JSON patch, so
//!   that what is new is written on the condition that the node has not changed at all since.
//!
//! So of two writers one succeeds, and the other finds what the first one did. No other key is touched. A try without an answer is
//! followed by another look, which finds the reservation by its request.

use super::{Effects, Outcome, call};
use crate::state::{Annotated, Annotation, EXPIRED, Refusal, Rewrite};
use common::api::reservation::encode;
use common::api::reservation::patch::{Seen, keys_of, patch, reservation_of};
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

/// Tries of one write. Somebody who writes to a node all the time must not hold us up for ever.
const TRIES_MAX: u32 = 8;

/// The pause after the first try; each later one is longer by as much.
const PAUSE: Duration = Duration::from_millis(60);

/// What a look at a node says about a change.
#[derive(Debug, PartialEq)]
pub enum Plan {
    /// It is so already.
    Done,
    /// It cannot be.
    Never(String),
    /// This patch does it.
    Patch(Value),
}

/// Changes the annotations of a node.
pub(super) async fn annotate(effects: &Effects, annotation: &Annotation, now: Timestamp) -> Annotated {
    let nodes: Api<Node> = Api::all(effects.reservations.clone());
    let mut why = String::new();
    for attempt in 1..=TRIES_MAX {
        match once(effects, &nodes, annotation, now).await {
            Ok(done) => return done,
            Err(failure) => why = failure,
        }
        tokio::time::sleep(PAUSE * attempt + jitter(&effects.instance, annotation, attempt)).await;
    }
    tracing::warn!(node = %annotation.node, reservation = %annotation.id(), "write a reservation: {why}");
    Annotated::Unknown { why }
}

/// One look and one write; an error if it has to be tried again.
async fn once(
    effects: &Effects,
    nodes: &Api<Node>,
    annotation: &Annotation,
    now: Timestamp,
) -> Result<Annotated, String> {
    let node = match call(nodes.get(annotation.node.as_str())).await {
        Outcome::Done(node) => node,
        Outcome::Refused(status) => return Ok(refused(effects, annotation, &status).await),
        Outcome::Unknown(why) => return Err(why),
    };
    let none = BTreeMap::new();
    let seen = Seen {
        uid: node.metadata.uid.as_deref().unwrap_or(""),
        version: node.metadata.resource_version.as_deref().unwrap_or(""),
        annotations: node.metadata.annotations.as_ref().unwrap_or(&none),
    };
    let patch = match plan(&seen, annotation, now) {
        Plan::Done => return Ok(done(seen.version)),
        Plan::Never(why) => return Ok(Annotated::Refused { why, refusal: Refusal::Final }),
        Plan::Patch(patch) => patch,
    };
    match call(send(effects, annotation, &patch)).await {
        Outcome::Done(node) => {
            tell(annotation);
            Ok(done(node.metadata.resource_version.as_deref().unwrap_or("")))
        }
        // What was seen is no longer so.
        Outcome::Refused(status) if status.code == 409 || status.code == 422 && !is_by_policy(&status) => {
            Err(status.message)
        }
        Outcome::Refused(status) => Ok(refused(effects, annotation, &status).await),
        Outcome::Unknown(why) => Err(why),
    }
}

/// Sends a JSON patch.
async fn send(effects: &Effects, annotation: &Annotation, patch: &Value) -> kube::Result<Node> {
    let request = http::Request::patch(format!("/api/v1/nodes/{}", annotation.node))
        .header(http::header::CONTENT_TYPE, "application/json-patch+json")
        .body(patch.to_string().into_bytes())
        .map_err(kube::Error::HttpError)?;
    effects.reservations.request(request).await
}

fn done(version: &str) -> Annotated {
    Annotated::Done { version: version.parse().unwrap_or(0) }
}

/// What a refusal means. A 403 is either our role's, and then concerns every node, or that of an admission policy for this write:
/// which of the two, only the API server can say.
async fn refused(effects: &Effects, annotation: &Annotation, status: &kube::core::Status) -> Annotated {
    let refusal = match status.code {
        404 => Refusal::Final,
        403 if !is_allowed(effects).await => Refusal::NotAllowed,
        403 => Refusal::Denied,
        _ => Refusal::Later,
    };
    let why = status.message.clone();
    if refusal != Refusal::NotAllowed {
        tracing::warn!(node = %annotation.node, reservation = %annotation.id(), "write a reservation: {why}");
    } else if effects.is_first_refusal() {
        tracing::warn!("reservations are honoured, but none can be made, extended or released: {why}");
    }
    Annotated::Refused { why, refusal }
}

/// Whether our role allows to write reservations. Where the API server cannot tell, it may.
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

/// Whether an admission policy refused the write, rather than a condition of the patch that no longer holds.
fn is_by_policy(status: &kube::core::Status) -> bool {
    status.message.contains("denied request")
}

fn tell(annotation: &Annotation) {
    let (node, reservation) = (&annotation.node, annotation.id());
    match &annotation.change {
        Rewrite::Reserve(_) => tracing::info!(%node, %reservation, "reserved"),
        Rewrite::Extend { expires, .. } => tracing::info!(%node, %reservation, %expires, "extended"),
        Rewrite::Shorten { expires, .. } => tracing::info!(%node, %reservation, %expires, "shortened"),
        Rewrite::Release { why, .. } => tracing::info!(%node, %reservation, why, "released"),
    }
}

/// What is to be written, given what was seen.
pub fn plan(seen: &Seen<'_>, annotation: &Annotation, now: Timestamp) -> Plan {
    if seen.uid != annotation.uid.to_string() {
        return Plan::Never("the node is another one by now".into());
    }
    let id = annotation.id();
    let keys = keys_of(seen.annotations, id);
    let found = reservation_of(&keys);
    match &annotation.change {
        Rewrite::Reserve(wanted) => reserve(seen, wanted, &keys, found.as_ref(), now),
        Rewrite::Release { judged, why } => match found {
            None if keys.is_empty() => Plan::Done,
            Some(found) if found != **judged => Plan::Never("the reservation was changed since".into()),
            Some(found) if *why == EXPIRED && found.is_live(now) => {
                Plan::Never("the reservation has not expired".into())
            }
            Some(_) => Plan::Patch(patch(seen, &keys, &[], false)),
            None => Plan::Never("the reservation is another one by now".into()),
        },
        Rewrite::Shorten { judged, expires } => match found {
            Some(found) if found == **judged => until(seen, &keys, found, *expires),
            _ => Plan::Never("the reservation was changed since, or is gone".into()),
        },
        Rewrite::Extend { request, expires, .. } => match found {
            Some(found) if is_of(&found, request) => extend(seen, &keys, found, *expires),
            _ => Plan::Never("the reservation is another one by now, or gone".into()),
        },
    }
}

fn reserve(
    seen: &Seen<'_>,
    wanted: &Reservation,
    keys: &[(&str, &str)],
    found: Option<&Reservation>,
    now: Timestamp,
) -> Plan {
    match found {
        // Whoever made it: its room is kept.
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

fn extend(seen: &Seen<'_>, keys: &[(&str, &str)], found: Reservation, expires: Timestamp) -> Plan {
    if found.expires().is_some_and(|before| before >= expires) {
        return Plan::Done;
    }
    until(seen, keys, found, expires)
}

/// Lets what was found live until `expires`.
fn until(seen: &Seen<'_>, keys: &[(&str, &str)], mut found: Reservation, expires: Timestamp) -> Plan {
    if let Origin::Recorded(record) = &mut found.origin {
        record.expires = expires;
    }
    match encode(&found) {
        Ok(new) => Plan::Patch(patch(seen, keys, &new, false)),
        Err(error) => Plan::Never(error.to_string()),
    }
}

fn is_of(found: &Reservation, request: &str) -> bool {
    found.record().is_some_and(|record| &*record.request == request)
}

/// A little more, other for each replica, so that two of them do not get in each other's way again and again.
fn jitter(instance: &str, annotation: &Annotation, attempt: u32) -> Duration {
    let text = format!("{instance}{}{attempt}", annotation.node);
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    Duration::from_millis(u64::from(text.bytes().fold(0x811c_9dc5, step) % 50))
}

#[cfg(test)]
pub(super) mod tests;

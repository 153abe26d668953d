//! The eviction, or the deletion in its stead: one POST of our own, with the pod's UID, and what its answer means.

use super::budgets;
use super::target::Target;
use crate::api::{self as calls, ApiError, JSON, Refused};
use crate::connect::Session;
use crate::flow::budget::{Blocked, Never};
use crate::flow::recreate::{Answer, Refusal, Why};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// When a server that has too much to do does not say when to come again.
const BUSY_PAUSE: Duration = Duration::from_secs(1);

/// How a pod is removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Removal {
    /// Seconds.
    pub(super) grace: i64,
    /// Whether budgets are not asked.
    pub(super) ignores_budgets: bool,
}

/// Evicts the pod, or only asks whether it would be.
pub(super) async fn evict(
    session: &Session,
    target: &Target,
    removal: Removal,
    is_rehearsal: bool,
) -> Answer {
    let (path, method, body) = request(target, removal);
    let path = if is_rehearsal { format!("{path}?dryRun=All") } else { path };
    match calls::write(session, method, &path, JSON, body.to_string()).await {
        Ok(_) => Answer::Allowed,
        Err(ApiError::Broken(why)) => Answer::Lost(why),
        Err(ApiError::Refused(refused)) => meaning(session, target, *refused).await,
    }
}

fn request(target: &Target, removal: Removal) -> (String, Method, Value) {
    let (key, uid) = (&target.pod.key, target.pod.uid.to_string());
    let options = json!({ "gracePeriodSeconds": removal.grace, "preconditions": { "uid": uid } });
    let path = super::owners::pod_path(key);
    if removal.ignores_budgets {
        let mut body = json!({ "apiVersion": "v1", "kind": "DeleteOptions" });
        body["gracePeriodSeconds"] = options["gracePeriodSeconds"].clone();
        body["preconditions"] = options["preconditions"].clone();
        return (path, Method::DELETE, body);
    }
    let metadata = json!({ "name": &*key.name, "namespace": &*key.namespace });
    let body = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata, "deleteOptions": options });
    (format!("{path}/eviction"), Method::POST, body)
}

/// What the server means by its refusal.
async fn meaning(session: &Session, target: &Target, refused: Refused) -> Answer {
    let cause = refused.causes.iter().find(|cause| cause.reason == "DisruptionBudget");
    let said = cause.map_or(&refused.message, |cause| &cause.message).clone();
    let is_several = refused.code == 500 && refused.message.contains("more than one PodDisruptionBudget");
    match refused.code {
        429 if refused.retry_after.is_some() || cause.is_none() => {
            Answer::Refused(Refusal::Soon(refused.retry_after.unwrap_or(BUSY_PAUSE)))
        }
        429 => Answer::Refused(Refusal::Budget(Box::new(budgets::blocked(session, &target.pod, said).await))),
        500 if is_several => {
            let blocked = budgets::blocked(session, &target.pod, said).await;
            // Also where they cannot be read.
            let blocked = Blocked { never: Some(Never::Several), ..blocked };
            Answer::Refused(Refusal::Budget(Box::new(blocked)))
        }
        404 => Answer::Refused(Refusal::Gone),
        // Under that name there is another pod by now.
        409 if refused.message.to_ascii_lowercase().contains("uid") => Answer::Refused(Refusal::Gone),
        409 => Answer::Refused(Refusal::Soon(BUSY_PAUSE)),
        403 if cause.is_none() && !refused.message.contains("being terminated") => {
            let needs = format!("create pods/eviction in namespace {}", target.pod.key.namespace);
            Answer::Failed(Why::Forbidden { message: refused.message, needs })
        }
        500..=599 => Answer::Lost(refused.message),
        _ => Answer::Failed(Why::Failed(format!("{} cannot be evicted: {said}", target.name()))),
    }
}

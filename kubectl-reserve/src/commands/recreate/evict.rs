//! The eviction, or with `--ignore-pdb` the deletion: one request with the pod's UID as a precondition, and what its response
//! means.

use super::budgets;
use super::target::TargetPod;
use crate::api::{self as calls, ApiError, ErrorStatus, JSON};
use crate::connect::Session;
use crate::flow::budget::{BlockedEviction, PermanentReason};
use crate::flow::recreate::{Answer, Refusal, StopReason};
use crate::reader::pod_path;
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

/// The pause after a refusal without `retryAfterSeconds`.
const BUSY_PAUSE: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
pub(super) struct Removal {
    /// The grace period in seconds.
    pub(super) grace: i64,
    /// Whether the pod is deleted instead of evicted, so that budgets are ignored.
    pub(super) ignores_budgets: bool,
}

impl Removal {
    /// The participle for messages.
    pub(super) fn word(self) -> &'static str {
        if self.ignores_budgets { "deleted" } else { "evicted" }
    }
}

/// Evicts the pod, or sends the eviction as a dry run.
pub(super) async fn evict(
    session: &Session,
    target: &TargetPod,
    removal: Removal,
    is_dry_run: bool,
) -> Answer {
    let (path, method, body) = request(target, removal, is_dry_run);
    match calls::write(session, method, &path, JSON, body.to_string()).await {
        Ok(_) => Answer::Allowed,
        Err(ApiError::Broken(why)) => Answer::Lost(why),
        Err(ApiError::Refused(refused)) => meaning(session, target, *refused).await,
    }
}

fn request(target: &TargetPod, removal: Removal, is_dry_run: bool) -> (String, Method, Value) {
    let (key, uid) = (&target.pod.key, target.pod.uid.to_string());
    let mut options = json!({ "gracePeriodSeconds": removal.grace, "preconditions": { "uid": uid } });
    let path = pod_path(key);
    if removal.ignores_budgets {
        (options["apiVersion"], options["kind"]) = ("v1".into(), "DeleteOptions".into());
        if is_dry_run {
            // A DELETE with a body ignores the query: with the dry run there, the pod would really be deleted.
            options["dryRun"] = json!(["All"]);
        }
        return (path, Method::DELETE, options);
    }
    let metadata = json!({ "name": &*key.name, "namespace": &*key.namespace });
    let body = json!({ "apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata, "deleteOptions": options });
    let query = if is_dry_run { "?dryRun=All" } else { "" };
    (format!("{path}/eviction{query}"), Method::POST, body)
}

/// The meaning of the server's refusal.
async fn meaning(session: &Session, target: &TargetPod, refused: ErrorStatus) -> Answer {
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
            // Also if the caller may not read the budgets.
            let blocked = BlockedEviction { permanent: Some(PermanentReason::Several), ..blocked };
            Answer::Refused(Refusal::Budget(Box::new(blocked)))
        }
        404 if refused.is_not_found() => Answer::Refused(Refusal::Gone),
        // The precondition failed: another pod has this name by now.
        409 if refused.message.to_ascii_lowercase().contains("uid") => Answer::Refused(Refusal::Gone),
        409 => Answer::Refused(Refusal::Soon(BUSY_PAUSE)),
        403 if cause.is_none() && !refused.message.contains("being terminated") => {
            let needs = format!("create pods/eviction in namespace {}", target.pod.key.namespace);
            Answer::Failed(StopReason::Forbidden { message: refused.message, needs })
        }
        500..=599 => Answer::Lost(refused.to_string()),
        _ => Answer::Failed(StopReason::Failed(format!("{} cannot be evicted: {said}", target.name()))),
    }
}

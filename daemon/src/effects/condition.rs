//! Writes a pod's status: the condition PodScheduled of an unschedulable pod, and `nominatedNodeName`.

use super::{Effects, Outcome, call, is_object_gone};
use crate::state::Nomination;
use common::model::{PodKey, Uid};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// The pauses between tries of one write, as in client-go. Without retries the condition would be missing until the pod is tried
/// again, perhaps minutes later, and autoscalers would not see it.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(10), Duration::from_millis(50), Duration::from_millis(250)];

/// After this long the write is not retried: later effects of the pod wait for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The condition PodScheduled, with status False.
pub(super) struct Condition<'a> {
    pub(super) generation: i64,
    pub(super) reason: &'static str,
    pub(super) message: &'a str,
    pub(super) since: Option<Timestamp>,
}

/// Writes the status of the pod with this UID. Returns the pod's resource version after the write.
pub(super) async fn write(
    effects: &Effects,
    pod: &PodKey,
    uid: &Uid,
    condition: Option<&Condition<'_>>,
    nomination: &Nomination,
) -> Option<u64> {
    let patch = patch(uid, condition, nomination);
    match write_with_retries(effects, pod, &patch).await {
        Outcome::Done(written) => {
            if let Some(condition) = condition {
                tracing::info!(%pod, "{}", condition.message);
            }
            return written.resource_version().and_then(|version| version.parse().ok());
        }
        // The pod is gone, or another pod has its name.
        Outcome::Refused(status) if is_object_gone(&status) => {}
        Outcome::Refused(status) => tracing::warn!(%pod, "write the condition: {}", status.message),
        Outcome::Unknown(why) => tracing::warn!(%pod, "write the condition: {why}"),
    }
    None
}

/// Writes, and retries if the outcome is unknown: sending the same patch twice does no harm.
async fn write_with_retries(effects: &Effects, pod: &PodKey, patch: &Value) -> Outcome<Pod> {
    let (pods, params) = (effects.pods(pod), PatchParams::default());
    let begun = Instant::now();
    let mut pauses = PAUSES.into_iter();
    loop {
        let outcome = call(pods.patch_status(&pod.name, &params, &Patch::Strategic(patch))).await;
        match (&outcome, pauses.next()) {
            (Outcome::Unknown(_), Some(pause)) if begun.elapsed() < PATIENCE => {
                tokio::time::sleep(pause).await;
            }
            _ => return outcome,
        }
    }
}

fn patch(uid: &Uid, condition: Option<&Condition<'_>>, nomination: &Nomination) -> Value {
    let mut status = json!({});
    if let Some(condition) = condition {
        let mut wire = json!({
            "type": "PodScheduled",
            "status": "False",
            "reason": condition.reason,
            "message": condition.message,
            "observedGeneration": condition.generation,
        });
        if let Some(since) = condition.since {
            wire["lastTransitionTime"] = json!(second(since));
        }
        status["conditions"] = json!([wire]);
    }
    if let Nomination::Change(node) = nomination {
        status["nominatedNodeName"] = json!(node.as_ref().map(ToString::to_string));
    }
    json!({ "metadata": { "uid": uid.to_string() }, "status": status })
}

/// A time in the format of Kubernetes objects.
pub(super) fn second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

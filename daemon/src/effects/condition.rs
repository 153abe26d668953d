//! The PodScheduled condition of a pod that has no place.

use super::{Effects, Outcome, call};
use common::model::{PodKey, Uid};
use jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use serde_json::json;

/// What the condition is to say.
pub(super) struct Condition<'a> {
    pub(super) generation: i64,
    pub(super) reason: &'static str,
    pub(super) message: &'a str,
    pub(super) since: Option<Timestamp>,
}

/// Writes the condition of that very pod; of no other under the same name.
pub(super) async fn write(effects: &Effects, pod: &PodKey, uid: &Uid, condition: &Condition<'_>) {
    let patch = patch(uid, condition);
    let params = PatchParams::default();
    match call(effects.pods(pod).patch_status(&pod.name, &params, &Patch::Strategic(&patch))).await {
        Outcome::Done(_) => tracing::info!(%pod, "{}", condition.message),
        // The pod went away meanwhile, or came back as another: there is nobody left to tell.
        Outcome::Refused(status) if matches!(status.code, 404 | 409) => {}
        Outcome::Refused(status) => tracing::warn!(%pod, "write the condition: {}", status.message),
        Outcome::Unknown(why) => tracing::warn!(%pod, "write the condition: {why}"),
    }
}

fn patch(uid: &Uid, condition: &Condition<'_>) -> serde_json::Value {
    let mut wire = json!({
        "type": "PodScheduled",
        "status": "False",
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": condition.generation,
    });
    if let Some(since) = condition.since {
        wire["lastTransitionTime"] = json!(since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    }
    json!({ "metadata": { "uid": uid.to_string() }, "status": { "conditions": [wire] } })
}

//! What a pod's status says about its placing: the PodScheduled condition of one that has no place, and the node that it
//! is nominated to.

use super::{Effects, Outcome, call, is_of_another};
use crate::state::Nomination;
use common::model::{PodKey, Uid};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// The pauses between tries of one write, as client-go has them: a pod that was not told would hear nothing before its next
/// try, which may be minutes away, and no autoscaler would hear of it.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(10), Duration::from_millis(50), Duration::from_millis(250)];

/// A server that takes longer than this is not asked again: what is to be done about the pod next waits for this write.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the condition is to say.
pub(super) struct Condition<'a> {
    pub(super) generation: i64,
    pub(super) reason: &'static str,
    pub(super) message: &'a str,
    pub(super) since: Option<Timestamp>,
}

/// Writes into the status of that very pod; of no other under the same name. Returns the version that says so.
pub(super) async fn write(
    effects: &Effects,
    pod: &PodKey,
    uid: &Uid,
    condition: Option<&Condition<'_>>,
    nomination: &Nomination,
) -> Option<u64> {
    let patch = patch(uid, condition, nomination);
    match tried(effects, pod, &patch).await {
        Outcome::Done(written) => {
            if let Some(condition) = condition {
                tracing::info!(%pod, "{}", condition.message);
            }
            return written.resource_version().and_then(|version| version.parse().ok());
        }
        // The pod went away meanwhile, or came back as another: there is nobody left to tell.
        Outcome::Refused(status) if is_of_another(&status) => {}
        Outcome::Refused(status) => tracing::warn!(%pod, "write the condition: {}", status.message),
        Outcome::Unknown(why) => tracing::warn!(%pod, "write the condition: {why}"),
    }
    None
}

/// Writes, again if there was no answer: the same patch twice is the same as once.
async fn tried(effects: &Effects, pod: &PodKey, patch: &Value) -> Outcome<Pod> {
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

/// A time as objects carry it.
pub(super) fn second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

//! What a pod's status says about its placing: the PodScheduled condition of one that has no place, and the node that it
//! is nominated to.

use super::{Effects, Outcome, call, is_of_another};
use crate::state::Nomination;
use common::model::{PodKey, Uid};
use jiff::Timestamp;
use kube::ResourceExt as _;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

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
    let params = PatchParams::default();
    match call(effects.pods(pod).patch_status(&pod.name, &params, &Patch::Strategic(&patch))).await {
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

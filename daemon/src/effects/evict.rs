//! Removes a victim of preemption: sets its condition DisruptionTarget, and then deletes it.
//!
//! It is deleted, not evicted, as upstream: disruption budgets were considered when the victims were chosen.

use super::condition::second;
use super::{Effects, Outcome, call, is_object_gone};
use crate::state::{Eviction, EvictionOutcome};
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use serde_json::{Value, json};

/// Sets the condition of the victim and deletes it. Both writes name its UID, so no other pod of the same name is deleted.
pub(super) async fn evict(effects: &Effects, eviction: &Eviction) -> EvictionOutcome {
    let (pods, name) = (effects.pods(&eviction.victim), &eviction.victim.name);
    let patch = patch(eviction);
    let patched = call(pods.patch_status(name, &PatchParams::default(), &Patch::Strategic(&patch))).await;
    if let Some(outcome) = failure_of(eviction, patched) {
        return outcome;
    }
    let uid = Some(eviction.victim_uid.to_string());
    let preconditions = Some(Preconditions { uid, resource_version: None });
    let params = DeleteParams { preconditions, ..DeleteParams::default() };
    let deleted = call(pods.delete(name, &params)).await;
    if let Some(outcome) = failure_of(eviction, deleted) {
        return outcome;
    }
    tracing::info!(pod = %eviction.victim, by = %eviction.preemptor, "preempted");
    EvictionOutcome::Begun
}

/// The outcome of the eviction if this call failed; `None` if it succeeded.
fn failure_of<T>(eviction: &Eviction, outcome: Outcome<T>) -> Option<EvictionOutcome> {
    let why = match outcome {
        Outcome::Done(_) => return None,
        Outcome::Refused(status) if is_object_gone(&status) => return Some(EvictionOutcome::Gone),
        Outcome::Refused(status) => status.message,
        Outcome::Unknown(why) => why,
    };
    tracing::warn!(pod = %eviction.victim, by = %eviction.preemptor, "preempt: {why}");
    Some(EvictionOutcome::Failed { why })
}

fn patch(eviction: &Eviction) -> Value {
    let message = format!("{}: preempting to accommodate a higher priority pod", eviction.scheduler_name);
    json!({
        "metadata": { "uid": eviction.victim_uid.to_string() },
        "status": { "conditions": [{
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": message,
            "observedGeneration": eviction.generation,
            "lastTransitionTime": second(eviction.since),
        }] },
    })
}

//! A pod has to go for a more important one: its condition DisruptionTarget says so, and then it is deleted.
//!
//! Deleted, not evicted: as upstream, disruption budgets were weighed when the victims were chosen.

use super::condition::second;
use super::{Effects, Outcome, call, is_of_another};
use crate::state::{Evicted, Eviction};
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use serde_json::{Value, json};

/// Tells the victim and deletes it, that very pod and no other of its name.
pub(super) async fn evict(effects: &Effects, eviction: &Eviction) -> Evicted {
    let (pods, name) = (effects.pods(&eviction.victim), &eviction.victim.name);
    let patch = patch(eviction);
    let told = call(pods.patch_status(name, &PatchParams::default(), &Patch::Strategic(&patch))).await;
    if let Some(ended) = ended(eviction, told) {
        return ended;
    }
    let uid = Some(eviction.victim_uid.to_string());
    let preconditions = Some(Preconditions { uid, resource_version: None });
    let params = DeleteParams { preconditions, ..DeleteParams::default() };
    let deleted = call(pods.delete(name, &params)).await;
    if let Some(ended) = ended(eviction, deleted) {
        return ended;
    }
    tracing::info!(pod = %eviction.victim, by = %eviction.preemptor, "preempted");
    Evicted::Begun
}

/// What it has come to, if it goes no further.
fn ended<T>(eviction: &Eviction, outcome: Outcome<T>) -> Option<Evicted> {
    let why = match outcome {
        Outcome::Done(_) => return None,
        Outcome::Refused(status) if is_of_another(&status) => return Some(Evicted::Gone),
        Outcome::Refused(status) => status.message,
        Outcome::Unknown(why) => why,
    };
    tracing::warn!(pod = %eviction.victim, by = %eviction.preemptor, "preempt: {why}");
    Some(Evicted::Failed { why })
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

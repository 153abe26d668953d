//! Deployments: a ReplicaSet for each template, and the way from the old ones to the new one.

use super::{owned, owner_reference};
use crate::api::{Part, State, kind};
use crate::value::{hash, is_deleting, name, namespace, number, set_condition, text};
use serde_json::{Value, json};
use std::sync::Arc;

const HASH: &str = "pod-template-hash";
const REVISION: &str = "deployment.kubernetes.io/revision";

pub(super) fn run(state: &mut State) {
    for deployment in state.all(kind("apps", "deployments")) {
        if !is_deleting(&deployment) {
            one(state, &deployment);
        }
    }
}

fn one(state: &mut State, deployment: &Value) {
    let mut olds = owned(state, kind("apps", "replicasets"), deployment);
    let hash = hash(&deployment["spec"]["template"]);
    let Some(at) = olds.iter().position(|set| set["metadata"]["labels"][HASH] == *hash) else {
        return make(state, deployment, &olds, &hash);
    };
    let new = olds.remove(at);
    show(state, deployment, &olds, &new);
    let wanted = replicas(deployment);
    let is_rolled = olds.iter().all(|old| replicas(old) == 0);
    if text(deployment, "/spec/strategy/type") == "Recreate" {
        olds.iter().for_each(|old| scale(state, old, 0));
        let are_gone = is_rolled && olds.iter().all(|old| count(old, "replicas") == 0);
        scale(state, &new, if are_gone { wanted } else { replicas(&new) });
    } else if is_rolled {
        scale(state, &new, wanted);
    } else {
        roll(state, deployment, &olds, &new);
    }
}

/// One step of a rolling update: first the new set gets what may be added, then the old ones lose what may be missing.
fn roll(state: &mut State, deployment: &Value, olds: &[Arc<Value>], new: &Value) {
    let wanted = replicas(deployment);
    let surge = part(deployment, "maxSurge", wanted, true);
    let missing = part(deployment, "maxUnavailable", wanted, false);
    let missing = if surge == 0 { missing.max(1) } else { missing };
    let total: i64 = replicas(new) + olds.iter().map(|old| replicas(old)).sum::<i64>();
    let more = (wanted + surge - total).clamp(0, (wanted - replicas(new)).max(0));
    if more > 0 || replicas(new) > wanted {
        return scale(state, new, (replicas(new) + more).min(wanted));
    }
    let unready = replicas(new) - count(new, "availableReplicas");
    let less = total - (wanted - missing) - unready;
    for old in olds {
        // Those that do not work are no loss.
        let broken = (replicas(old) - count(old, "availableReplicas")).clamp(0, less.max(0));
        let available: i64 = count(new, "availableReplicas")
            + olds.iter().map(|old| count(old, "availableReplicas")).sum::<i64>();
        let working = (available - (wanted - missing)).clamp(0, (less - broken).max(0));
        let gone = (broken + working).min(replicas(old));
        if gone > 0 {
            scale(state, old, replicas(old) - gone);
            // What is available has to be counted again.
            return;
        }
    }
}

/// A number, or a part of what is wanted.
fn part(deployment: &Value, field: &str, wanted: i64, is_up: bool) -> i64 {
    let value = &deployment["spec"]["strategy"]["rollingUpdate"][field];
    let percent =
        value.as_str().and_then(|text| text.strip_suffix('%')).and_then(|text| text.parse::<i64>().ok());
    match percent {
        Some(percent) => (percent * wanted + if is_up { 99 } else { 0 }) / 100,
        None => value.as_i64().unwrap_or(1),
    }
}

fn replicas(object: &Value) -> i64 {
    number(object, "/spec/replicas").unwrap_or(1)
}

fn count(object: &Value, field: &str) -> i64 {
    number(object, &format!("/status/{field}")).unwrap_or(0)
}

fn scale(state: &mut State, set: &Value, wanted: i64) {
    if replicas(set) != wanted {
        let mut set = set.clone();
        set["spec"]["replicas"] = wanted.into();
        let place = (namespace(&set).to_owned(), name(&set).to_owned());
        let _ = state.update(kind("apps", "replicasets"), (&place.0, &place.1), set, Part::Main, false);
    }
}

/// Makes the set for the template as it is now; the first one with all that is wanted.
fn make(state: &mut State, deployment: &Value, olds: &[Arc<Value>], hash: &str) {
    let last = olds
        .iter()
        .filter_map(|old| {
            text(&old["metadata"]["annotations"], &format!("/{}", REVISION.replace('/', "~1")))
                .parse::<u64>()
                .ok()
        })
        .max();
    let mut set = json!({
        "metadata": {
            "name": format!("{}-{hash}", name(deployment)),
            "labels": deployment["spec"]["template"]["metadata"]["labels"],
            "annotations": { REVISION: (last.unwrap_or(0) + 1).to_string() },
            "ownerReferences": [owner_reference(kind("apps", "deployments"), deployment)],
        },
        "spec": {
            "replicas": if olds.is_empty() { replicas(deployment) } else { 0 },
            "selector": deployment["spec"]["selector"],
            "template": deployment["spec"]["template"],
        },
    });
    for labels in ["/metadata/labels", "/spec/selector/matchLabels", "/spec/template/metadata/labels"] {
        if let Some(labels) = set.pointer_mut(labels) {
            labels[HASH] = hash.into();
        }
    }
    let _ = state.create(kind("apps", "replicasets"), namespace(deployment), set, false);
}

/// Shows in the status how far it is.
fn show(state: &mut State, deployment: &Value, olds: &[Arc<Value>], new: &Value) {
    let sum = |field: &str| count(new, field) + olds.iter().map(|old| count(old, field)).sum::<i64>();
    let (wanted, available) = (replicas(deployment), sum("availableReplicas"));
    let mut status = deployment["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    status["observedGeneration"] = deployment["metadata"]["generation"].clone();
    for (field, value) in [
        ("replicas", sum("replicas")),
        ("updatedReplicas", count(new, "replicas")),
        ("readyReplicas", sum("readyReplicas")),
        ("availableReplicas", available),
        ("unavailableReplicas", (wanted - available).max(0)),
    ] {
        status[field] = value.into();
    }
    let least = wanted - part(deployment, "maxUnavailable", wanted, false);
    let is_enough = available >= least;
    let available = json!({ "type": "Available", "status": if is_enough { "True" } else { "False" },
        "reason": if is_enough { "MinimumReplicasAvailable" } else { "MinimumReplicasUnavailable" },
        "message": if is_enough { "Deployment has minimum availability." } else { "Deployment does not have minimum availability." } });
    set_condition(&mut status, available, state.now);
    state.set_status(kind("apps", "deployments"), deployment, status);
}

//! The controller of Deployments: one ReplicaSet for each template, and rolling updates.

use super::{owned, owner_reference};
use crate::api::{Part, State, kind};
use crate::store::Key;
use crate::value::{hash, is_deleting, name, namespace, number, set_condition, text};
use serde_json::{Value, json};
use std::sync::Arc;

const HASH: &str = "pod-template-hash";
const REVISION: &str = "deployment.kubernetes.io/revision";

pub(super) fn run(state: &mut State) {
    for deployment in state.all(kind("apps", "deployments")) {
        if !is_deleting(&deployment) {
            sync(state, &deployment);
        }
    }
}

fn sync(state: &mut State, deployment: &Value) {
    let mut olds = owned(state, kind("apps", "replicasets"), deployment);
    let hash = hash(&deployment["spec"]["template"]);
    let Some(at) = olds.iter().position(|set| set["metadata"]["labels"][HASH] == *hash) else {
        return create_replica_set(state, deployment, &olds, &hash);
    };
    let new = olds.remove(at);
    update_status(state, deployment, &olds, &new);
    let wanted = replicas(deployment);
    let is_rolled = olds.iter().all(|old| replicas(old) == 0);
    if text(deployment, "/spec/strategy/type") == "Recreate" {
        olds.iter().for_each(|old| scale(state, old, 0));
        let are_gone = is_rolled && olds.iter().all(|old| count(old, "replicas") == 0);
        scale(state, &new, if are_gone { wanted } else { replicas(&new) });
    } else if is_rolled {
        scale(state, &new, wanted);
    } else {
        roll_one_step(state, deployment, &olds, &new);
    }
}

/// One step of a rolling update: first scales up the new set within `maxSurge`, then scales down old ones within
/// `maxUnavailable`.
fn roll_one_step(state: &mut State, deployment: &Value, olds: &[Arc<Value>], new: &Value) {
    let wanted = replicas(deployment);
    let surge = resolve_percent(deployment, "maxSurge", wanted, true);
    let missing = resolve_percent(deployment, "maxUnavailable", wanted, false);
    let missing = if surge == 0 { missing.max(1) } else { missing };
    let total: i64 = replicas(new) + olds.iter().map(|old| replicas(old)).sum::<i64>();
    let more = (wanted + surge - total).clamp(0, (wanted - replicas(new)).max(0));
    if more > 0 || replicas(new) > wanted {
        return scale(state, new, (replicas(new) + more).min(wanted));
    }
    let unready = replicas(new) - count(new, "availableReplicas");
    let less = total - (wanted - missing) - unready;
    let available = sum(new, olds, "availableReplicas") - (wanted - missing);
    for old in olds {
        // Unavailable pods can be removed without loss.
        let broken = (replicas(old) - count(old, "availableReplicas")).clamp(0, less.max(0));
        let working = available.clamp(0, (less - broken).max(0));
        let gone = (broken + working).min(replicas(old));
        if gone > 0 {
            // The available pods have to be counted again before the next step.
            return scale(state, old, replicas(old) - gone);
        }
    }
}

/// The value of `maxSurge` or `maxUnavailable`: a number, or a percentage of the wanted replicas.
fn resolve_percent(deployment: &Value, field: &str, wanted: i64, rounds_up: bool) -> i64 {
    let value = &deployment["spec"]["strategy"]["rollingUpdate"][field];
    let percent =
        value.as_str().and_then(|text| text.strip_suffix('%')).and_then(|text| text.parse::<i64>().ok());
    match percent {
        Some(percent) => (percent * wanted + if rounds_up { 99 } else { 0 }) / 100,
        None => value.as_i64().unwrap_or(1),
    }
}

fn replicas(object: &Value) -> i64 {
    number(object, "/spec/replicas").unwrap_or(1)
}

fn count(object: &Value, field: &str) -> i64 {
    number(object, &format!("/status/{field}")).unwrap_or(0)
}

fn sum(new: &Value, olds: &[Arc<Value>], field: &str) -> i64 {
    count(new, field) + olds.iter().map(|old| count(old, field)).sum::<i64>()
}

fn scale(state: &mut State, set: &Value, wanted: i64) {
    if replicas(set) != wanted {
        let mut set = set.clone();
        set["spec"]["replicas"] = wanted.into();
        let key = Key::of(kind("apps", "replicasets"), &set);
        let _ = state.update(&key, set, Part::Main, false);
    }
}

/// Creates the ReplicaSet for the current template. The first one gets all replicas, later ones start with none.
fn create_replica_set(state: &mut State, deployment: &Value, olds: &[Arc<Value>], hash: &str) {
    let number = |old: &Arc<Value>| old["metadata"]["annotations"][REVISION].as_str()?.parse::<u64>().ok();
    let last = olds.iter().filter_map(number).max();
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

fn update_status(state: &mut State, deployment: &Value, olds: &[Arc<Value>], new: &Value) {
    let (wanted, available) = (replicas(deployment), sum(new, olds, "availableReplicas"));
    let mut status = json!({
        "observedGeneration": deployment["metadata"]["generation"], "conditions": deployment["status"]["conditions"],
        "replicas": sum(new, olds, "replicas"), "updatedReplicas": count(new, "replicas"), "availableReplicas": available,
        "readyReplicas": sum(new, olds, "readyReplicas"), "unavailableReplicas": (wanted - available).max(0),
    });
    let is_enough = available >= wanted - resolve_percent(deployment, "maxUnavailable", wanted, false);
    let (word, reason, verb) = match is_enough {
        true => ("True", "MinimumReplicasAvailable", "has"),
        false => ("False", "MinimumReplicasUnavailable", "does not have"),
    };
    let message = format!("Deployment {verb} minimum availability.");
    let available = json!({ "type": "Available", "status": word, "reason": reason, "message": message });
    set_condition(&mut status, available, state.now);
    state.set_status(kind("apps", "deployments"), deployment, status);
}

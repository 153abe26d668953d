//! Namespaces, services, controllers and disruption budgets.

use serde_json::{Map, Value, json};

use super::labels::{NAMESPACES, POD_LABELS, labels};
use super::rng::Rng;

/// Kinds that pods are controlled by: the kind, its API version, and its place in the case format.
const CONTROLLERS: [(&str, &str, &str); 3] = [
    ("ReplicaSet", "apps/v1", "replicaSets"),
    ("StatefulSet", "apps/v1", "statefulSets"),
    ("ReplicationController", "v1", "replicationControllers"),
];

/// All such objects, by kind.
pub(super) fn objects(rng: &mut Rng) -> Vec<(&'static str, Vec<Value>)> {
    let namespace = |name: &&str| {
        let team = if rng.chance(70) { json!({ "team": rng.pick(&["red", "blue"]) }) } else { json!({}) };
        json!({ "metadata": { "name": name, "uid": rng.uid(), "labels": team } })
    };
    let mut objects = vec![("namespaces", NAMESPACES.iter().map(namespace).collect())];
    objects.push(("services", each(rng, "service", service)));
    for (kind, _, place) in CONTROLLERS {
        objects.push((
            place,
            each(rng, &kind.to_lowercase(), if kind == "ReplicationController" { plain } else { set }),
        ));
    }
    objects.push(("podDisruptionBudgets", each(rng, "budget", budget)));
    objects
}

/// A reference to one of those controllers, or to a kind that is none, or nothing.
pub(super) fn owner(rng: &mut Rng, namespace: &str) -> Option<Value> {
    let (kind, version, _) = match rng.below(8) {
        0 => ("Job", "batch/v1", ""),
        1..=4 => *rng.pick(&CONTROLLERS),
        _ => return None,
    };
    let name = format!("{}-{namespace}", kind.to_lowercase());
    let uid = format!("00000000-0000-4000-8000-{:012}", name.len());
    Some(json!({ "apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": true }))
}

/// One in most namespaces.
fn each(rng: &mut Rng, prefix: &str, spec: fn(&mut Rng) -> Value) -> Vec<Value> {
    let mut all = Vec::new();
    for namespace in NAMESPACES {
        if rng.chance(70) {
            let name = format!("{prefix}-{namespace}");
            let mut object = spec(rng);
            object["metadata"] = json!({ "name": name, "namespace": namespace, "uid": rng.uid() });
            all.push(object);
        }
    }
    all
}

fn some_labels(rng: &mut Rng) -> Map<String, Value> {
    labels(rng, &POD_LABELS, 40)
}

fn service(rng: &mut Rng) -> Value {
    json!({ "spec": { "selector": some_labels(rng) } })
}

fn set(rng: &mut Rng) -> Value {
    json!({ "spec": { "selector": { "matchLabels": some_labels(rng) } } })
}

fn plain(rng: &mut Rng) -> Value {
    service(rng)
}

fn budget(rng: &mut Rng) -> Value {
    json!({
        "spec": { "selector": { "matchLabels": some_labels(rng) } },
        "status": {
            "disruptionsAllowed": rng.below(3), "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1,
        },
    })
}

//! Generates namespaces, services, workloads and disruption budgets.

use serde_json::{Map, Value, json};

use super::labels::{NAMESPACES, POD_LABELS, labels};
use super::rng::Rng;

/// The kinds of workloads: kind, API version, field in the case format, and the label `app` of its pods.
const CONTROLLERS: [(&str, &str, &str, &str); 3] = [
    ("ReplicaSet", "apps/v1", "replicaSets", "web"),
    ("StatefulSet", "apps/v1", "statefulSets", "db"),
    ("ReplicationController", "v1", "replicationControllers", "cache"),
];

/// The time of granted evictions.
const GRANTED: &str = "2026-01-31T12:00:00Z";

/// All these objects, by kind.
pub(super) fn objects(rng: &mut Rng) -> Vec<(&'static str, Vec<Value>)> {
    let namespace = |name: &&str| {
        let team = if rng.chance(70) { json!({ "team": rng.pick(&["red", "blue"]) }) } else { json!({}) };
        json!({ "metadata": { "name": name, "uid": rng.uid(), "labels": team } })
    };
    let mut objects = vec![("namespaces", NAMESPACES.iter().map(namespace).collect())];
    objects.push(("services", each(rng, "service", service)));
    for (kind, _, place, app) in CONTROLLERS {
        let of_app = json!({ "app": app });
        let selector =
            if kind == "ReplicationController" { of_app } else { json!({ "matchLabels": of_app }) };
        let set = |_: &mut Rng| json!({ "spec": { "selector": selector } });
        objects.push((place, each(rng, &kind.to_lowercase(), set)));
    }
    objects.push(("podDisruptionBudgets", each(rng, "budget", budget)));
    objects
}

/// The owner reference to one of the workloads, to a Job, which cases do not have, or none. Also sets the label `app` of the
/// workload's pods.
pub(super) fn owner(rng: &mut Rng, namespace: &str, labels: &mut Map<String, Value>) -> Option<Value> {
    let (kind, version) = match rng.below(8) {
        0 => ("Job", "batch/v1"),
        1..=4 => {
            let (kind, version, _, app) = *rng.pick(&CONTROLLERS);
            labels.insert("app".to_owned(), json!(app));
            (kind, version)
        }
        _ => return None,
    };
    let name = format!("{}-{namespace}", kind.to_lowercase());
    let uid = format!("00000000-0000-4000-8000-{:012}", name.len());
    Some(json!({ "apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": true }))
}

/// An object in most namespaces.
fn each(rng: &mut Rng, prefix: &str, spec: impl Fn(&mut Rng) -> Value) -> Vec<Value> {
    let mut all = Vec::new();
    for namespace in NAMESPACES {
        if rng.chance(75) {
            let name = format!("{prefix}-{namespace}");
            let mut object = spec(rng);
            object["metadata"] = json!({ "name": name, "namespace": namespace, "uid": rng.uid() });
            all.push(object);
        }
    }
    all
}

/// A service, sometimes without a selector.
fn service(rng: &mut Rng) -> Value {
    let mut selected = labels(rng, &POD_LABELS[1..], 30);
    if selected.is_empty() {
        selected = labels(rng, &POD_LABELS[..1], 90);
    }
    if selected.is_empty() { json!({ "spec": {} }) } else { json!({ "spec": { "selector": selected } }) }
}

/// A disruption budget. There is one per namespace: of two budgets for the same pod upstream counts down the first one of a map,
/// maybe only that one.
fn budget(rng: &mut Rng) -> Value {
    let (key, values) = *rng.pick(&POD_LABELS);
    let selector = match rng.below(12) {
        // kube-scheduler's preemption matches no pod with an empty selector, unlike the API's definition.
        0 => json!({}),
        1..=4 => json!({ "matchExpressions": [{ "key": key, "operator": "Exists" }] }),
        _ => json!({ "matchLabels": { key: rng.pick(values) } }),
    };
    let mut budget = json!({
        "spec": { "selector": selector },
        "status": {
            "disruptionsAllowed": rng.pick(&[0, 0, 0, 1, 2]), "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1,
        },
    });
    if rng.chance(20) {
        // The evictions of these pods were granted already.
        let pods: Map<String, Value> =
            (0..40).step_by(3).map(|number| (format!("there-{number:03}"), json!(GRANTED))).collect();
        budget["status"]["disruptedPods"] = json!(pods);
    }
    budget
}

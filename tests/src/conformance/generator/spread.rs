//! Generates topology spread constraints, with every policy.

use serde_json::{Map, Value, json};

use super::labels::{HOSTNAME, POD_LABELS, TOPOLOGIES, ZONE, requirement, selector};
use super::rng::Rng;

/// One or two constraints for a pod with these labels.
pub(super) fn constraints(rng: &mut Rng, labels: &Map<String, Value>) -> Value {
    let mut constraints: Vec<Value> = Vec::new();
    for _ in 0..rng.between(1, 2) {
        let one = constraint(rng, labels);
        let pair = |of: &Value| (of["topologyKey"].clone(), of["whenUnsatisfiable"].clone());
        // The API server refuses two with the same key and action.
        if !constraints.iter().any(|other| pair(other) == pair(&one)) {
            constraints.push(one);
        }
    }
    json!(constraints)
}

fn constraint(rng: &mut Rng, labels: &Map<String, Value>) -> Value {
    let action = *rng.pick(&["DoNotSchedule", "ScheduleAnyway"]);
    let mut constraint = json!({
        "maxSkew": rng.between(1, 3),
        "topologyKey": if rng.chance(70) { rng.pick(&[HOSTNAME, ZONE]) } else { rng.pick(&TOPOLOGIES) },
        "whenUnsatisfiable": action,
    });
    match rng.below(10) {
        0 => {}
        1 | 2 => by_key(rng, labels, &mut constraint),
        _ => constraint["labelSelector"] = selector(rng),
    }
    if action == "DoNotSchedule" && rng.chance(30) {
        constraint["minDomains"] = json!(rng.between(1, 5));
    }
    if rng.chance(40) {
        constraint["nodeAffinityPolicy"] = json!(rng.pick(&["Honor", "Ignore"]));
    }
    if rng.chance(40) {
        constraint["nodeTaintsPolicy"] = json!(rng.pick(&["Honor", "Ignore"]));
    }
    constraint
}

/// A constraint with `matchLabelKeys`. The API server now merges these keys into the selector, and older ones did not: both forms
/// occur.
fn by_key(rng: &mut Rng, labels: &Map<String, Value>, constraint: &mut Value) {
    let mut requirements = vec![requirement(rng, &POD_LABELS[..2])];
    if let Some(release) = labels.get("release").filter(|_| rng.chance(60)) {
        requirements.push(json!({ "key": "release", "operator": "In", "values": [release] }));
    }
    constraint["labelSelector"] = json!({ "matchExpressions": requirements });
    constraint["matchLabelKeys"] = json!(["release"]);
}

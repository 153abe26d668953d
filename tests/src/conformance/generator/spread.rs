//! Topology spread constraints, with every policy.

use serde_json::{Value, json};

use super::labels::{TOPOLOGIES, selector};
use super::rng::Rng;

/// One or two constraints.
pub(super) fn constraints(rng: &mut Rng) -> Value {
    let mut constraints: Vec<Value> = Vec::new();
    for _ in 0..rng.between(1, 2) {
        let one = constraint(rng);
        let pair = |of: &Value| (of["topologyKey"].clone(), of["whenUnsatisfiable"].clone());
        // The API server refuses two with the same key and action.
        if !constraints.iter().any(|other| pair(other) == pair(&one)) {
            constraints.push(one);
        }
    }
    json!(constraints)
}

fn constraint(rng: &mut Rng) -> Value {
    let action = *rng.pick(&["DoNotSchedule", "ScheduleAnyway"]);
    let mut constraint = json!({
        "maxSkew": rng.between(1, 3),
        "topologyKey": rng.pick(&TOPOLOGIES),
        "whenUnsatisfiable": action,
    });
    if !rng.chance(10) {
        constraint["labelSelector"] = selector(rng);
        if rng.chance(20) {
            constraint["matchLabelKeys"] = json!(["release"]);
        }
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

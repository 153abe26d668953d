//! Tolerations: of what nodes are tainted with, of other things, of everything.

use serde_json::{Map, Value, json};

use super::nodes::{EFFECTS, TAINTS};
use super::rng::Rng;

/// None to four of them.
pub(super) fn tolerations(rng: &mut Rng, percent: u64) -> Vec<Value> {
    let mut tolerations = Vec::new();
    while tolerations.len() < 4 && rng.chance(percent) {
        tolerations.push(toleration(rng));
    }
    tolerations
}

fn toleration(rng: &mut Rng) -> Value {
    let (key, values) = *rng.pick(&TAINTS);
    let mut toleration = Map::new();
    let mut put = |name: &str, value: &str| drop(toleration.insert(name.to_owned(), json!(value)));
    let everything = rng.chance(6);
    if everything {
        put("operator", "Exists");
    } else if rng.chance(10) {
        put("key", "node.kubernetes.io/unschedulable");
        put("operator", "Exists");
    } else if rng.chance(50) {
        put("key", key);
        put("operator", "Exists");
    } else {
        // Without a key it is not for the API server, but schedulers have a rule for it.
        if !rng.chance(5) {
            put("key", key);
        }
        let value = *rng.pick(values);
        put("value", value);
        match rng.below(20) {
            0..=9 => put("operator", "Equal"),
            // Behind a gate that is off, and so tolerating nothing.
            10 => put("operator", "Gt"),
            _ => {}
        }
    }
    if rng.chance(50) {
        let effect = *rng.pick(&EFFECTS);
        put("effect", effect);
    }
    Value::Object(toleration)
}

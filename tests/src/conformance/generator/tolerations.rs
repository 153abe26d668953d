//! Generates tolerations: of the taints of nodes, of other taints, of all taints.

use serde_json::{Map, Value, json};

use super::nodes::{EFFECTS, TAINTS};
use super::rng::Rng;

/// Zero to four tolerations.
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
        // The API server refuses `Equal` without a key, but schedulers have a rule for it.
        if !rng.chance(5) {
            put("key", key);
        }
        let value = *rng.pick(values);
        put("value", value);
        match rng.below(20) {
            0..=9 => put("operator", "Equal"),
            // `Gt` needs a feature gate that is off, so it tolerates nothing.
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

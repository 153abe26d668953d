//! Node selectors, node affinity, and affinity and anti-affinity to pods, required and preferred.

use serde_json::{Value, json};

use super::labels::{NAMESPACES, NODE_LABELS, TOPOLOGIES, labels, requirement, selector};
use super::mix::Mix;
use super::nodes::Plot;
use super::rng::Rng;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Puts affinity of every kind into a pod's spec.
pub(super) fn fill(rng: &mut Rng, mix: &Mix, nodes: &[Plot], spec: &mut Value) {
    if rng.chance(mix.node_affinity / 4) {
        spec["nodeSelector"] = json!(labels(rng, &NODE_LABELS, 35));
    }
    if rng.chance(mix.node_affinity / 3) {
        let terms: Vec<Value> = (0..rng.between(1, 2)).map(|_| node_term(rng, nodes)).collect();
        spec["affinity"]["nodeAffinity"][REQUIRED] = json!({ "nodeSelectorTerms": terms });
    }
    if rng.chance(mix.node_affinity) {
        let preferred = |rng: &mut Rng| json!({ "weight": rng.between(1, 100), "preference": { "matchExpressions": [node_requirement(rng)] } });
        let terms: Vec<Value> = (0..rng.between(1, 3)).map(|_| preferred(rng)).collect();
        spec["affinity"]["nodeAffinity"][PREFERRED] = json!(terms);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        if rng.chance(mix.pod_affinity / 4) {
            spec["affinity"][kind][REQUIRED] = json!([pod_term(rng)]);
        }
        if rng.chance(mix.pod_affinity / 2) {
            let weighted =
                |rng: &mut Rng| json!({ "weight": rng.between(1, 100), "podAffinityTerm": pod_term(rng) });
            let terms: Vec<Value> = (0..rng.between(1, 2)).map(|_| weighted(rng)).collect();
            spec["affinity"][kind][PREFERRED] = json!(terms);
        }
    }
}

/// A term about labels or, sometimes, about the name of the node.
fn node_term(rng: &mut Rng, nodes: &[Plot]) -> Value {
    if rng.chance(15) {
        let name = &rng.pick(nodes).name;
        let operator = rng.pick(&["In", "In", "NotIn"]);
        return json!({ "matchFields": [{ "key": "metadata.name", "operator": operator, "values": [name] }] });
    }
    let requirements: Vec<Value> = (0..rng.between(1, 2)).map(|_| node_requirement(rng)).collect();
    json!({ "matchExpressions": requirements })
}

fn node_requirement(rng: &mut Rng) -> Value {
    if rng.chance(15) {
        let operator = rng.pick(&["Gt", "Lt"]);
        return json!({ "key": "cores", "operator": operator, "values": [rng.pick(&["4", "15", "96"])] });
    }
    requirement(rng, &NODE_LABELS)
}

fn pod_term(rng: &mut Rng) -> Value {
    let mut term = json!({ "labelSelector": selector(rng), "topologyKey": rng.pick(&TOPOLOGIES) });
    match rng.below(6) {
        0 => term["namespaces"] = json!([rng.pick(&NAMESPACES)]),
        1 => term["namespaceSelector"] = json!({}),
        2 => term["namespaceSelector"] = json!({ "matchLabels": { "team": rng.pick(&["red", "blue"]) } }),
        _ => {}
    }
    term
}

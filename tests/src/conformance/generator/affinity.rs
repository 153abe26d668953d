//! Generates node selectors, node affinity, and pod affinity and anti-affinity, required and preferred.

use serde_json::{Value, json};

use super::labels::{NAMESPACES, NODE_LABELS, TOPOLOGIES, labels, requirement, selector};
use super::mix::Mix;
use super::nodes::GeneratedNode;
use super::rng::Rng;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Puts affinity of every kind into a pod's spec.
pub(super) fn fill(rng: &mut Rng, mix: &Mix, nodes: &[GeneratedNode], spec: &mut Value) {
    if rng.chance(mix.node_affinity / 8) {
        let wanted = labels(rng, &NODE_LABELS, 25);
        // The API server does not store an empty selector.
        if !wanted.is_empty() {
            spec["nodeSelector"] = json!(wanted);
        }
    }
    if rng.chance(mix.node_affinity / 5) {
        let terms: Vec<Value> = (0..rng.between(1, 2)).map(|_| node_term(rng, nodes)).collect();
        spec["affinity"]["nodeAffinity"][REQUIRED] = json!({ "nodeSelectorTerms": terms });
    }
    if rng.chance(mix.node_affinity) {
        let preferred =
            |rng: &mut Rng| json!({ "weight": rng.between(1, 100), "preference": node_term(rng, nodes) });
        let terms: Vec<Value> = (0..rng.between(1, 3)).map(|_| preferred(rng)).collect();
        spec["affinity"]["nodeAffinity"][PREFERRED] = json!(terms);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        if rng.chance(mix.pod_affinity / 5) {
            let terms: Vec<Value> = (0..*rng.pick(&[1, 1, 1, 2])).map(|_| pod_term(rng)).collect();
            spec["affinity"][kind][REQUIRED] = json!(terms);
        }
        if rng.chance(mix.pod_affinity / 2) {
            let weighted =
                |rng: &mut Rng| json!({ "weight": rng.between(1, 100), "podAffinityTerm": pod_term(rng) });
            let terms: Vec<Value> = (0..rng.between(1, 2)).map(|_| weighted(rng)).collect();
            spec["affinity"][kind][PREFERRED] = json!(terms);
        }
    }
}

/// A term with `matchExpressions`, with `matchFields`, with both, or, rarely, with neither.
fn node_term(rng: &mut Rng, nodes: &[GeneratedNode]) -> Value {
    let mut term = json!({});
    let about = rng.below(100);
    if about < 18 {
        let name = if rng.chance(8) { "no-such-node" } else { rng.pick(nodes).name.as_str() };
        let operator = rng.pick(&["In", "In", "In", "NotIn"]);
        let mut fields = vec![json!({ "key": "metadata.name", "operator": operator, "values": [name] })];
        if rng.chance(8) {
            let other = &rng.pick(nodes).name;
            fields.push(json!({ "key": "metadata.name", "operator": "In", "values": [other] }));
        }
        term["matchFields"] = json!(fields);
    }
    if (13..97).contains(&about) {
        let requirements: Vec<Value> = (0..*rng.pick(&[1, 1, 2])).map(|_| node_requirement(rng)).collect();
        term["matchExpressions"] = json!(requirements);
    }
    term
}

fn node_requirement(rng: &mut Rng) -> Value {
    if rng.chance(15) {
        let operator = rng.pick(&["Gt", "Lt"]);
        // Not every label is a number.
        let key = rng.pick(&["cores", "cores", "cores", "pool"]);
        return json!({ "key": key, "operator": operator, "values": [rng.pick(&["4", "15", "96"])] });
    }
    requirement(rng, &NODE_LABELS)
}

fn pod_term(rng: &mut Rng) -> Value {
    let mut term = json!({ "topologyKey": rng.pick(&TOPOLOGIES) });
    // A term without a selector matches no pod, with an empty selector all pods.
    if !rng.chance(4) {
        term["labelSelector"] = selector(rng);
    }
    let team = |rng: &mut Rng| json!({ "matchLabels": { "team": rng.pick(&["red", "blue"]) } });
    match rng.below(10) {
        0 => term["namespaces"] = json!([rng.pick(&NAMESPACES)]),
        1 => term["namespaces"] = json!(["shop", "default"]),
        2 => term["namespaceSelector"] = json!({}),
        3 => term["namespaceSelector"] = team(rng),
        4 => {
            term["namespaceSelector"] =
                json!({ "matchExpressions": [{ "key": "team", "operator": "NotIn", "values": ["red"] }] });
        }
        5 => {
            term["namespaces"] = json!([rng.pick(&NAMESPACES)]);
            term["namespaceSelector"] = team(rng);
        }
        _ => {}
    }
    term
}

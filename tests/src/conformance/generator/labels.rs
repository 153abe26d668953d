//! Labels and namespaces of generated clusters: few, so that selectors often match.

use super::rng::Rng;
use serde_json::{Map, Value, json};

pub(super) const NAMESPACES: [&str; 4] = ["default", "shop", "batch", "kube-system"];
/// Labels of pods: keys and values.
pub(super) const POD_LABELS: [(&str, &[&str]); 3] =
    [("app", &["web", "db", "cache"]), ("tier", &["front", "back"]), ("release", &["a", "b"])];
/// Labels of nodes: keys and values.
pub(super) const NODE_LABELS: [(&str, &[&str]); 4] = [
    ("disk", &["ssd", "hdd"]),
    ("kubernetes.io/arch", &["amd64", "arm64"]),
    ("pool", &["general", "spot", "gpu"]),
    ("cores", &["4", "16", "96"]),
];
/// Topology keys.
pub(super) const TOPOLOGIES: [&str; 5] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    BETA_ZONE,
    "pool",
];
/// Nearly every node has this label.
pub(super) const HOSTNAME: &str = TOPOLOGIES[0];
pub(super) const ZONE: &str = TOPOLOGIES[1];
/// The deprecated label of zones.
pub(super) const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
pub(super) const REGION: &str = TOPOLOGIES[2];

/// Each key of `choices` with a chance of `percent`, with a random value.
pub(super) fn labels(rng: &mut Rng, choices: &[(&str, &[&str])], percent: u64) -> Map<String, Value> {
    let mut labels = Map::new();
    for (key, values) in choices {
        if rng.chance(percent) {
            labels.insert((*key).to_owned(), json!(rng.pick(values)));
        }
    }
    labels
}

/// A label selector for pods, sometimes an empty one.
pub(super) fn selector(rng: &mut Rng) -> Value {
    match rng.below(10) {
        0 => json!({}),
        1..=5 => json!({ "matchLabels": labels(rng, &POD_LABELS, 50) }),
        _ => json!({ "matchExpressions": [requirement(rng, &POD_LABELS)] }),
    }
}

/// One requirement, with any operator that label selectors have.
pub(super) fn requirement(rng: &mut Rng, choices: &[(&str, &[&str])]) -> Value {
    let (key, values) = *rng.pick(choices);
    let mut some: Vec<&str> = values.iter().copied().filter(|_| rng.chance(60)).collect();
    if some.is_empty() {
        some.push(*rng.pick(values));
    }
    match rng.below(4) {
        0 => json!({ "key": key, "operator": "In", "values": some }),
        1 => json!({ "key": key, "operator": "NotIn", "values": some }),
        2 => json!({ "key": key, "operator": "Exists" }),
        _ => json!({ "key": key, "operator": "DoesNotExist" }),
    }
}

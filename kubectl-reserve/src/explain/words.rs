//! Selectors, labels and taints as short texts, and which of the pod's requirements a node does not meet.

use common::model::requirement::{Operator, Requirement};
use common::model::taint::Taint;
use common::model::{Labels, Node, Pod, Selector};

/// A requirement of the pod on a node's labels that the node does not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnmetRequirement {
    /// The label's key.
    pub(super) key: String,
    /// The node's value of the label.
    pub(super) has: Option<String>,
    /// The requirement, as text.
    pub(super) wants: String,
    /// How the label would have to change: `Some(Some(value))` to set it, `Some(None)` to remove it, `None` if unknown.
    pub(super) cure: Option<Option<String>>,
}

impl UnmetRequirement {
    /// For example `disktype=hdd, pod wants disktype=ssd`.
    pub(super) fn words(&self) -> String {
        match &self.has {
            Some(has) => format!("{}={has}, pod wants {}", self.key, self.wants),
            None => format!("no label {}, pod wants {}", self.key, self.wants),
        }
    }
}

/// The requirements that the node does not meet: of the pod's nodeSelector, and of that term of its node affinity of which the
/// fewest are not met.
pub(super) fn unmet_requirements(pod: &Pod, node: &Node) -> Vec<UnmetRequirement> {
    let mut found = Vec::new();
    for (key, value) in pod.spec.node_selector.iter().flat_map(Labels::iter) {
        let has = node.labels.get(key);
        if has != Some(value) {
            found.push(UnmetRequirement {
                key: key.to_owned(),
                has: has.map(str::to_owned),
                wants: format!("{key}={value}"),
                cure: Some(Some(value.to_owned())),
            });
        }
    }
    let affinity = pod.spec.affinity.as_deref().and_then(|affinity| affinity.node.as_ref());
    let Some(required) = affinity.and_then(|affinity| affinity.required.as_ref()) else { return found };
    if required.matches(&node.labels, node.name.as_str()) {
        return found;
    }
    let of_term = |term: &common::model::affinity::NodeSelectorTerm| {
        let labels = term.expressions().iter().filter(|one| !one.matches(&node.labels));
        let mut all: Vec<UnmetRequirement> = labels.map(|one| unmet_expression(one, &node.labels)).collect();
        let is_named = |field: &Requirement| field.values.iter().any(|value| **value == *node.name.as_str());
        let fields = term.fields().iter().filter(|one| is_named(one) != (one.operator == Operator::In));
        all.extend(fields.map(|one| UnmetRequirement {
            key: one.key.to_string(),
            has: Some(node.name.to_string()),
            wants: requirement(one),
            cure: None,
        }));
        all
    };
    found.extend(required.terms.iter().map(of_term).min_by_key(Vec::len).unwrap_or_default());
    found
}

fn unmet_expression(one: &Requirement, labels: &Labels) -> UnmetRequirement {
    let first = || one.values.first().map(|value| Some(value.to_string()));
    let cure = match one.operator {
        Operator::In => first(),
        Operator::Exists => Some(Some("true".to_owned())),
        Operator::NotIn | Operator::DoesNotExist => Some(None),
        Operator::Gt | Operator::Lt | Operator::Other => None,
    };
    let has = labels.get(&one.key).map(str::to_owned);
    UnmetRequirement { key: one.key.to_string(), has, wants: requirement(one), cure }
}

/// A requirement as text: `app=web`, `tier in (a, b)`, `no label spot`.
pub(super) fn requirement(one: &Requirement) -> String {
    let key = &one.key;
    let list = one.values.join(", ");
    match (one.operator, &*one.values) {
        (Operator::In, [value]) => format!("{key}={value}"),
        (Operator::NotIn, [value]) => format!("{key}!={value}"),
        (Operator::In, _) => format!("{key} in ({list})"),
        (Operator::NotIn, _) => format!("{key} not in ({list})"),
        (Operator::Exists, _) => format!("a label {key}"),
        (Operator::DoesNotExist, _) => format!("no label {key}"),
        (Operator::Gt, _) => format!("{key} > {list}"),
        (Operator::Lt, _) => format!("{key} < {list}"),
        (Operator::Other, _) => format!("{key} {}", one.operator.as_str()),
    }
}

/// A selector as text: `app=web, tier in (a, b)`.
pub(super) fn selector(selector: Option<&Selector>) -> String {
    let Some(selector) = selector else { return "no pod".to_owned() };
    let all: Vec<String> = selector.requirements().iter().map(requirement).collect();
    if all.is_empty() { "any pod".to_owned() } else { all.join(", ") }
}

/// A taint as kubectl writes it: `key=value:Effect`.
pub(super) fn taint(taint: &Taint) -> String {
    let effect = taint.effect.as_str();
    match &*taint.value {
        "" => format!("{}:{effect}", taint.key),
        value => format!("{}={value}:{effect}", taint.key),
    }
}

/// The taints of the node that the pod does not tolerate, without those of effect PreferNoSchedule.
pub(super) fn untolerated_taints<'n>(pod: &Pod, node: &'n Node) -> Vec<&'n Taint> {
    let is_tolerated = |taint: &Taint| pod.spec.tolerations.iter().any(|one| one.tolerates(taint));
    node.taints.iter().filter(|taint| taint.effect.repels() && !is_tolerated(taint)).collect()
}

/// The last part of a label's key: `topology.kubernetes.io/zone` as `zone`.
pub(super) fn short_key(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// `1 node`, `3 nodes`.
pub(in crate::explain) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

//! Selectors, labels and taints in a few plain words.

use common::model::requirement::{Operator, Requirement};
use common::model::taint::Taint;
use common::model::{Labels, Node, Pod, Selector};

/// Something that the pod wants of a node's labels and does not find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unmet {
    /// The label.
    pub(super) key: String,
    /// What the node has there.
    pub(super) has: Option<String>,
    /// What the pod wants, in words.
    pub(super) wants: String,
    /// The value that would do; `None` inside if the label would have to go. Nothing if neither is known.
    pub(super) cure: Option<Option<String>>,
}

impl Unmet {
    /// `disktype=hdd, pod wants disktype=ssd`.
    pub(super) fn words(&self) -> String {
        match &self.has {
            Some(has) => format!("{}={has}, pod wants {}", self.key, self.wants),
            None => format!("no label {}, pod wants {}", self.key, self.wants),
        }
    }
}

/// What the pod wants of the node's labels and does not find: its selector, and of the terms of its affinity the one that is
/// nearest.
pub(super) fn unmet(pod: &Pod, node: &Node) -> Vec<Unmet> {
    let mut found = Vec::new();
    for (key, value) in pod.spec.node_selector.iter().flat_map(Labels::iter) {
        let has = node.labels.get(key);
        if has != Some(value) {
            found.push(Unmet {
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
    let of_term = |term: &common::model::affinity::NodeTerm| {
        let labels = term.expressions().iter().filter(|one| !one.matches(&node.labels));
        let mut all: Vec<Unmet> = labels.map(|one| wanted(one, &node.labels)).collect();
        let is_named = |field: &Requirement| field.values.iter().any(|value| **value == *node.name.as_str());
        let fields = term.fields().iter().filter(|one| is_named(one) != (one.operator == Operator::In));
        all.extend(fields.map(|one| Unmet {
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

fn wanted(one: &Requirement, labels: &Labels) -> Unmet {
    let first = || one.values.first().map(|value| Some(value.to_string()));
    let cure = match one.operator {
        Operator::In => first(),
        Operator::Exists => Some(Some("true".to_owned())),
        Operator::NotIn | Operator::DoesNotExist => Some(None),
        Operator::Gt | Operator::Lt | Operator::Other => None,
    };
    let has = labels.get(&one.key).map(str::to_owned);
    Unmet { key: one.key.to_string(), has, wants: requirement(one), cure }
}

/// `app=web`, `tier in (a, b)`, `!spot`.
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

/// `app=web, tier in (a, b)`.
pub(super) fn selector(selector: Option<&Selector>) -> String {
    let Some(selector) = selector else { return "no pod".to_owned() };
    let all: Vec<String> = selector.requirements().iter().map(requirement).collect();
    if all.is_empty() { "any pod".to_owned() } else { all.join(", ") }
}

/// `key=value:Effect`, as kubectl writes it.
pub(super) fn taint(taint: &Taint) -> String {
    let effect = taint.effect.as_str();
    match &*taint.value {
        "" => format!("{}:{effect}", taint.key),
        value => format!("{}={value}:{effect}", taint.key),
    }
}

/// The taints that keep the pod off the node.
pub(super) fn repelling<'n>(pod: &Pod, node: &'n Node) -> Vec<&'n Taint> {
    let is_tolerated = |taint: &Taint| pod.spec.tolerations.iter().any(|one| one.tolerates(taint));
    node.taints.iter().filter(|taint| taint.effect.repels() && !is_tolerated(taint)).collect()
}

/// The last word of a label's key: `topology.kubernetes.io/zone` as `zone`.
pub(super) fn short_key(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// `1 node`, `3 nodes`.
pub(in crate::explain) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

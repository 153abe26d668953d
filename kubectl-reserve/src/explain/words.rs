//! Selectors, labels and taints as short texts.

use common::model::Selector;
use common::model::requirement::{Operator, Requirement};
use common::model::taint::Taint;

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

/// The last part of a label's key: `topology.kubernetes.io/zone` as `zone`.
pub(super) fn short_key(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// `1 node`, `3 nodes`.
pub(in crate::explain) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

//! `--sort-by`: sorts the items of a document by the value at a path.

use super::jsonpath::Template;
use common::model::quantity::Quantity;
use serde_json::Value;
use std::cmp::Ordering;

/// The sorted items, as positions. Items without the field come first, as in kubectl; equal items keep their order.
pub(super) fn order(items: &[Value], path: &str) -> Result<Vec<usize>, String> {
    let template = Template::path(path)?;
    let mut keys = Vec::with_capacity(items.len());
    for item in items {
        keys.push(template.find(item)?.first().map(|value| value.clone().into_owned()));
    }
    if !items.is_empty() && keys.iter().all(Option::is_none) {
        return Err(format!("couldn't find any field with path {path:?} in the list of objects"));
    }
    let mut positions: Vec<usize> = (0..items.len()).collect();
    positions.sort_by(|a, b| match (keys.get(*a).cloned().flatten(), keys.get(*b).cloned().flatten()) {
        (Some(a), Some(b)) => compare(&a, &b),
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
    Ok(positions)
}

/// Compares numbers and quantities by value, everything else as text.
fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
        },
        (Value::String(a), Value::String(b)) => match (a.parse::<Quantity>(), b.parse::<Quantity>()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            _ => a.cmp(b),
        },
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        _ => super::go::sprint(a).cmp(&super::go::sprint(b)),
    }
}

/// `lines` in this order. Lines beyond the number of positions, such as a total, stay at the end.
pub(super) fn arrange<T: Clone>(lines: &[T], order: &[usize]) -> Vec<T> {
    let first = order.iter().filter_map(|position| lines.get(*position)).cloned();
    first.chain(lines.iter().skip(order.len()).cloned()).collect()
}

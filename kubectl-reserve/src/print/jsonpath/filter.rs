//! Filters: `[?(@.x == "y")]` keeps some elements of a list.

use super::FilterExpression;
use super::cursor::Cursor;
use super::parse::path;
use serde_json::Value;
use std::cmp::Ordering;

/// An operator, and for which orders of its sides it holds.
type Operator = (&'static str, fn(Ordering) -> bool);

const OPERATORS: [Operator; 6] = [
    ("==", Ordering::is_eq),
    ("!=", Ordering::is_ne),
    ("<", Ordering::is_lt),
    ("<=", Ordering::is_le),
    (">", Ordering::is_gt),
    (">=", Ordering::is_ge),
];

/// Parses a filter, after its `[?(`.
pub(super) fn read(cursor: &mut Cursor<'_>, depth: usize) -> Result<FilterExpression, String> {
    let text = inside(cursor)?;
    let Some(at) = text.find(['!', '<', '>', '=']).filter(|at| *at > 0) else {
        return Ok(FilterExpression { left: path(text, depth)?, compared: None });
    };
    let (left, rest) = text.split_at(at);
    let right = rest.trim_start_matches(['!', '<', '>', '=']);
    let operator = rest.strip_suffix(right).unwrap_or(rest);
    let operator = known(operator)?;
    if right.is_empty() {
        return Err(format!("nothing after {operator} in the filter {text:?}"));
    }
    Ok(FilterExpression { left: path(left, depth)?, compared: Some((operator, path(right, depth)?)) })
}

/// Consumes everything up to the `)]` that is not in quotes, and that `)]`, too. Returns the text before it.
fn inside<'t>(cursor: &mut Cursor<'t>) -> Result<&'t str, String> {
    let mut quote = None;
    let mut before = None;
    let mut end = None;
    for (at, character) in cursor.rest().char_indices() {
        match (character, quote) {
            ('\n', _) => break,
            ('"' | '\'', None) => quote = Some(character),
            (_, Some(open)) if character == open && before != Some('\\') => quote = None,
            (')', None) => {
                end = Some(at);
                break;
            }
            _ => {}
        }
        before = Some(character);
    }
    let text = cursor.skip(end.ok_or("unterminated filter")?);
    if cursor.take(")]") { Ok(text) } else { Err("unclosed array expect ]".to_owned()) }
}

fn known(operator: &str) -> Result<&'static str, String> {
    let known = OPERATORS.iter().find(|(known, _)| *known == operator);
    known.map(|(known, _)| *known).ok_or_else(|| format!("unrecognized filter operator {operator}"))
}

/// Whether the comparison holds. As in kubectl, only values of the same type can be compared.
pub(super) fn holds(operator: &str, left: &Value, right: &Value) -> Result<bool, String> {
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            (None, None) => left.as_f64().partial_cmp(&right.as_f64()),
            _ => return Err("incompatible types for comparison".to_owned()),
        },
        (Value::Bool(left), Value::Bool(right)) if matches!(operator, "==" | "!=") => Some(left.cmp(right)),
        (Value::Bool(_), Value::Bool(_)) => return Err("invalid type for comparison".to_owned()),
        _ if is_basic(left) && is_basic(right) => return Err("incompatible types for comparison".to_owned()),
        _ => return Err("invalid type for comparison".to_owned()),
    };
    // Numbers without an order are not equal.
    let is_held = |(_, is_held): &Operator| order.map_or(operator == "!=", is_held);
    Ok(OPERATORS.iter().find(|(known, _)| *known == operator).is_some_and(is_held))
}

fn is_basic(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

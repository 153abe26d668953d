//! Filters: `[?(@.x == "y")]` keeps some elements of a list.

use super::cursor::Cursor;
use super::parse::path;
use super::{Comparison, FilterExpression};
use serde_json::Value;
use std::cmp::Ordering;

/// Parses a filter, after its `[?(`.
pub(super) fn read(cursor: &mut Cursor<'_>, depth: usize) -> Result<FilterExpression, String> {
    let text = inside(cursor)?;
    let Some(at) = text.find(['!', '<', '>', '=']).filter(|at| *at > 0) else {
        return Ok(FilterExpression { left: path(text, depth)?, compared: None });
    };
    let (left, rest) = text.split_at(at);
    let right = rest.trim_start_matches(['!', '<', '>', '=']);
    let operator = rest.strip_suffix(right).unwrap_or(rest);
    let comparison = comparison(operator)?;
    if right.is_empty() {
        return Err(format!("nothing after {operator} in the filter {text:?}"));
    }
    Ok(FilterExpression { left: path(left, depth)?, compared: Some((comparison, path(right, depth)?)) })
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

fn comparison(operator: &str) -> Result<Comparison, String> {
    match operator {
        "==" => Ok(Comparison::Equal),
        "!=" => Ok(Comparison::NotEqual),
        "<" => Ok(Comparison::Less),
        "<=" => Ok(Comparison::LessOrEqual),
        ">" => Ok(Comparison::Greater),
        ">=" => Ok(Comparison::GreaterOrEqual),
        _ => Err(format!("unrecognized filter operator {operator}")),
    }
}

impl Comparison {
    /// Whether the comparison holds. As in kubectl, only values of the same type can be compared.
    pub(super) fn holds(self, left: &Value, right: &Value) -> Result<bool, String> {
        let order = match (left, right) {
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => Some(left.cmp(&right)),
                (None, None) => left.as_f64().partial_cmp(&right.as_f64()),
                _ => return Err("incompatible types for comparison".to_owned()),
            },
            (Value::Bool(left), Value::Bool(right)) => match self {
                Self::Equal => return Ok(left == right),
                Self::NotEqual => return Ok(left != right),
                _ => return Err("invalid type for comparison".to_owned()),
            },
            _ if is_basic(left) && is_basic(right) => {
                return Err("incompatible types for comparison".to_owned());
            }
            _ => return Err("invalid type for comparison".to_owned()),
        };
        Ok(match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::NotEqual => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        })
    }
}

fn is_basic(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

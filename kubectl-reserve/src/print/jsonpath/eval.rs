//! Evaluates a template for a document. As in kubectl, a missing field is no error and has no values; an index out of bounds is an
//! error.

use super::super::go;
use super::filter::holds;
use super::{End, FilterExpression, PathStep, Piece, Slice, Values};
use serde_json::Value;
use std::borrow::Cow;

pub(super) fn write(pieces: &[Piece], document: &Value, text: &mut String) -> Result<(), String> {
    for piece in pieces {
        match piece {
            Piece::Text(plain) => text.push_str(plain),
            Piece::Path(steps) => {
                let found = walk(steps, vec![Cow::Borrowed(document)])?;
                let texts: Vec<String> = found.iter().map(|value| go::text(value)).collect();
                text.push_str(&texts.join(" "));
            }
            Piece::Range(steps, inside) => {
                for value in walk(steps, vec![Cow::Borrowed(document)])? {
                    write(inside, &value, text)?;
                }
            }
        }
    }
    Ok(())
}

pub(super) fn walk<'v>(steps: &[PathStep], start: Values<'v>) -> Result<Values<'v>, String> {
    let mut found = start;
    for step in steps {
        found = apply_step(step, found)?;
    }
    Ok(found)
}

fn apply_step<'v>(step: &PathStep, found: Values<'v>) -> Result<Values<'v>, String> {
    Ok(match step {
        // A text replaces all current values at once, a number or boolean replaces each of them.
        PathStep::Literal(text @ Value::String(_)) => vec![Cow::Owned(text.clone())],
        PathStep::Literal(literal) => found.iter().map(|_| Cow::Owned(literal.clone())).collect(),
        PathStep::Field(name) => found.into_iter().filter_map(|value| field(value, name)).collect(),
        PathStep::All => found.into_iter().flat_map(children).collect(),
        PathStep::Descend => descend(found),
        PathStep::Slice(slice) => {
            let mut elements = Vec::new();
            for value in found {
                elements.extend(slice.of(value)?);
            }
            elements
        }
        PathStep::Union(paths) => {
            let mut together = Vec::new();
            for path in paths {
                together.extend(walk(path, found.clone())?);
            }
            together
        }
        PathStep::Filter(filter) => {
            let mut elements = Vec::new();
            for value in found {
                filter.keep(value, &mut elements)?;
            }
            elements
        }
    })
}

fn field<'v>(value: Cow<'v, Value>, name: &str) -> Option<Cow<'v, Value>> {
    match value {
        Cow::Borrowed(value) => value.get(name).map(Cow::Borrowed),
        Cow::Owned(value) => value.get(name).cloned().map(Cow::Owned),
    }
}

/// The elements of a list or the values of an object; other values have none.
fn children(value: Cow<'_, Value>) -> Values<'_> {
    match value {
        Cow::Borrowed(Value::Array(elements)) => elements.iter().map(Cow::Borrowed).collect(),
        Cow::Borrowed(Value::Object(fields)) => fields.values().map(Cow::Borrowed).collect(),
        Cow::Owned(Value::Array(elements)) => elements.into_iter().map(Cow::Owned).collect(),
        Cow::Owned(Value::Object(fields)) => fields.into_iter().map(|(_, value)| Cow::Owned(value)).collect(),
        _ => Vec::new(),
    }
}

/// The values and everything below them, without empty ones; of plain values only texts, as in kubectl.
fn descend(found: Values<'_>) -> Values<'_> {
    let mut all = Vec::new();
    // The recursion is bounded: the JSON reader limits the depth of documents.
    for value in found {
        let below = children(value.clone());
        let is_text = matches!(&*value, Value::String(text) if !text.is_empty());
        if !below.is_empty() || is_text {
            all.push(value);
            all.extend(descend(below));
        }
    }
    all
}

impl Slice {
    fn of<'v>(&self, value: Cow<'v, Value>) -> Result<Values<'v>, String> {
        let length = match &*value {
            Value::Null => return Ok(Vec::new()),
            Value::Array(elements) => i64::try_from(elements.len()).unwrap_or(i64::MAX),
            other => return Err(format!("{} is not array or slice", kind(other))),
        };
        let from_end = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
        let first = from_end(self.from.unwrap_or(0));
        let end = match self.to {
            End::First => first.saturating_add(1),
            End::Before(index) => from_end(index),
            End::Last => length,
        };
        if first == end {
            return Ok(Vec::new());
        }
        let out_of_bounds = |index: i64| format!("array index out of bounds: index {index}, length {length}");
        if !(0..length).contains(&first) {
            return Err(out_of_bounds(first));
        }
        if !(0..=length).contains(&end) {
            return Err(out_of_bounds(end.saturating_sub(1)));
        }
        if first > end {
            return Err(format!("starting index {first} is greater than ending index {end}"));
        }
        let by = self.by.unwrap_or(1);
        let by = usize::try_from(by).ok().filter(|by| *by > 0).ok_or("step must be > 0")?;
        let (first, count) = (usize::try_from(first).unwrap_or(0), usize::try_from(end - first).unwrap_or(0));
        Ok(children(value).into_iter().skip(first).take(count).step_by(by).collect())
    }
}

impl FilterExpression {
    fn keep<'v>(&self, list: Cow<'v, Value>, elements: &mut Values<'v>) -> Result<(), String> {
        if !list.is_array() {
            return Err(format!("{} is not array or slice and cannot be filtered", kind(&list)));
        }
        for element in children(list) {
            if self.is_kept(&element)? {
                elements.push(element);
            }
        }
        Ok(())
    }

    fn is_kept(&self, element: &Value) -> Result<bool, String> {
        let side = |steps: &[PathStep]| walk(steps, vec![Cow::Borrowed(element)]);
        let Some((operator, right)) = &self.compared else {
            return Ok(side(&self.left).is_ok_and(|found| !found.is_empty()));
        };
        match (&side(&self.left)?[..], &side(right)?[..]) {
            ([], _) | (_, []) => Ok(false),
            ([left], [right]) => holds(operator, left, right),
            _ => Err("can only compare one element at a time".to_owned()),
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "map",
    }
}

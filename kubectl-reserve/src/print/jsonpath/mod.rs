//! kubectl's JSONPath templates: text with paths in braces, `{range}` … `{end}`, filters, slices. It is a dialect of its
//! own, older than the standard, so it is read by a parser of our own: `parse`, and worked out by `eval`.

mod cursor;
mod eval;
mod filter;
mod parse;
mod quote;
#[cfg(test)]
mod tests;

use serde_json::Value;
use std::borrow::Cow;

/// A template, read and understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    /// Text outside braces.
    Text(String),
    /// A path in braces.
    Path(Vec<Step>),
    /// What stands between `{range PATH}` and `{end}`, once for each thing found.
    Range(Vec<Step>, Vec<Piece>),
}

/// A step of a path: from what was found so far to what is found next.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// A text, number or boolean in the place of whatever was found.
    Literal(Value),
    Field(String),
    /// `.*`
    All,
    /// `..`
    Descend,
    Slice(Slice),
    /// `[a,b]`
    Union(Vec<Vec<Step>>),
    Filter(Filter),
}

/// `[from:to:by]`, or a single index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slice {
    from: Option<i64>,
    to: End,
    by: Option<i64>,
}

/// Where a slice ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// After its first element: it was written as a single index.
    First,
    /// Before this index.
    Before(i64),
    /// With the list.
    Last,
}

/// `[?(left OP right)]`
#[derive(Debug, Clone, PartialEq)]
struct Filter {
    left: Vec<Step>,
    /// None asks only whether there is a left side.
    compared: Option<(Comparison, Vec<Step>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What a path leads to.
type Found<'v> = Vec<Cow<'v, Value>>;

impl Template {
    /// Reads a template.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        parse::template(text)
    }

    /// Reads a path as custom columns and sorting have it: `metadata.name`, `.metadata.name`, `{metadata.name}`.
    pub(crate) fn path(text: &str) -> Result<Self, String> {
        let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
        let inside = inside.strip_prefix('.').unwrap_or(inside);
        if inside.is_empty() || inside.contains(['{', '}']) {
            return Err(format!(
                "unexpected path string {text:?}, expected a 'name1.name2' or '.name1.name2' or '{{name1.name2}}' or \
                 '{{.name1.name2}}'"
            ));
        }
        Self::new(&format!("{{.{inside}}}"))
    }

    /// What the template makes of `document`.
    pub(crate) fn text(&self, document: &Value) -> Result<String, String> {
        let mut text = String::new();
        eval::write(&self.pieces, document, &mut text)?;
        Ok(text)
    }

    /// What the template's only path leads to.
    pub(crate) fn find<'v>(&self, document: &'v Value) -> Result<Found<'v>, String> {
        let [Piece::Path(steps)] = &self.pieces[..] else { return Ok(Vec::new()) };
        eval::walk(steps, vec![Cow::Borrowed(document)])
    }
}

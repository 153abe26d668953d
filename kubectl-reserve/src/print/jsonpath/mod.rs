//! kubectl's JSONPath templates: text with paths in braces, `{range}` … `{end}`, filters, slices. This dialect is older than the
//! JSONPath standard, so it has its own parser (`parse`) and evaluator (`eval`). Entry point: [`Template`].

mod cursor;
mod eval;
mod filter;
mod parse;
mod quote;
#[cfg(test)]
mod tests;

use serde_json::Value;
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    /// Text outside braces.
    Text(String),
    Path(Vec<PathStep>),
    /// The text between `{range PATH}` and `{end}`, repeated for each value of the path.
    Range(Vec<PathStep>, Vec<Piece>),
}

/// A step of a path: from the current values to the next ones.
#[derive(Debug, Clone, PartialEq)]
enum PathStep {
    /// A text, number or boolean that replaces the current values.
    Literal(Value),
    Field(String),
    /// `.*`
    All,
    /// `..`
    Descend,
    Slice(Slice),
    /// `[a,b]`
    Union(Vec<Vec<PathStep>>),
    Filter(FilterExpression),
}

/// `[from:to:by]`, or a single index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Slice {
    from: Option<i64>,
    to: End,
    by: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// After its first element: the expression is a single index.
    First,
    /// Before this index.
    Before(i64),
    /// At the end of the list.
    Last,
}

/// `[?(left OP right)]`
#[derive(Debug, Clone, PartialEq)]
struct FilterExpression {
    left: Vec<PathStep>,
    /// The operator and the right side. `None`: the filter keeps elements for which the left side exists.
    compared: Option<(&'static str, Vec<PathStep>)>,
}

/// The values that a path leads to.
type Values<'v> = Vec<Cow<'v, Value>>;

impl Template {
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        parse::template(text)
    }

    /// Parses a path of custom columns or `--sort-by`: `metadata.name`, `.metadata.name`, `{metadata.name}`.
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

    pub(crate) fn text(&self, document: &Value) -> Result<String, String> {
        let mut text = String::new();
        eval::write(&self.pieces, document, &mut text)?;
        Ok(text)
    }

    /// The values that the template's only path leads to.
    pub(crate) fn find<'v>(&self, document: &'v Value) -> Result<Values<'v>, String> {
        let [Piece::Path(steps)] = &self.pieces[..] else { return Ok(Vec::new()) };
        eval::walk(steps, vec![Cow::Borrowed(document)])
    }
}

//! `-o`: prints a value in the requested output format. A value that can be printed implements [`Printable`]; entry points:
//! [`print()`], [`text`].

mod columns;
mod go;
mod jsonpath;
#[cfg(test)]
pub(crate) mod schema_check;
mod sort;
#[cfg(test)]
mod tests;

use crate::cli::Print;
use crate::error::{Exit, Failure};
use crate::render::picture::Picture;
use crate::ui::printer;
use columns::Columns;
use jsonpath::Template;
use serde_json::Value;
use std::str::FromStr;

#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) enum Output {
    #[default]
    Table,
    /// A table with more columns.
    Wide,
    /// TYPE/NAME, one on each line.
    Name,
    Json,
    Yaml,
    /// A JSONPath template, as in kubectl.
    JsonPath(Template),
    /// Columns that the user defines.
    CustomColumns(Columns),
    /// A report to share: a page, or text for tickets.
    Html,
    Markdown,
}

/// A value that can be printed in every output format.
pub(crate) trait Printable {
    /// The table: a line for each item, in the order of the document; a line with a total may follow.
    fn table(&self, is_wide: bool, has_headers: bool) -> String;
    /// The lines of `-o name`.
    fn names(&self) -> Vec<String>;
    /// The document for programs, with `apiVersion` and `kind`.
    fn document(&self) -> Result<Value, Failure>;
}

/// A document without a table.
pub(crate) struct Document<'d>(pub(crate) &'d Value);

impl Printable for Document<'_> {
    fn table(&self, _is_wide: bool, _has_headers: bool) -> String {
        self.0.to_string() + "\n"
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn document(&self) -> Result<Value, Failure> {
        Ok(self.0.clone())
    }
}

/// Prints `value` to stdout in the requested format.
pub(crate) fn print(flags: &Print, value: &impl Printable) -> Result<(), Failure> {
    printer::out(&text(flags, value)?)
}

/// Prints a report to share.
pub(crate) fn print_picture(flags: &Print, picture: &Picture) -> Result<(), Failure> {
    if flags.sort_by.is_some() {
        return Err(Failure::usage("--sort-by does not go with -o html and -o markdown"));
    }
    let is_page = flags.output == Output::Html;
    printer::out(&if is_page { picture.html() } else { picture.markdown() })
}

/// The text of `value` in the requested format.
pub(crate) fn text(flags: &Print, value: &impl Printable) -> Result<String, Failure> {
    let order = match &flags.sort_by {
        Some(path) => Some(order(&value.document()?, path)?),
        None => None,
    };
    let order = order.as_deref();
    let has_headers = !flags.no_headers;
    match &flags.output {
        Output::Table | Output::Wide => {
            let table = value.table(flags.output == Output::Wide, has_headers);
            Ok(sorted_lines(table, usize::from(has_headers), order))
        }
        Output::Name => {
            let names = value.names().iter().map(|name| format!("{name}\n")).collect();
            Ok(sorted_lines(names, 0, order))
        }
        Output::Json => json(&sorted(value.document()?, order)),
        Output::Yaml => serde_saphyr::to_string(&sorted(value.document()?, order)).map_err(Failure::new),
        Output::JsonPath(template) => template
            .text(&sorted(value.document()?, order))
            .map_err(|error| Failure::new(format!("error executing jsonpath: {error}"))),
        Output::CustomColumns(columns) => {
            columns.text(&sorted(value.document()?, order), has_headers).map_err(Failure::new)
        }
        Output::Html | Output::Markdown => Err(Failure::usage(
            "-o html and -o markdown go with explain, nodes, list and fit, and not with --watch",
        )),
    }
}

/// The sorted order of the document's items; empty if it has none.
fn order(document: &Value, path: &str) -> Result<Vec<usize>, Failure> {
    let items = document.get("items").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    sort::order(items, path).map_err(|error| Failure::usage(format!("--sort-by: {error}")))
}

fn sorted(mut document: Value, order: Option<&[usize]>) -> Value {
    if let (Some(order), Some(items)) = (order, document.get_mut("items").and_then(Value::as_array_mut)) {
        *items = sort::arrange(items, order);
    }
    document
}

fn sorted_lines(text: String, headers: usize, order: Option<&[usize]>) -> String {
    let Some(order) = order else { return text };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (headers, rows) = lines.split_at_checked(headers).unwrap_or((&lines, &[]));
    headers.iter().copied().chain(sort::arrange(rows, order)).collect()
}

fn json(document: &Value) -> Result<String, Failure> {
    serde_json::to_string_pretty(document).map(|text| text + "\n").map_err(Failure::new)
}

impl Output {
    pub(crate) fn is_table(&self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }

    /// Whether it is a report to share, which [`print_picture`] prints.
    pub(crate) fn is_picture(&self) -> bool {
        matches!(self, Self::Html | Self::Markdown)
    }
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "table" | "" => Ok(Self::Table),
            "wide" => Ok(Self::Wide),
            "name" => Ok(Self::Name),
            "json" => Ok(Self::Json),
            "yaml" => Ok(Self::Yaml),
            "html" => Ok(Self::Html),
            "markdown" => Ok(Self::Markdown),
            _ => Self::with_argument(text),
        }
    }
}

impl Output {
    fn with_argument(text: &str) -> Result<Self, String> {
        let (form, argument) = text.split_once('=').unwrap_or((text, ""));
        match form {
            "jsonpath" if argument.is_empty() => {
                Err("a template is needed: jsonpath='{.items[*].metadata.name}'".into())
            }
            "jsonpath" => Template::new(argument).map(Self::JsonPath),
            "custom-columns" => Columns::new(argument).map(Self::CustomColumns),
            "go-template" | "go-template-file" | "template" | "templatefile" => {
                Err("go-template is not built in; jsonpath can do it: -o jsonpath='{range .items[*]}\
                     {.metadata.name}{\"\\n\"}{end}'"
                    .into())
            }
            _ => Err(ALLOWED.into()),
        }
    }
}

/// The error for an unknown format.
const ALLOWED: &str = "allowed formats are: table, wide, name, json, yaml, jsonpath=TEMPLATE, custom-columns=SPEC, html, markdown";

pub(crate) fn document(value: &impl serde::Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|error| Failure::new(error).exit(Exit::Error))
}

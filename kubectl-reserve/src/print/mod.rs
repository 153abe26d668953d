//! `-o`: one thing to show, in the form that was asked for.

use crate::cli::Print;
use crate::error::{Exit, Failure};
use crate::ui::printer;
use serde_json::Value;
use std::str::FromStr;

/// The forms of output.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    /// Columns for people.
    #[default]
    Table,
    /// More columns.
    Wide,
    /// TYPE/NAME, one a line.
    Name,
    Json,
    Yaml,
}

/// Something that can be shown in every form.
pub(crate) trait Shown {
    /// For people.
    fn table(&self, is_wide: bool, has_headers: bool) -> String;
    /// What `-o name` prints, one a line.
    fn names(&self) -> Vec<String>;
    /// For machines: a document with `apiVersion` and `kind`.
    fn document(&self) -> Result<Value, Failure>;
}

/// Prints `shown` to stdout in the form that was asked for.
pub(crate) fn print(flags: &Print, shown: &impl Shown) -> Result<(), Failure> {
    printer::out(&text(flags, shown)?)
}

/// The text of `shown` in the form that was asked for.
pub(crate) fn text(flags: &Print, shown: &impl Shown) -> Result<String, Failure> {
    match &flags.output {
        Output::Table => Ok(shown.table(false, !flags.no_headers)),
        Output::Wide => Ok(shown.table(true, !flags.no_headers)),
        Output::Name => Ok(shown.names().iter().map(|name| format!("{name}\n")).collect()),
        Output::Json => json(&shown.document()?),
        Output::Yaml => serde_saphyr::to_string(&shown.document()?).map_err(Failure::new),
    }
}

fn json(document: &Value) -> Result<String, Failure> {
    serde_json::to_string_pretty(document).map(|text| text + "\n").map_err(Failure::new)
}

impl Output {
    /// Whether it is for people.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self, Self::Table | Self::Wide)
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
            _ => Err("allowed formats are: table, wide, name, json, yaml".into()),
        }
    }
}

/// A document from anything that can be written as one.
pub(crate) fn document(value: &impl serde::Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|error| Failure::new(error).exit(Exit::Error))
}

//! Columns as kubectl prints them: upper-case headers, three spaces between, no lines.

use tabled::builder::Builder;
use tabled::settings::{Padding, Style};

/// Spaces between columns.
const GAP: usize = 3;

/// Lays `rows` out under `headers`; without headers when they are `None`.
pub(crate) fn table(headers: Option<&[&str]>, rows: &[Vec<String>]) -> String {
    table_with_gap(headers, rows, GAP)
}

/// The same with `gap` spaces between columns.
pub(crate) fn table_with_gap(headers: Option<&[&str]>, rows: &[Vec<String>], gap: usize) -> String {
    let mut builder = Builder::default();
    if let Some(headers) = headers {
        builder.push_record(headers.iter().copied());
    }
    for row in rows {
        builder.push_record(row);
    }
    let text = builder.build().with(Style::empty()).with(Padding::new(0, gap, 0, 0)).to_string();
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

//! Tables as kubectl prints them: upper-case headers, three spaces between columns, no borders.

use super::wrap::columns;
use tabled::builder::Builder;
use tabled::settings::{Padding, Style};

/// Spaces between columns.
const GAP: usize = 3;

/// A table of `rows`, under `headers` unless they are `None`.
pub(crate) fn table(headers: Option<&[&str]>, rows: &[Vec<String>]) -> String {
    table_with_gap(headers, rows, GAP)
}

/// A table with `gap` spaces between columns.
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

/// Rows that continue a table: `widths` are its column widths so far, which only grow.
pub(crate) fn append_rows(widths: &mut Vec<usize>, rows: &[Vec<String>]) -> String {
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(columns(cell) + GAP);
        }
    }
    let line = |row: &Vec<String>| {
        let padded = |(cell, width): (&String, &usize)| {
            format!("{cell}{}", " ".repeat(width.saturating_sub(columns(cell))))
        };
        format!("{}\n", row.iter().zip(&*widths).map(padded).collect::<String>().trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::append_rows;

    #[test]
    fn columns_stay_where_they_are() {
        let row = |one: &str, two: &str| vec![one.to_owned(), two.to_owned()];
        let mut widths = Vec::new();
        assert_eq!(
            append_rows(&mut widths, &[row("EVENT", "NAME"), row("ADDED", "x")]),
            "EVENT   NAME\nADDED   x\n"
        );
        assert_eq!(append_rows(&mut widths, &[row("GONE", "longer")]), "GONE    longer\n");
        assert_eq!(append_rows(&mut widths, &[row("MODIFIED", "y")]), "MODIFIED   y\n");
    }
}

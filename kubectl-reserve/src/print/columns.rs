//! `-o custom-columns=NAME:.metadata.name,…`, with the same layout as kubectl.

use super::go;
use super::jsonpath::Template;
use crate::render::printable;
use serde_json::Value;

/// Spaces between two columns.
const GAP: usize = 3;

/// The least width of a column, gap included.
const WIDTH_MIN: usize = 6;

/// The columns: header and path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Columns {
    columns: Vec<(String, Template)>,
}

impl Columns {
    /// Parses `HEADER:PATH,HEADER:PATH`.
    pub(super) fn new(spec: &str) -> Result<Self, String> {
        if spec.is_empty() {
            return Err("custom-columns format specified but no custom columns given".to_owned());
        }
        let column = |part: &str| {
            let Some((header, path)) = part.split_once(':') else {
                return Err(format!(
                    "unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>"
                ));
            };
            Ok((header.to_owned(), Template::path(path)?))
        };
        Ok(Self { columns: spec.split(',').map(column).collect::<Result<_, _>>()? })
    }

    /// One line for each item of the document, or one for the document itself if it is no list.
    pub(super) fn text(&self, document: &Value, has_headers: bool) -> Result<String, String> {
        let one = std::slice::from_ref(document);
        let items = document.get("items").and_then(Value::as_array).map_or(one, Vec::as_slice);
        let mut lines = Vec::new();
        if has_headers {
            lines.push(self.columns.iter().map(|(header, _)| header.clone()).collect());
        }
        for item in items {
            let cells = self.columns.iter().map(|(_, path)| cell(path, item));
            lines.push(cells.collect::<Result<Vec<String>, String>>()?);
        }
        Ok(lay_out(&lines))
    }
}

fn cell(path: &Template, item: &Value) -> Result<String, String> {
    let found = path.find(item)?;
    if found.is_empty() {
        return Ok("<none>".to_owned());
    }
    let texts: Vec<String> = found.iter().map(|value| printable(&go::sprint(value))).collect();
    Ok(texts.join(","))
}

fn lay_out(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let length = |text: &str| text.chars().count();
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let widest = lines.iter().filter_map(|line| line.get(column)).map(|cell| length(cell)).max();
            (widest.unwrap_or(0) + GAP).max(WIDTH_MIN)
        })
        .collect();
    let line = |cells: &Vec<String>| {
        let mut text = String::new();
        for (at, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            text.push_str(cell);
            if at + 1 < cells.len() {
                text.extend(std::iter::repeat_n(' ', width.saturating_sub(length(cell))));
            }
        }
        text + "\n"
    };
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::Columns;
    use serde_json::json;

    #[test]
    fn columns_are_laid_out_as_kubectls() {
        let document = json!({"kind": "List", "items": [
            {"metadata": {"name": "a", "labels": {"x": "1", "b": "2"}}, "list": [1, "two", null]},
            {"metadata": {"name": "longer-name"}, "empty": ""},
        ]});
        let text = |spec, headers| Columns::new(spec).unwrap().text(&document, headers).unwrap();
        insta::assert_snapshot!(text("ID:.metadata.name,LABELS:metadata.labels,L:.list,E:{.empty},X:.x", true), @r"
        ID            LABELS         L               E        X
        a             map[b:2 x:1]   [1 two <nil>]   <none>   <none>
        longer-name   <none>         <none>                   <none>
        ");
        assert_eq!(text("N:.list[*]", false), "1,two,<nil>\n<none>\n");
        assert_eq!(Columns::new("K:.kind").unwrap().text(&json!({"kind": "X"}), true).unwrap(), "K\nX\n");
    }

    #[test]
    fn what_is_no_column_is_refused() {
        for odd in ["", "NAME", "NAME:", "A:.a,B", "A:{.a}{.b}", "A:.a[", "A:}"] {
            assert!(Columns::new(odd).is_err(), "{odd:?}");
        }
    }
}

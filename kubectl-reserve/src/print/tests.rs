//! A small list in every output format.

use super::{Output, Printable, text};
use crate::cli::Print;
use crate::error::Failure;
use serde_json::{Value, json};

struct NodeTable;

impl Printable for NodeTable {
    fn table(&self, is_wide: bool, has_headers: bool) -> String {
        let wide = if is_wide { "   x" } else { "" };
        let header = if has_headers { format!("NAME   CPU{wide}\n") } else { String::new() };
        format!("{header}b      2{wide}\na      500m{wide}\nc      10{wide}\nTOTAL  12500m\n")
    }

    fn names(&self) -> Vec<String> {
        ["b", "a", "c"].map(String::from).to_vec()
    }

    fn document(&self) -> Result<Value, Failure> {
        let item = |name: &str, cpu: &str| json!({"metadata": {"name": name}, "cpu": cpu});
        let items = [item("b", "2"), item("a", "500m"), item("c", "10")];
        Ok(json!({"apiVersion": "v", "kind": "List", "items": items}))
    }
}

fn printed(output: &str, sort_by: Option<&str>) -> String {
    let flags =
        Print { output: output.parse().unwrap(), no_headers: false, sort_by: sort_by.map(String::from) };
    text(&flags, &NodeTable).unwrap()
}

#[test]
fn every_form_can_be_sorted() {
    let by_name = Some(".metadata.name");
    assert_eq!(printed("name", None), "b\na\nc\n");
    assert_eq!(printed("name", by_name), "a\nb\nc\n");
    assert_eq!(printed("name", Some("{.cpu}")), "a\nb\nc\n", "quantities by what they mean");
    assert_eq!(printed("table", by_name), "NAME   CPU\na      500m\nb      2\nc      10\nTOTAL  12500m\n");
    assert_eq!(printed("jsonpath={.items[*].metadata.name}", None), "b a c");
    assert_eq!(printed("jsonpath={.items[*].metadata.name}", by_name), "a b c");
    assert_eq!(printed("custom-columns=N:.metadata.name", by_name), "N\na\nb\nc\n");
    let json: Value = serde_json::from_str(&printed("json", by_name)).unwrap();
    assert_eq!(json["items"][0]["metadata"]["name"], "a");
    assert!(printed("yaml", by_name).contains("kind: List"));
}

#[test]
fn a_path_that_no_item_has_is_no_order() {
    let flags = Print { sort_by: Some(".metadata.nam".into()), ..Print::default() };
    let failure = text(&flags, &NodeTable).unwrap_err();
    assert!(failure.message.unwrap().contains("couldn't find any field with path \".metadata.nam\""));
}

#[test]
fn what_is_no_form_is_refused_with_those_that_are() {
    let error = |form: &str| form.parse::<Output>().unwrap_err();
    assert!(error("xml").contains("custom-columns=SPEC"));
    assert!(error("jsonpath").contains("a template is needed"));
    assert!(error("jsonpath={.a").contains("unclosed"));
    assert!(error("custom-columns=NAME").contains("expected <header>:<json-path-expr>"));
    for form in ["go-template={{.}}", "go-template-file=x", "template=x"] {
        assert!(error(form).contains("jsonpath"), "{form}");
    }
}

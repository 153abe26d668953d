//! Golden output of `nodes`.

use super::{Bar, Column, NodeRow, NodeRows};
use crate::cli::Print;
use crate::print::schema_check::assert_valid;
use crate::print::{Output, Printable, text};
use crate::reservations::fixture;
use common::model::ResourceName;

fn rows() -> NodeRows {
    let mut cluster = fixture::cluster();
    let snapshot = cluster.snapshot(fixture::now());
    let rows = snapshot.nodes().map(NodeRow::of).collect();
    NodeRows { rows, only_free: false, more: Vec::new(), bar: None, width: None }
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn tables_show_requested_reserved_and_free_amounts() {
    let plain = rows();
    insta::assert_snapshot!("nodes", plain.table(false, true));
    insta::assert_snapshot!("nodes_wide", plain.table(true, true));
    let free = NodeRows {
        only_free: true,
        more: vec![Column::Ports, Column::free_of(ResourceName::from("nvidia.com/gpu"))],
        ..rows()
    };
    insta::assert_snapshot!("nodes_free", free.table(false, true));
}

#[test]
fn a_terminal_has_bars_in_what_it_can_draw() {
    for has_unicode in [false, true] {
        let bars = NodeRows { bar: Some(Bar::new(has_unicode)), width: Some(80), ..rows() };
        let table = bars.table(false, true);
        assert!(has_unicode || table.is_ascii());
        assert!(widest(&table) <= 80 && table.contains(if has_unicode { '▒' } else { '=' }), "{table}");
        insta::assert_snapshot!(format!("nodes_bar_{has_unicode}"), table);
    }
    let narrow = NodeRows { width: Some(80), ..rows() };
    assert!(widest(&narrow.table(false, true)) <= 80);
}

#[test]
fn documents_carry_every_number() {
    let rows = rows();
    let print = |output, sort_by: Option<&str>| {
        let flags = Print { output, sort_by: sort_by.map(str::to_owned), ..Print::default() };
        text(&flags, &rows).unwrap()
    };
    insta::assert_snapshot!("nodes_json", print(Output::Json, None));
    insta::assert_snapshot!("nodes_yaml", print(Output::Yaml, Some("free.cpu")));
    assert_eq!(print(Output::Name, Some("free.cpu")), "node/node-2\nnode/node-3\nnode/node-1\n");
    let sorted = print(Output::Table, Some("free.cpu"));
    assert!(sorted.lines().last().unwrap().starts_with("TOTAL"), "{sorted}");
    assert_valid(&rows.document().unwrap());
}

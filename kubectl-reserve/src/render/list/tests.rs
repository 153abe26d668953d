//! Golden output of `list`.

use super::Rows;
use crate::cli::Print;
use crate::print::schema_check::assert_valid;
use crate::print::{Output, Printable, text};
use crate::reservations::{fixture, rows};

fn with_rows(all_namespaces: bool, width: Option<usize>, check: impl Fn(&Rows<'_>)) {
    let mut cluster = fixture::cluster();
    let now = fixture::now();
    let snapshot = cluster.snapshot(now);
    check(&Rows { rows: rows(&snapshot), all_namespaces, now, width });
}

#[test]
fn tables_look_like_kubectls() {
    with_rows(true, None, |rows| {
        insta::assert_snapshot!("list", rows.table(false, true));
        insta::assert_snapshot!("list_wide", rows.table(true, true));
    });
    with_rows(false, None, |rows| insta::assert_snapshot!("list_bare", rows.table(false, false)));
}

#[test]
fn tables_fit_a_terminal() {
    for all_namespaces in [false, true] {
        with_rows(all_namespaces, Some(80), |rows| {
            let table = rows.table(false, true);
            let widest = table.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= 80 || all_namespaces, "{widest}:\n{table}");
            insta::assert_snapshot!(format!("list_terminal_{all_namespaces}"), table);
        });
    }
}

#[test]
fn documents_carry_everything() {
    with_rows(true, None, |rows| {
        let print = |output| text(&Print { output, ..Print::default() }, rows).unwrap();
        insta::assert_snapshot!("list_json", print(Output::Json));
        insta::assert_snapshot!("list_yaml", print(Output::Yaml));
        insta::assert_snapshot!("list_name", print(Output::Name));
        assert_valid(&rows.document().unwrap());
    });
}

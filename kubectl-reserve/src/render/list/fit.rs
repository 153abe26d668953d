//! Shortens a table so that it fits a terminal, step by step and no further than needed. Entry point: [`fit`].

use crate::render::table::{table, table_with_gap};
use common::model::owner::OwnerKind;

/// The length of a UUID.
const UID_LEN: usize = 36;

/// The length of a shortened UID. It is enough to tell UIDs apart, and commands accept it.
const UID_SHOWN: usize = 8;

/// In the first step names are not cut to less than this.
const CUT_FIRST: usize = 24;

/// In the last step names are not cut to less than this.
const CUT_MIN: usize = 12;

const MARK: char = '…';

/// The table, shortened so that it fits `width` if possible.
pub(super) fn fit(headers: &[&str], rows: Vec<Vec<String>>, has_headers: bool, width: usize) -> String {
    let wide = table(has_headers.then_some(headers), &rows);
    if widest(&wide) <= width {
        return wide;
    }
    let mut shown = Table { headers: headers.to_vec(), rows, has_headers, gap: 2 };
    // First the steps that lose no information, then those that do.
    let steps: [&dyn Fn(&mut Table<'_>); 9] = [
        &|_| {},
        &|table| table.change("NAME", short_uid),
        &|table| table.change("STATE", |state| state.replace("(manual, in part)", "(manual)")),
        &|table| table.change("OWNER", short_kind),
        &|table| table.headers.clone().into_iter().for_each(|header| table.change(header, short_mark)),
        &|table| table.cut(CUT_FIRST, width),
        // The age is less important than the time until the reservation expires.
        &|table| table.drop_column("AGE"),
        &|table| table.gap = 1,
        &|table| table.cut(CUT_MIN, width),
    ];
    for step in steps {
        step(&mut shown);
        if shown.width() <= width {
            break;
        }
    }
    shown.text()
}

/// Shortens rows as [`fit`] does on a narrow terminal, for rows that are printed one by one (`--watch`): the width of later rows is
/// not known.
pub(crate) fn shorten(headers: &[&str], rows: &mut Vec<Vec<String>>) {
    let cells = std::mem::take(rows);
    let mut table = Table { headers: headers.to_vec(), rows: cells, has_headers: false, gap: 2 };
    table.change("NAME", short_uid);
    table.change("OWNER", short_kind);
    headers.iter().for_each(|header| table.change(header, short_mark));
    *rows = table.rows;
}

/// A table that is being shortened.
struct Table<'h> {
    headers: Vec<&'h str>,
    rows: Vec<Vec<String>>,
    has_headers: bool,
    gap: usize,
}

impl Table<'_> {
    fn text(&self) -> String {
        table_with_gap(self.has_headers.then_some(&self.headers), &self.rows, self.gap)
    }

    fn width(&self) -> usize {
        widest(&self.text())
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.headers.iter().position(|header| *header == name)
    }

    fn change(&mut self, name: &str, shorten: impl Fn(&str) -> String) {
        let Some(column) = self.column(name) else { return };
        for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
            *cell = shorten(cell);
        }
    }

    /// Cuts names as far as needed, and to no less than `least` characters.
    fn cut(&mut self, least: usize, width: usize) {
        for name in ["OWNER", "NODE", "NAME"] {
            let over = self.width().saturating_sub(width);
            let Some(column) = self.column(name).filter(|_| over > 0) else { continue };
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let longest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            self.change(name, |cell| cut(cell, longest.saturating_sub(over).max(least)));
        }
    }

    fn drop_column(&mut self, name: &str) {
        let Some(column) = self.column(name) else { return };
        self.headers.remove(column);
        self.rows.iter_mut().filter(|row| column < row.len()).for_each(|row| drop(row.remove(column)));
    }
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

fn short_uid(name: &str) -> String {
    let is_uid = name.len() == UID_LEN && name.bytes().filter(|byte| *byte == b'-').count() == 4;
    match name.get(..UID_SHOWN).filter(|_| is_uid) {
        Some(shown) => format!("{shown}{MARK}"),
        None => name.into(),
    }
}

/// `<unknown>` and `<none>` as one character.
fn short_mark(cell: &str) -> String {
    match cell {
        "<unknown>" => "?".into(),
        "<none>" => "-".into(),
        cell => cell.into(),
    }
}

/// kubectl's short names for kinds.
fn short_kind(owner: &str) -> String {
    let Some((kind, name)) = owner.split_once('/') else { return owner.into() };
    let short = match OwnerKind::ALL.into_iter().find(|known| known.as_str() == kind) {
        Some(OwnerKind::Deployment) => "deploy",
        Some(OwnerKind::ReplicaSet) => "rs",
        Some(OwnerKind::StatefulSet) => "sts",
        Some(OwnerKind::DaemonSet) => "ds",
        Some(OwnerKind::Job) => "job",
        Some(OwnerKind::CronJob) => "cj",
        Some(OwnerKind::ReplicationController) => "rc",
        Some(OwnerKind::Foreign) | None => kind,
    };
    format!("{short}/{name}")
}

/// The beginning and the end of a long text: similar names often have the same beginning.
fn cut(text: &str, most: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= most {
        return text.into();
    }
    let (head, tail) = ((most - 1).div_ceil(2), (most - 1) / 2);
    let end = characters.len() - tail;
    characters.iter().take(head).chain([&MARK]).chain(characters.iter().skip(end)).collect()
}

#[cfg(test)]
mod tests {
    use super::{cut, fit, short_kind, short_uid, widest};

    #[test]
    fn what_is_shortened_still_says_who() {
        assert_eq!(short_uid("a8f6f901-47c9-4475-b1f4-cac44597e173"), "a8f6f901…");
        assert_eq!(short_uid("7f3a0c"), "7f3a0c");
        assert_eq!(short_kind("StatefulSet/pg"), "sts/pg");
        assert_eq!(short_kind("Widget/x"), "Widget/x");
        assert_eq!(short_kind("<unknown>"), "<unknown>");
        assert_eq!(cut("abcdefghij", 5), "ab…ij");
        assert_eq!(cut("abc", 5), "abc");
    }

    #[test]
    fn age_goes_before_the_table_grows_wider_than_the_terminal() {
        let headers = ["NAMESPACE", "NAME", "OWNER", "NODE", "CPU", "MEMORY", "STATE", "EXPIRES", "AGE"];
        let cells = [
            "default",
            "0ld5ea7",
            "Job/crunch",
            "node-3",
            "1000m",
            "0",
            "Expired (orphaned)",
            "60s ago",
            "11m",
        ];
        let row = vec![cells.map(str::to_owned).to_vec()];
        let text = fit(&headers, row.clone(), true, 90);
        assert!(widest(&text) <= 90 && text.contains("AGE"), "{text}");
        let text = fit(&headers, row, true, 80);
        assert!(widest(&text) <= 80 && !text.contains("AGE") && text.contains("60s ago"), "{text}");
    }

    #[test]
    fn nothing_is_shortened_that_fits_and_all_is_that_must() {
        let headers = ["NAME", "OWNER", "NODE"];
        let row = |name: &str, owner: &str, node: &str| vec![name.into(), owner.into(), node.into()];
        let small = vec![row("7f3a0c", "Deployment/testngx", "node-2")];
        assert!(fit(&headers, small, true, 80).contains("7f3a0c   Deployment/testngx   node-2"));
        let long = row(
            "a8f6f901-47c9-4475-b1f4-cac44597e173",
            "Deployment/a-very-long-name-of-a-deployment-in-shop",
            "ip-10-0-123-45.eu-central-1.compute.internal",
        );
        for width in [60, 80, 100] {
            let text = fit(&headers, vec![long.clone()], true, width);
            assert!(widest(&text) <= width, "{width}: {text}");
        }
    }
}

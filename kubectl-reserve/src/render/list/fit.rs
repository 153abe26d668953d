//! A table that fits a terminal: what can be said shorter is, step by step, and no further than needed.

use crate::render::table::{table, table_with_gap};
use common::model::owner::OwnerKind;

/// The length of a UUID.
const UID_LEN: usize = 36;

/// So much of a UID tells it apart, and can be typed in its stead.
const UID_SHOWN: usize = 8;

/// Owners and nodes are cut to no less than this.
const CUT_MIN: usize = 12;

/// Says the same in fewer words.
type Shorten = fn(&str) -> String;

const MARK: char = '…';

/// Lays out `rows` so that they fit `width`, if that can be.
pub(super) fn fit(headers: &[&str], mut rows: Vec<Vec<String>>, has_headers: bool, width: usize) -> String {
    let shown = |rows: &[Vec<String>]| table(has_headers.then_some(headers), rows);
    let tight = |rows: &[Vec<String>]| table_with_gap(has_headers.then_some(headers), rows, 2);
    let text = shown(&rows);
    if widest(&text) <= width {
        return text;
    }
    let column = |name: &str| headers.iter().position(|header| *header == name);
    let steps: [(Option<usize>, Shorten); 3] = [
        (column("NAME"), short_uid),
        (column("STATE"), |state| state.replace("(manual, in part)", "(manual)")),
        (column("OWNER"), short_kind),
    ];
    for (column, shorten) in steps {
        if widest(&tight(&rows)) <= width {
            return tight(&rows);
        }
        change(&mut rows, column, shorten);
    }
    if widest(&tight(&rows)) > width {
        (0..headers.len()).for_each(|column| change(&mut rows, Some(column), short_mark));
    }
    for name in ["OWNER", "NODE", "NAME"] {
        let over = widest(&tight(&rows)).saturating_sub(width);
        let Some(column) = column(name).filter(|_| over > 0) else { continue };
        let longest = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        let most = longest.unwrap_or(0).saturating_sub(over).max(CUT_MIN);
        change(&mut rows, Some(column), |cell| cut(cell, most));
    }
    tight(&rows)
}

fn change(rows: &mut [Vec<String>], column: Option<usize>, shorten: impl Fn(&str) -> String) {
    let Some(column) = column else { return };
    for cell in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
        *cell = shorten(cell);
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

/// What is not there, or not known, in one character.
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
        None => kind,
    };
    format!("{short}/{name}")
}

/// The beginning and the end of a long text: names of one kind often begin alike.
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

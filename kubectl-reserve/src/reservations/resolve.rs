//! Finds a reservation by its argument: `NAME`, `NODE/NAME`, `<owner-uid>.<seat>` as in events, or an unambiguous beginning of NAME.

use super::{Row, owner_name};
use crate::connect::is_name;
use crate::error::Failure;
use crate::render::printable;
use common::api::names;
use common::config::nearest::nearest;

/// The shortest beginning of a name that is accepted.
const PREFIX_LEN_MIN: usize = 4;

/// The longest name is an annotation key: a prefix of 253 characters, a slash, and 63.
const NAME_LEN_MAX: usize = 317;

/// The number of candidates that an error lists.
const LISTED_MAX: usize = 10;

/// One argument that names a reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReservationArg {
    pub(crate) node: Option<String>,
    pub(crate) name: String,
}

/// Parses one argument.
pub(crate) fn parse_arg(word: &str) -> Result<ReservationArg, Failure> {
    let short = word.strip_prefix("reservation/").or_else(|| word.strip_prefix("reservations/"));
    let word = short.unwrap_or(word);
    // A malformed annotation is named by its key, which contains a slash, too.
    let (node, name) = match word.split_once('/') {
        Some((node, name)) if !node.starts_with(names::NODE_PREFIX) => (Some(node), name),
        _ => (None, word),
    };
    let odd = |what: &str| Err(Failure::usage(format!("{:?} is not {what}", printable(word))));
    if let Some(node) = node
        && !is_name(node)
    {
        return odd("a reservation: what comes before the slash is not the name of a node");
    }
    // A name that `list` shortened for a narrow terminal ends with dots.
    let name = name.trim_end_matches(['…', '.']);
    if name.is_empty() || name.len() > NAME_LEN_MAX || name.chars().any(char::is_control) {
        return odd("the name of a reservation");
    }
    Ok(ReservationArg { node: node.map(str::to_owned), name: name.to_owned() })
}

/// All reservations that `asked` can mean: on its node, if it has one, else in `namespace`.
pub(crate) fn matching<'r, 'w>(
    rows: &'r [Row<'w>],
    asked: &ReservationArg,
    namespace: Option<&str>,
) -> Vec<&'r Row<'w>> {
    let is_there = |row: &&Row<'_>| match &asked.node {
        Some(node) => row.node() == node,
        None => namespace.is_none_or(|namespace| row.is_in(namespace)),
    };
    let here: Vec<&Row<'_>> = rows.iter().filter(is_there).collect();
    let exact: Vec<&Row<'_>> = here.iter().copied().filter(|row| is_called(row, &asked.name)).collect();
    if !exact.is_empty() || asked.name.len() < PREFIX_LEN_MIN {
        return exact;
    }
    here.into_iter().filter(|row| row.name().starts_with(&asked.name)).collect()
}

/// The only reservation that `asked` can mean.
pub(crate) fn find<'r, 'w>(
    rows: &'r [Row<'w>],
    asked: &ReservationArg,
    namespace: Option<&str>,
) -> Result<&'r Row<'w>, Failure> {
    match matching(rows, asked, namespace)[..] {
        [row] => Ok(row),
        [] => Err(not_found(rows, asked, namespace)),
        ref several => Err(ambiguous(several, asked)),
    }
}

fn is_called(row: &Row<'_>, name: &str) -> bool {
    let in_full = || row.entry().is_some_and(|entry| entry.reservation.id.to_string() == name);
    row.name() == name || in_full()
}

fn not_found(rows: &[Row<'_>], asked: &ReservationArg, namespace: Option<&str>) -> Failure {
    let name = printable(&asked.name);
    let failure = Failure::new(format!("Error from server (NotFound): reservations {name:?} not found"));
    if let Some(node) = &asked.node {
        return failure.hint(format!("kubectl reserve list -A --node {node} shows what is reserved there"));
    }
    let elsewhere = matching(rows, asked, None);
    if let Some(other) = elsewhere.first().and_then(|row| row.namespace()) {
        return failure.hint(format!("there is one in namespace {other}: add -n {other}"));
    }
    let names: Vec<String> = rows
        .iter()
        .filter(|row| namespace.is_none_or(|namespace| row.is_in(namespace)))
        .map(Row::name)
        .collect();
    match nearest(&asked.name, names.iter().map(String::as_str)) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint("kubectl reserve list -A shows all of them"),
    }
}

fn ambiguous(rows: &[&Row<'_>], asked: &ReservationArg) -> Failure {
    let name = printable(&asked.name);
    let mut text =
        format!("{name:?} is the name, or the beginning of it, of {} reservations; say which:", rows.len());
    for row in rows.iter().take(LISTED_MAX) {
        let owner = row.owner().map_or_else(
            || "for an unknown owner".into(),
            |owner| format!("for {} in {}", owner_name(owner), owner.namespace),
        );
        text += &format!("\n  {}  {owner}", row.id());
    }
    if rows.len() > LISTED_MAX {
        text += &format!("\n  (+{} more)", rows.len() - LISTED_MAX);
    }
    Failure::usage(text)
}

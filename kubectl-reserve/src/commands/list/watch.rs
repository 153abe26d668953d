//! `list --watch`: shows the table again when it changes, on a terminal; in a pipe it prints the rows that change. The state of a
//! reservation follows from its node, its pods and the time, so all of them are read again when a node or a pod changes, and when
//! a reservation expires.

use super::{chosen, filter, node_selection, nothing_found};
use crate::changes::Changes;
use crate::cli::List;
use crate::commands::Context;
use crate::error::Failure;
use crate::print::{self, Output};
use crate::reader::{NODES, PODS};
use crate::render::list::{Rows, cells, headers, shorten};
use crate::render::table::append_rows;
use crate::reservations::{self, PodSelection, ReservationArg, rows};
use crate::ui::printer;
use crate::ui::redraw::Redraw;
use std::collections::BTreeMap;
use std::time::Duration;

/// The width of the column EVENT: the longest word, and the gap between columns.
const EVENT_COLUMN_WIDTH: usize = "MODIFIED".len() + 3;

/// The cells of each row, by the id of the reservation.
type ShownRows = BTreeMap<String, Vec<String>>;

/// The change of a row, with the names of watch events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowEvent {
    Added,
    Modified,
    Deleted,
}

/// Prints all rows, and then those that change, until the program ends.
pub(super) async fn run(args: &List, asked: &[ReservationArg], context: &Context) -> Result<(), Failure> {
    if !matches!(args.print.output, Output::Table | Output::Wide | Output::Name) {
        return Err(Failure::usage("--watch goes with -o table, wide and name"));
    }
    let is_whole = args.print.output != Output::Name && !args.output_watch_events;
    let is_redrawn = is_whole && context.ui.is_stdout_terminal && context.ui.has_progress;
    let mut watches = Changes::begin(&context.session, &[NODES, PODS]).await?;
    let (mut before, mut screen) = (ShownRows::new(), Redraw::default());
    let mut has_headers = !args.print.no_headers;
    // Later events may have longer words than the first one.
    let mut widths = if args.output_watch_events { vec![EVENT_COLUMN_WIDTH] } else { Vec::new() };
    loop {
        let (after, table, expiry) = look(args, asked, context).await?;
        let changes = changes(&before, &after, args.all_namespaces);
        if is_redrawn {
            screen.show(&context.ui, table)?;
        } else if !changes.is_empty() {
            let is_short = context.ui.is_stdout_terminal && args.print.output == Output::Table;
            printer::out(&text(&changes, args, has_headers, is_short, &mut widths))?;
            has_headers = false;
        }
        before = after;
        watches.next(expiry).await?;
    }
}

/// Reads the rows: each by its id, all of them as a table, and how long it is until the next of them expires.
async fn look(
    args: &List,
    asked: &[ReservationArg],
    context: &Context,
) -> Result<(ShownRows, String, Option<Duration>), Failure> {
    let filter = filter(args, &context.session.namespace)?;
    let mut view =
        reservations::read(&context.session, &node_selection(asked, &filter), PodSelection::OnNodes).await?;
    let now = view.now;
    let snapshot = view.snapshot();
    let (rows, _) = chosen(&rows(&snapshot), asked, &filter);
    let is_wide = args.print.output == Output::Wide;
    let shown = rows.iter().map(|row| (row.id(), cells(row, args.all_namespaces, is_wide, now))).collect();
    let next = rows.iter().filter_map(|row| row.expires()).filter(|expires| *expires > now).min();
    let expiry = next.and_then(|next| Duration::try_from(next.duration_since(now)).ok());
    let table = match &rows[..] {
        [] => format!("{}\n", nothing_found(&filter)),
        _ => print::text(
            &args.print,
            &Rows { rows, all_namespaces: args.all_namespaces, now, width: context.ui.width() },
        )?,
    };
    Ok((shown, table, expiry))
}

/// The rows that are new, changed or gone. Columns that only show the time are ignored.
fn changes(
    before: &ShownRows,
    after: &ShownRows,
    all_namespaces: bool,
) -> Vec<(RowEvent, String, Vec<String>)> {
    let headers = headers(all_namespaces, false);
    let timeless = |cells: &[String]| -> Vec<String> {
        let is_time = |column: usize| matches!(headers.get(column), Some(&"EXPIRES" | &"AGE"));
        cells
            .iter()
            .enumerate()
            .filter(|(column, _)| !is_time(*column))
            .map(|(_, cell)| cell.clone())
            .collect()
    };
    let mut changes = Vec::new();
    for (id, cells) in after {
        match before.get(id) {
            None => changes.push((RowEvent::Added, id.clone(), cells.clone())),
            Some(old) if timeless(old) != timeless(cells) => {
                changes.push((RowEvent::Modified, id.clone(), cells.clone()));
            }
            Some(_) => {}
        }
    }
    let state = headers.iter().position(|header| *header == "STATE").unwrap_or_default();
    for (id, cells) in before.iter().filter(|(id, _)| !after.contains_key(*id)) {
        let mut cells = cells.clone();
        if let Some(cell) = cells.get_mut(state) {
            *cell = "Gone".into();
        }
        changes.push((RowEvent::Deleted, id.clone(), cells));
    }
    changes
}

fn text(
    changes: &[(RowEvent, String, Vec<String>)],
    args: &List,
    has_headers: bool,
    is_short: bool,
    widths: &mut Vec<usize>,
) -> String {
    if args.print.output == Output::Name {
        return changes.iter().map(|(_, id, _)| format!("reservation/{id}\n")).collect();
    }
    let headers = headers(args.all_namespaces, args.print.output == Output::Wide);
    let mut rows: Vec<Vec<String>> = changes.iter().map(|(_, _, cells)| cells.clone()).collect();
    if is_short {
        shorten(&headers, &mut rows);
    }
    if args.output_watch_events {
        rows.iter_mut().zip(changes).for_each(|(row, (event, ..))| row.insert(0, event.word().into()));
    }
    if has_headers {
        let event = args.output_watch_events.then_some("EVENT");
        rows.insert(0, event.into_iter().chain(headers).map(str::to_owned).collect());
    }
    append_rows(widths, &rows)
}

impl RowEvent {
    fn word(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RowEvent, ShownRows, changes};

    fn shown(rows: &[(&str, &str, &str)]) -> ShownRows {
        let cells = |state: &str, age: &str| {
            ["x", "Deployment/web", "n1", "1", "0", state, age, age].map(str::to_owned).into()
        };
        rows.iter().map(|(id, state, age)| ((*id).to_owned(), cells(state, age))).collect()
    }

    #[test]
    fn only_what_changed_is_news_and_time_is_none() {
        let told = |before: &[_], after: &[_]| -> Vec<(RowEvent, String)> {
            let changes = changes(&shown(before), &shown(after), false);
            changes.into_iter().map(|(event, id, cells)| (event, format!("{id} {}", cells[5]))).collect()
        };
        assert_eq!(told(&[], &[("a", "Held", "1s")]), [(RowEvent::Added, "a Held".to_owned())]);
        assert_eq!(told(&[("a", "Held", "1s")], &[("a", "Held", "2s")]), []);
        assert_eq!(
            told(&[("a", "Held", "1s"), ("b", "Held", "1s")], &[("a", "Taken", "2s")]),
            [(RowEvent::Modified, "a Taken".to_owned()), (RowEvent::Deleted, "b Gone".to_owned())]
        );
    }
}

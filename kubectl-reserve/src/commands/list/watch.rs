//! `list --watch`: the rows that changed, as they change. What a reservation is follows from its node, its pods and the time, so that
//! all of it is looked at again now and then; and the longer a look takes the rarer they are.

use super::{chosen, filter, which};
use crate::cli::List;
use crate::commands::Context;
use crate::error::Failure;
use crate::print::Output;
use crate::render::list::{cells, headers, shorten};
use crate::render::table::below;
use crate::reservations::{self, Asked, Pods, rows};
use crate::ui::printer;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(2);

/// So many times as long as a look takes, nobody looks.
const REST: u32 = 9;

/// The longest word for an event, and what is between columns.
const EVENT_WIDTH: usize = "MODIFIED".len() + 3;

/// What was shown of each reservation, by its id.
type Shown = BTreeMap<String, Vec<String>>;

/// What happened to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happened {
    Added,
    Modified,
    Deleted,
}

/// Shows what is there, and then what changes, for ever.
pub(super) async fn run(args: &List, asked: &[Asked], context: &Context) -> Result<(), Failure> {
    if !matches!(args.print.output, Output::Table | Output::Wide | Output::Name) {
        return Err(Failure::usage("--watch goes with -o table, wide and name"));
    }
    let mut before = Shown::new();
    let mut has_headers = !args.print.no_headers;
    // Events come in every length later.
    let mut widths = if args.output_watch_events { vec![EVENT_WIDTH] } else { Vec::new() };
    loop {
        let started = Instant::now();
        let after = look(args, asked, context).await?;
        let news = news(&before, &after, args.all_namespaces);
        if !news.is_empty() {
            let is_short = context.ui.is_out_terminal && args.print.output == Output::Table;
            printer::out(&text(&news, args, has_headers, is_short, &mut widths))?;
            has_headers = false;
        }
        before = after;
        tokio::time::sleep(PAUSE.max(started.elapsed() * REST)).await;
    }
}

async fn look(args: &List, asked: &[Asked], context: &Context) -> Result<Shown, Failure> {
    let filter = filter(args, &context.session.namespace)?;
    let mut view = reservations::read(&context.session, &which(asked, &filter), Pods::OnNodes).await?;
    let now = view.now;
    let snapshot = view.snapshot();
    let (rows, _) = chosen(&rows(&snapshot), asked, &filter);
    let is_wide = args.print.output == Output::Wide;
    Ok(rows.iter().map(|row| (row.id(), cells(row, args.all_namespaces, is_wide, now))).collect())
}

/// The rows that are new, other or gone. That time passes is no news.
fn news(before: &Shown, after: &Shown, all_namespaces: bool) -> Vec<(Happened, String, Vec<String>)> {
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
    let mut news = Vec::new();
    for (id, cells) in after {
        match before.get(id) {
            None => news.push((Happened::Added, id.clone(), cells.clone())),
            Some(old) if timeless(old) != timeless(cells) => {
                news.push((Happened::Modified, id.clone(), cells.clone()));
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
        news.push((Happened::Deleted, id.clone(), cells));
    }
    news
}

fn text(
    news: &[(Happened, String, Vec<String>)],
    args: &List,
    has_headers: bool,
    is_short: bool,
    widths: &mut Vec<usize>,
) -> String {
    if args.print.output == Output::Name {
        return news.iter().map(|(_, id, _)| format!("reservation/{id}\n")).collect();
    }
    let headers = headers(args.all_namespaces, args.print.output == Output::Wide);
    let mut rows: Vec<Vec<String>> = news.iter().map(|(_, _, cells)| cells.clone()).collect();
    if is_short {
        shorten(&headers, &mut rows);
    }
    if args.output_watch_events {
        rows.iter_mut().zip(news).for_each(|(row, (happened, ..))| row.insert(0, happened.word().into()));
    }
    if has_headers {
        let event = args.output_watch_events.then_some("EVENT");
        rows.insert(0, event.into_iter().chain(headers).map(str::to_owned).collect());
    }
    below(widths, &rows)
}

impl Happened {
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
    use super::{Happened, Shown, news};

    fn shown(rows: &[(&str, &str, &str)]) -> Shown {
        let cells = |state: &str, age: &str| {
            ["x", "Deployment/web", "n1", "1", "0", state, age, age].map(str::to_owned).into()
        };
        rows.iter().map(|(id, state, age)| ((*id).to_owned(), cells(state, age))).collect()
    }

    #[test]
    fn only_what_changed_is_news_and_time_is_none() {
        let told = |before: &[_], after: &[_]| -> Vec<(Happened, String)> {
            let news = news(&shown(before), &shown(after), false);
            news.into_iter().map(|(happened, id, cells)| (happened, format!("{id} {}", cells[5]))).collect()
        };
        assert_eq!(told(&[], &[("a", "Held", "1s")]), [(Happened::Added, "a Held".to_owned())]);
        assert_eq!(told(&[("a", "Held", "1s")], &[("a", "Held", "2s")]), []);
        assert_eq!(
            told(&[("a", "Held", "1s"), ("b", "Held", "1s")], &[("a", "Taken", "2s")]),
            [(Happened::Modified, "a Taken".to_owned()), (Happened::Deleted, "b Gone".to_owned())]
        );
    }
}

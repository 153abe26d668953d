//! `kubectl reserve list`: the reservations, with their owner, node, amount, state and end.

mod watch;

use super::Context;
use crate::cli::List;
use crate::clock::local_time;
use crate::cluster_data;
use crate::error::Failure;
use crate::print::{print, print_picture};
use crate::render::list::Rows;
use crate::render::picture::{self, Picture, PictureSource};
use crate::reservations::{
    self, NodeSelection, PodSelection, ReservationArg, ReservationFilter, ReservationView, Row, find,
    matching, rows, words,
};
use crate::selector;
use crate::ui::{Ui, printer};
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) async fn run(args: &List, context: &Context) -> Result<(), Failure> {
    let session = &context.session;
    let asked = parse_args(args)?;
    if args.watch {
        return watch::run(args, &asked, context).await;
    }
    let filter = filter(args, &session.namespace)?;
    let view = reservations::read(session, &node_selection(&asked, &filter), PodSelection::OnNodes).await?;
    let source = PictureSource::server(&session.server, context.context.as_deref(), local_time());
    show(args, &asked, &filter, view, &context.ui, source)
}

/// The same for a saved snapshot.
pub(crate) fn offline(args: &List, snapshot: &Path, namespace: Option<&str>, ui: &Ui) -> Result<(), Failure> {
    let asked = parse_args(args)?;
    let data = cluster_data::load(snapshot, std::iter::empty())?.require_nodes_and_pods()?;
    let filter = filter(args, namespace.unwrap_or(&data.namespace))?;
    let source = PictureSource::snapshot(snapshot, local_time());
    show(args, &asked, &filter, ReservationView::of(data), ui, source)
}

fn parse_args(args: &List) -> Result<Vec<ReservationArg>, Failure> {
    args.names.iter().map(|name| reservations::parse_arg(name)).collect()
}

fn show(
    args: &List,
    asked: &[ReservationArg],
    filter: &ReservationFilter,
    mut view: ReservationView,
    ui: &Ui,
    source: PictureSource,
) -> Result<(), Failure> {
    let (now, is_partial) = (view.now, view.is_partial);
    let snapshot = view.snapshot();
    let all = rows(&snapshot);
    let (rows, missing) = chosen(&all, asked, filter);
    if args.print.output.is_picture() {
        let tiles = picture::of_rows(&rows, now);
        let layers = vec![picture::of_reservations(&tiles)];
        let picture = Picture { title: "Reservations".into(), source, read_at: now, tiles, layers };
        return print_picture(&args.print, &picture).and(missing.map_or(Ok(()), Err));
    }
    let is_table = args.print.output.is_table();
    if rows.is_empty() && missing.is_none() && is_table {
        printer::say(&nothing_found(filter));
        return Ok(());
    }
    let shown = Rows { rows, all_namespaces: args.all_namespaces, now, width: ui.width() };
    if !shown.rows.is_empty() || !is_table {
        print(&args.print, &shown)?;
    }
    if is_table {
        warn(&shown.rows, is_partial);
    }
    missing.map_or(Ok(()), Err)
}

fn filter(args: &List, namespace: &str) -> Result<ReservationFilter, Failure> {
    let nodes_with = match &args.selector {
        Some(typed) => Some((typed.clone(), selector::parse(typed)?)),
        None => None,
    };
    ReservationFilter::new(
        (!args.all_namespaces).then(|| namespace.to_owned()),
        args.node.as_deref(),
        args.owner.as_deref(),
    )
    .map(|filter| ReservationFilter {
        is_expired: args.expired,
        is_orphaned: args.orphaned,
        nodes_with,
        ..filter
    })
}

/// The nodes that must be read: those in the arguments, else those of the filter.
fn node_selection(asked: &[ReservationArg], filter: &ReservationFilter) -> NodeSelection {
    let nodes: Option<BTreeSet<&String>> = asked.iter().map(|asked| asked.node.as_ref()).collect();
    match nodes.filter(|nodes| !nodes.is_empty()) {
        Some(nodes) => NodeSelection::Named(nodes.into_iter().cloned().collect()),
        None => filter.node_selection(),
    }
}

/// The rows that the arguments and the filter select, and the error for the first name that was not found.
fn chosen<'w>(
    all: &[Row<'w>],
    asked: &[ReservationArg],
    filter: &ReservationFilter,
) -> (Vec<Row<'w>>, Option<Failure>) {
    let kept: Vec<Row<'_>> = all.iter().filter(|row| filter.keeps(row)).cloned().collect();
    if asked.is_empty() {
        return (kept, None);
    }
    let namespace = filter.namespace.as_deref();
    let missing = asked.iter().find(|name| matching(all, name, namespace).is_empty());
    let missing = missing.and_then(|name| find(all, name, namespace).err());
    let mut named: Vec<Row<'_>> = Vec::new();
    for row in asked.iter().flat_map(|name| matching(all, name, namespace)) {
        let is_new = !named.iter().any(|known| known.id() == row.id());
        let other = ReservationFilter { namespace: None, ..filter.clone() };
        if is_new && other.keeps(row) {
            named.push(row.clone());
        }
    }
    (named, missing)
}

fn nothing_found(filter: &ReservationFilter) -> String {
    match &filter.namespace {
        None => "No reservations found.".into(),
        Some(namespace) => format!("No reservations found in {namespace} namespace."),
    }
}

/// Warns of malformed annotations, and of reservations whose owner does not exist, with the command that removes them.
fn warn(rows: &[Row<'_>], is_partial: bool) {
    for row in rows {
        let id = row.id();
        if let Some(invalid) = row.invalid() {
            printer::warn(&format!(
                "annotation {} of node {} is ignored: {}; remove it with: kubectl reserve release {id}",
                invalid.key,
                row.node(),
                invalid.problem
            ));
        }
        let Some(entry) = row.entry().filter(|entry| row.is_orphaned() && !entry.held.is_zero()) else {
            continue;
        };
        if is_partial && row.owner().is_none() {
            continue;
        }
        let (kind, held) = (if row.is_manual() { "manual " } else { "" }, words(&entry.held));
        printer::warn(&format!(
            "the owner of the {kind}reservation {} was not found; free {held} with: kubectl reserve release {id}",
            row.name()
        ));
    }
}

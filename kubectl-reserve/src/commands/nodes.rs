//! `kubectl reserve nodes`: what each node has, and how much of it is requested, reserved and free.

use super::Context;
use crate::changes::Changes;
use crate::cli::Nodes;
use crate::clock::local_time;
use crate::cluster_data;
use crate::connect::is_name;
use crate::error::Failure;
use crate::print;
use crate::reader::{NODES, PODS};
use crate::render::nodes::{Bar, Column, NodeRow, NodeRows};
use crate::render::picture::{self, Picture, PictureSource};
use crate::reservations::{self, NodeSelection, PodSelection, ReservationView, no_node};
use crate::selector;
use crate::ui::redraw::Redraw;
use crate::ui::{Ui, printer};
use common::config::nearest::nearest;
use common::model::resources::is_scalar_name;
use common::model::{Node, ResourceName};
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) async fn run(args: &Nodes, context: &Context) -> Result<(), Failure> {
    let (session, ui, node_selection) = (&context.session, &context.ui, node_selection(args)?);
    let read = || reservations::read(session, &node_selection, PodSelection::OnNodes);
    if !args.watch {
        let source = PictureSource::server(&session.server, context.context.as_deref(), local_time());
        return show(args, read().await?, |_| true, ui, source);
    }
    let (mut changes, mut screen) = (Changes::begin(session, &[NODES, PODS]).await?, Redraw::default());
    loop {
        screen.show(ui, text(args, read().await?, |_| true, ui)?)?;
        changes.next(None).await?;
    }
}

/// The same for a saved snapshot.
pub(crate) fn offline(args: &Nodes, snapshot: &Path, ui: &Ui) -> Result<(), Failure> {
    let node_selection = node_selection(args)?;
    let mut view =
        ReservationView::of(cluster_data::load(snapshot, std::iter::empty())?.require_nodes_and_pods()?);
    if let NodeSelection::Named(names) = &node_selection {
        let known: BTreeSet<String> = view.snapshot().nodes().map(|one| one.node.name.to_string()).collect();
        if let Some(missing) = names.iter().find(|name| !known.contains(*name)) {
            return Err(no_node(missing));
        }
    }
    let selector = selector::parse(args.selector.as_deref().unwrap_or_default())?;
    let is_meant = |node: &Node| match &node_selection {
        NodeSelection::Named(names) => names.iter().any(|name| *name == *node.name.as_str()),
        _ => selector.matches(&node.labels),
    };
    show(args, view, is_meant, ui, PictureSource::snapshot(snapshot, local_time()))
}

fn show(
    args: &Nodes,
    mut view: ReservationView,
    is_meant: impl Fn(&Node) -> bool,
    ui: &Ui,
    source: PictureSource,
) -> Result<(), Failure> {
    if args.print.output.is_picture() {
        let read_at = view.now;
        let tiles = picture::of_snapshot(&view.snapshot(), read_at, is_meant);
        let layers = vec![picture::of_nodes(&tiles)];
        return print::print_picture(
            &args.print,
            &Picture { title: "Nodes".into(), source, read_at, tiles, layers },
        );
    }
    match &*text(args, view, is_meant, ui)? {
        "" => printer::say("No nodes found."),
        text => printer::out(text)?,
    }
    Ok(())
}

/// What is printed; empty if there are no nodes and a table was asked for.
fn text(
    args: &Nodes,
    mut view: ReservationView,
    is_meant: impl Fn(&Node) -> bool,
    ui: &Ui,
) -> Result<String, Failure> {
    let snapshot = view.snapshot();
    let ledgers: Vec<_> = snapshot.nodes().filter(|ledger| is_meant(&ledger.node)).collect();
    let rows: Vec<NodeRow> = ledgers.iter().map(|ledger| NodeRow::of(ledger)).collect();
    for problem in
        ledgers.iter().filter_map(|ledger| Some((&ledger.node.name, ledger.node.problem.as_ref()?)))
    {
        printer::warn_once(&format!(
            "node {} cannot be read, and so takes no pods: {}",
            problem.0, problem.1
        ));
    }
    if rows.is_empty() && args.print.output.is_table() {
        return Ok(String::new());
    }
    let more = more(&args.show, &rows)?;
    let only_free = args.free;
    let bar = ui.is_stdout_terminal.then(|| Bar::new(ui.has_unicode));
    print::text(&args.print, &NodeRows { rows, only_free, more, bar, width: ui.width() })
}

fn node_selection(args: &Nodes) -> Result<NodeSelection, Failure> {
    if args.names.is_empty() {
        return Ok(NodeSelection::Labelled(args.selector.clone().unwrap_or_default()));
    }
    let bare = |name: &String| name.trim_start_matches("node/").to_owned();
    let names: BTreeSet<String> = args.names.iter().map(bare).collect();
    match names.iter().find(|name| !is_name(name)) {
        Some(odd) => Err(Failure::usage(format!("{odd:?} is not the name of a node"))),
        None => Ok(NodeSelection::Named(names.into_iter().collect())),
    }
}

fn more(show: &[String], rows: &[NodeRow]) -> Result<Vec<Column>, Failure> {
    let known: BTreeSet<String> = rows
        .iter()
        .flat_map(|row| row.room.allocatable.iter().map(|(resource, _)| resource.to_string()))
        .collect();
    let mut columns = Vec::new();
    for word in show.iter().map(|word| word.trim()).filter(|word| !word.is_empty()) {
        match word {
            "ports" => columns.push(Column::Ports),
            "gpu" => {
                let gpus = known.iter().filter(|name| name.ends_with("/gpu"));
                columns.extend(gpus.map(|name| Column::free_of(ResourceName::from(name.as_str()))));
            }
            name if known.contains(name) || is_resource(name) => {
                columns.push(Column::free_of(ResourceName::from(name)));
            }
            name => return Err(unknown(name, &known)),
        }
    }
    Ok(columns)
}

fn is_resource(name: &str) -> bool {
    !matches!(ResourceName::from(name), ResourceName::Scalar(_)) || is_scalar_name(name)
}

fn unknown(word: &str, known: &BTreeSet<String>) -> Failure {
    let failure = Failure::usage(format!("--show {word:?} is not a resource that nodes have"));
    let words = known.iter().map(String::as_str).chain(["ports", "gpu"]);
    match nearest(word, words) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure
            .hint(format!("there are ports, gpu, {}", known.iter().cloned().collect::<Vec<_>>().join(", "))),
    }
}

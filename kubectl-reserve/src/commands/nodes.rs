//! `kubectl reserve nodes`: what nodes have, and what of it is requested, reserved and free.

use super::Context;
use crate::cli::Nodes;
use crate::connect::is_name;
use crate::error::Failure;
use crate::print::print;
use crate::render::nodes::{Bar, Column, NodeRow, NodeRows};
use crate::reservations::{self, Pods, Which};
use crate::ui::printer;
use common::config::nearest::nearest;
use common::model::ResourceName;
use common::model::resources::is_scalar_name;
use std::collections::BTreeSet;

pub(crate) async fn run(args: &Nodes, context: &Context) -> Result<(), Failure> {
    let which = which(args)?;
    let mut view = reservations::read(&context.session, &which, Pods::OnNodes).await?;
    let snapshot = view.snapshot();
    let rows: Vec<NodeRow> = snapshot.nodes().map(NodeRow::of).collect();
    for problem in
        snapshot.nodes().filter_map(|ledger| Some((&ledger.node.name, ledger.node.problem.as_ref()?)))
    {
        printer::warn(&format!("node {} cannot be read, and so takes no pods: {}", problem.0, problem.1));
    }
    if rows.is_empty() && args.print.output.is_table() {
        printer::say("No nodes found.");
        return Ok(());
    }
    let more = more(&args.show, &rows)?;
    let (ui, only_free) = (&context.ui, args.free);
    let bar = ui.is_out_terminal.then(|| Bar::new(ui.has_unicode));
    print(&args.print, &NodeRows { rows, only_free, more, bar, width: ui.width() })
}

fn which(args: &Nodes) -> Result<Which, Failure> {
    if args.names.is_empty() {
        return Ok(Which::Labelled(args.selector.clone().unwrap_or_default()));
    }
    let bare = |name: &String| name.trim_start_matches("node/").to_owned();
    let names: BTreeSet<String> = args.names.iter().map(bare).collect();
    match names.iter().find(|name| !is_name(name)) {
        Some(odd) => Err(Failure::usage(format!("{odd:?} is not the name of a node"))),
        None => Ok(Which::Named(names.into_iter().collect())),
    }
}

/// The columns that `--show` asks for.
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

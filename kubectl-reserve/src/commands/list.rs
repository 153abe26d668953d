//! `kubectl reserve list`: what is reserved, for whom, until when.

use super::Context;
use crate::cli::List;
use crate::connect::Session;
use crate::error::Failure;
use crate::print::print;
use crate::render::list::{Row, Rows, rows};
use crate::ui::printer;
use crate::world;

pub(crate) async fn run(args: &List, context: &Context) -> Result<(), Failure> {
    let session = &context.session;
    let intake = world::Intake::default();
    let mut world = world::read(session, &context.ui, world::Depth::Decisions, intake).await?.whole()?;
    world.warn();
    let snapshot = world.cluster.snapshot(world.now);
    let mut rows = rows(&snapshot);
    if !args.all_namespaces {
        rows.retain(|row| row.namespace().is_none_or(|namespace| namespace == session.namespace));
    }
    if rows.is_empty() && args.print.output.is_table() {
        printer::say(&nothing_found(args, session));
        return Ok(());
    }
    let rows = Rows { rows, all_namespaces: args.all_namespaces, now: world.now };
    print(&args.print, &rows)?;
    if args.print.output.is_table() {
        warn(&rows.rows, world.is_partial);
    }
    Ok(())
}

fn nothing_found(args: &List, session: &Session) -> String {
    if args.all_namespaces {
        "No reservations found.".into()
    } else {
        format!("No reservations found in {} namespace.", session.namespace)
    }
}

/// Room that is kept for nobody, and what was meant as a reservation and is none: both are the first things that an
/// operator of a full cluster wants to know of.
fn warn(rows: &[Row<'_>], is_partial: bool) {
    for row in rows {
        if let Some(problem) = row.problem() {
            printer::warn(&format!("annotation {} of node {} is ignored: {problem}", row.name(), row.node));
        }
        if row.is_for_nobody() && !is_partial {
            let (id, node, removal) = (row.id(), row.node, row.removal());
            printer::warn(&format!(
                "the owner of {id} was not found; free its room with: kubectl annotate node {node} {removal}"
            ));
        }
    }
}

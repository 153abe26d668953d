//! `kubectl reserve list`: what is reserved, for whom, until when.

use crate::cli::{List, Output};
use crate::connect::Session;
use crate::error::Failure;
use crate::printer;
use crate::render::json::{self, Format};
use crate::render::list::{Row, rows, table};
use crate::world;

pub(crate) async fn run(args: &List, session: &Session) -> Result<(), Failure> {
    let mut world = world::read(session).await?;
    let snapshot = world.cluster.snapshot(world.now);
    let mut rows = rows(&snapshot);
    if !args.all_namespaces {
        rows.retain(|row| row.namespace().is_none_or(|namespace| namespace == session.namespace));
    }
    match args.output {
        Output::Json => return printer::out(&json::list(&rows, Format::Json)?),
        Output::Yaml => return printer::out(&json::list(&rows, Format::Yaml)?),
        Output::Name => return printer::out(&rows.iter().map(|row| row.id() + "\n").collect::<String>()),
        Output::Table | Output::Wide => {}
    }
    if rows.is_empty() {
        printer::say(&nothing_found(args, session));
        return Ok(());
    }
    printer::out(&table(&rows, args, world.now))?;
    warn(&rows, world.is_partial);
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

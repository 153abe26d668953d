//! `kubectl reserve extend`: moves the end of reservations.

use super::Context;
use super::change::{each, named, node_selection, parse_args, ttl, verbed};
use crate::cli::Extend;
use crate::error::Failure;
use crate::node_patch::rewrite;
use crate::render::time::between;
use crate::reservations::{self, PodSelection, Row, change, rows};
use crate::ui::printer;
use common::model::Moment;
use jiff::{SignedDuration, Timestamp};

pub(crate) async fn run(args: &Extend, context: &Context) -> Result<(), Failure> {
    let life = ttl(&args.ttl)?;
    let asked = parse_args(&args.names)?;
    let mut view =
        reservations::read(&context.session, &node_selection(&asked), PodSelection::IfAllowed).await?;
    let now = view.now;
    let snapshot = view.snapshot();
    let all = rows(&snapshot);
    let chosen = named(&all, &asked, Some(&context.session.namespace), false)?;
    let life = SignedDuration::try_from(life).map_err(|_| Failure::usage("--ttl is too long"))?;
    let until = Moment::of(now.checked_add(life).unwrap_or(Timestamp::MAX)).time();
    each(chosen, async |row: Row<'_>| one(&row, args, until, now, context).await).await
}

async fn one(
    row: &Row<'_>,
    args: &Extend,
    until: Timestamp,
    now: Timestamp,
    context: &Context,
) -> Result<(), Failure> {
    let name = row.name();
    let Some(entry) = row.entry() else {
        return Err(Failure::new(format!("{name} on {} is malformed and counts for nothing", row.node()))
            .hint(format!("kubectl reserve describe {} says why", row.id())));
    };
    if row.is_manual() {
        printer::say(&format!(
            "reservation/{name} was made by hand and has no expiry: it stays until released"
        ));
        return printer::out(&verbed(&name, "unchanged", args.dry_run.dry_run));
    }
    let dry_run = args.dry_run.dry_run;
    let written = rewrite(&context.session, row.node(), dry_run, |seen, _| {
        change::extend(seen, &entry.reservation, until, args.shorten, now)
    })
    .await?;
    if written.is_changed {
        let is_later = row.expires().is_none_or(|expires| expires < until);
        printer::out(&verbed(&name, if is_later { "extended" } else { "shortened" }, dry_run))?;
        printer::say(&format!("it ends in {}, at {until}", between(now, until)));
        return Ok(());
    }
    printer::out(&verbed(&name, "unchanged", dry_run))?;
    if let Some(expires) = row.expires().filter(|expires| *expires > until) {
        let left = between(now, expires);
        printer::say(&format!("it ends in {left} anyway; --shorten lets it end earlier"));
    }
    Ok(())
}

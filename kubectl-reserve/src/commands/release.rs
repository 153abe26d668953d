//! `kubectl reserve release`: removes reservations, so that all pods can use their room.

use super::Context;
use super::change::{each, named, namespace, node_selection, parse_args, verbed};
use crate::cli::Release;
use crate::error::Failure;
use crate::node_patch::{DryRun, rewrite};
use crate::reservations::{self, PodSelection, ReservationFilter, Row, change, owner_name, rows};
use crate::ui::printer;
use std::collections::BTreeSet;

pub(crate) async fn run(args: &Release, context: &Context) -> Result<(), Failure> {
    let session = &context.session;
    if args.names.is_empty() && !args.has_filters() {
        return Err(Failure::usage("what is to be released?")
            .hint("name it, or pass --pod, --node, --expired, --orphaned or --all"));
    }
    let (asked, filter) = (parse_args(&args.names)?, filter(args, context)?);
    let wanted = if asked.is_empty() { filter.node_selection() } else { node_selection(&asked) };
    let mut view = reservations::read(session, &wanted, PodSelection::IfAllowed).await?;
    let is_partial = view.is_partial;
    let snapshot = view.snapshot();
    let all = rows(&snapshot);
    let chosen = if asked.is_empty() {
        all.iter().filter(|row| is_meant(args, &filter, row, is_partial)).cloned().collect()
    } else {
        named(&all, &asked, filter.namespace.as_deref(), args.ignore_not_found)?
    };
    if chosen.is_empty() {
        printer::say("No reservations found.");
        return Ok(());
    }
    let dry_run = args.dry_run.dry_run;
    if args.all && dry_run == DryRun::None && !agreed(&chosen, &filter, context)? {
        printer::say("Nothing was released.");
        return Ok(());
    }
    // The question has already listed the owners that may lose a place.
    let is_told = args.all && dry_run == DryRun::None;
    each(chosen, async |row: Row<'_>| one(&row, dry_run, is_told, context).await).await
}

fn filter(args: &Release, context: &Context) -> Result<ReservationFilter, Failure> {
    let filter = ReservationFilter::new(namespace(context, args.all_namespaces), args.node.as_deref(), None)?;
    Ok(ReservationFilter { is_expired: args.expired, is_orphaned: args.orphaned, ..filter })
}

/// Whether the flags select `row`. Reservations in the plain form need `--manual`; `--orphaned` does not select one whose owner may
/// exist but could not be read.
fn is_meant(args: &Release, filter: &ReservationFilter, row: &Row<'_>, is_partial: bool) -> bool {
    let is_unsure = filter.is_orphaned && is_partial && row.owner().is_none();
    let is_of_pod = args.pod.as_deref().is_none_or(|pod| is_about_pod(row, pod));
    filter.keeps(row) && row.entry().is_some() && (args.manual || !row.is_manual()) && is_of_pod && !is_unsure
}

/// Whether the reservation replaces the pod called `pod`, was taken by it, or is owned by it.
fn is_about_pod(row: &Row<'_>, pod: &str) -> bool {
    let name = pod.strip_prefix("pod/").or_else(|| pod.strip_prefix("pods/")).unwrap_or(pod);
    let Some(entry) = row.entry() else { return false };
    let replaced = entry.reservation.replaces().is_some_and(|replaced| *replaced.name == *name);
    let taken = entry.taken_by.as_ref().is_some_and(|taker| *taker.key.name == *name);
    let owned = row.owner().is_some_and(|owner| &*owner.kind == "Pod" && *owner.name == *name);
    replaced || taken || owned
}

fn agreed(chosen: &[Row<'_>], filter: &ReservationFilter, context: &Context) -> Result<bool, Failure> {
    let place = match &filter.namespace {
        Some(namespace) => format!("in {namespace} namespace"),
        None => "in all namespaces".into(),
    };
    for line in losers(chosen) {
        printer::say(&line);
    }
    let many = match chosen.len() {
        1 => "1 reservation".to_owned(),
        count => format!("{count} reservations"),
    };
    let question = format!("Release {many} {place}?");
    context.ui.confirm(&question, &format!("to release {many} {place}, or --dry-run to see which"))
}

/// The owners that may lose a place, each once, in words.
fn losers(rows: &[Row<'_>]) -> BTreeSet<String> {
    let line = |row: &Row<'_>| {
        let owner = row.owner()?;
        let (owner, namespace, node) = (owner_name(owner), &owner.namespace, row.node());
        Some(format!("{owner} in {namespace} may lose its place on {node}"))
    };
    rows.iter().filter(|row| row.keeps_room() && !row.is_orphaned()).filter_map(line).collect()
}

async fn one(row: &Row<'_>, dry_run: DryRun, is_told: bool, context: &Context) -> Result<(), Failure> {
    let name = row.name();
    let written = rewrite(&context.session, row.node(), dry_run, |seen, _| match row.entry() {
        Some(entry) => change::release(seen, &entry.reservation),
        None => change::remove_invalid(seen, &name),
    })
    .await?;
    if !written.is_changed {
        printer::say(&format!("reservation/{name} was released already"));
        return Ok(());
    }
    printer::out(&verbed(&name, "released", dry_run))?;
    for line in losers(std::slice::from_ref(row)).into_iter().filter(|_| !is_told) {
        printer::say(&line);
    }
    Ok(())
}

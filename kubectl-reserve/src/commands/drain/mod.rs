//! `kubectl reserve drain`: finds and reserves room on other nodes for every pod before any of them is evicted. `plan` chooses the
//! nodes, `moves` carries it out, `gone` waits for the end of the pods.

mod gone;
mod moves;
mod plan;

use super::Context;
use super::recreate::declined;
use crate::api::{self as calls, MERGE_PATCH};
use crate::cli::dry_run::DryRunFlag;
use crate::cli::recreate::{SameNode, WaitForFlag};
use crate::cli::{Drain, Recreate};
use crate::connect::{Session, is_name};
use crate::error::{Exit, Failure};
use crate::node_patch::DryRun;
use crate::ui::printer;
use crate::ui::signal::StopRequests;
use futures::FutureExt as _;
use http::Method;
use moves::Moves;
use std::time::Duration;
use tokio::time::Instant;

pub(crate) async fn run(args: &Drain, context: &Context) -> Result<(), Failure> {
    let node = args.node.strip_prefix("node/").or_else(|| args.node.strip_prefix("nodes/"));
    let node = node.unwrap_or(&args.node);
    if !is_name(node) {
        return Err(Failure::usage(format!("{node:?} is not the name of a node")));
    }
    if args.grace_period == 0 && !args.force {
        return Err(Failure::usage("--grace-period=0 needs --force"));
    }
    let deadline = (!args.timeout.is_zero()).then(|| Instant::now() + args.timeout);
    let plan = plan::plan(args, context, node).await?;
    let table = plan.table();
    if args.dry_run.dry_run != DryRun::None {
        if !plan.places.is_empty() {
            printer::out(&table)?;
        }
        plan.check()?;
        let mut moves = Moves::new(context, recreate_flags(args), node, plan);
        moves.prepare().await?;
        return dry_run(args, context, node, &moves).await;
    }
    if !plan.places.is_empty() {
        printer::say(table.trim_end());
    }
    plan.check()?;
    let count = plan.places.len();
    let question = format!("Drain {node}: move these {count} pods, one after the other?");
    let otherwise = format!("to drain node/{node}, or --dry-run to see the plan");
    if count > 0 && !context.ui.confirm(&question, &otherwise)? {
        return Err(declined());
    }
    let (leaving, already) = (plan.leaving.clone(), if plan.is_cordoned { "already " } else { "" });
    let mut moves = Moves::new(context, recreate_flags(args), node, plan);
    moves.prepare().await?;
    cordon(&context.session, node, DryRun::None).await?;
    printer::say(&format!("node/{node} {already}cordoned"));
    // Ctrl-C is handled here until the end; the recreation of a pod handles it besides.
    let mut stops = StopRequests::listen()?;
    if let Err(failure) = moves.all(&mut stops, deadline).await {
        return Err(stopped(failure, &mut moves, node, &mut stops).await);
    }
    let again = format!("kubectl reserve drain {node}{}{}", args.repeated(), context.flag());
    let gone = stops.unless(gone::wait(context, node, &leaving, deadline, &again)).await;
    gone.map_err(|failure| still_cordoned(failure, "", node))?;
    printer::out(&format!("node/{node} drained\n"))
}

/// The output of a dry run. With `--dry-run=server` the server checks each step.
async fn dry_run(args: &Drain, context: &Context, node: &str, moves: &Moves<'_>) -> Result<(), Failure> {
    if args.dry_run.dry_run != DryRun::Server {
        // Fails for a pod whose budget forbids its eviction now.
        moves.dry_run(DryRun::Client).await?;
        return printer::out(&format!("node/{node} drained (dry run)\n"));
    }
    cordon(&context.session, node, DryRun::Server).await?;
    printer::out(&format!("node/{node} cordoned (server dry run)\n"))?;
    printer::out(&moves.dry_run(DryRun::Server).await?)?;
    printer::out(&format!("node/{node} drained (server dry run)\n"))
}

/// The error after a failure. The reservations of pods that were not moved are released, unless the user presses Ctrl-C again.
async fn stopped(failure: Failure, moves: &mut Moves<'_>, node: &str, stops: &mut StopRequests) -> Failure {
    // The Ctrl-C that stopped the drain may have been handled elsewhere, and must not count twice.
    while stops.next().now_or_never().is_some() {}
    let left = tokio::select! {
        biased;
        _ = stops.next() => 1,
        left = moves.release_rest() => left,
    };
    let mut text = format!("\n  {} of {} pods were not touched", moves.left(), moves.total());
    text += match left {
        0 => "; no place is kept for them any more.",
        _ => "; some of their places could not be released and end by themselves.",
    };
    still_cordoned(failure, &text, node)
}

/// The failure, with `more` about it, and that the node stays cordoned.
fn still_cordoned(failure: Failure, more: &str, node: &str) -> Failure {
    let text = failure.message.unwrap_or_default();
    let text = format!("{text}{more}\n  node/{node} stays cordoned: kubectl uncordon {node}");
    Failure { message: Some(text), ..failure }
}

/// Marks the node as unschedulable.
async fn cordon(session: &Session, node: &str, dry_run: DryRun) -> Result<(), Failure> {
    let patch = r#"{"spec":{"unschedulable":true}}"#.to_owned();
    let query = if dry_run == DryRun::Server { "?dryRun=All" } else { "" };
    let path = format!("/api/v1/nodes/{node}{query}");
    let answer = calls::write(session, Method::PATCH, &path, MERGE_PATCH, patch).await;
    answer.map(drop).map_err(|error| error.into_failure("cordon the node", "patch nodes"))
}

fn recreate_flags(args: &Drain) -> Recreate {
    let timeout = if args.timeout.is_zero() { Duration::from_secs(3600) } else { args.timeout };
    Recreate {
        dry_run: DryRunFlag::default(),
        same_node: SameNode::Prefer,
        ttl: args.ttl,
        grace_period: args.grace_period,
        timeout,
        wait: true,
        until: WaitForFlag::Bound,
        resources: "all".to_owned(),
        force: args.force,
        delete_emptydir_data: args.delete_emptydir_data,
        ignore_pdb: args.disable_eviction,
        unenforced: args.unenforced,
        no_reserve: false,
    }
}

/// The error for pods that are not safe to move, in the words of kubectl.
fn cannot(what: &str, flag: &str, pods: &[String]) -> Failure {
    Failure::new(format!("cannot delete {what} (use {flag}): {}", pods.join(", "))).exit(Exit::Unsafe)
}

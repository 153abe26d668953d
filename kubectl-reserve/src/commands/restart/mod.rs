//! `kubectl reserve restart`: recreates every pod of a workload, one at a time, with the same steps as `pod`.
//!
//! A rerun continues where the last run stopped. For that nothing is written to the workload: when a restart begins, its time is
//! saved on this machine under the workload's UID (`notes`), and pods that were created later are done. The note is removed at the
//! end.

mod notes;

use super::Context;
use super::recreate::{RecreatedPod, declined, dry_run, prepare, recreate, warn_of_competing_pods};
use crate::cli::Restart;
use crate::clock::local_time;
use crate::error::{Exit, Failure};
use crate::names::{ObjectArg, PodChoice, PodOrWorkload, find, parse_args};
use crate::node_patch::DryRun;
use crate::print::{Output, print};
use crate::reader::PodView;
use crate::render::recreate::{Reports, plan};
use crate::ui::printer;
use crate::ui::progress::ProgressFallback;
use crate::ui::signal::StopRequests;
use common::model::owner::{OwnerKind, Workload};
use common::model::{Moment, PodKey};
use jiff::Timestamp;
use notes::Note;
use std::cmp::Reverse;

const REASON: &str = "kubectl reserve restart";

/// A workload, and its pods that have not been recreated yet.
struct WorkloadRestart {
    /// `TYPE/NAME`.
    id: String,
    workload: Box<Workload>,
    /// The pods, in the order in which they are recreated.
    left: Vec<PodView>,
    total: usize,
    began: Timestamp,
    /// Whether an earlier restart is gone on with.
    is_rerun: bool,
}

pub(crate) async fn run(args: &Restart, context: &Context) -> Result<(), Failure> {
    let mut restarts = Vec::new();
    for asked in parse_args(&args.names)? {
        restarts.push(plan_restart(args, context, &asked).await?);
    }
    for restart in &restarts {
        announce(restart);
    }
    if args.recreate.dry_run.dry_run != DryRun::None {
        return show(args, context, &restarts).await;
    }
    check(args, context, &restarts).await?;
    let count: usize = restarts.iter().map(|restart| restart.left.len()).sum();
    let names: Vec<&str> = restarts.iter().map(|restart| restart.id.as_str()).collect();
    let question = format!("Recreate these {count} pods now, one at a time?");
    let otherwise = format!("to restart {}, or --dry-run to see the plans", names.join(", "));
    if count > 0 && !context.ui.confirm(&question, &otherwise)? {
        return Err(declined());
    }
    let mut done = Vec::new();
    for restart in restarts {
        restart_workload(args, context, restart, &mut done).await?;
    }
    match args.print.output {
        Output::Table => Ok(()),
        _ => print(&args.print, &Reports { done: &done }),
    }
}

/// The restart of the workload that `asked` names.
async fn plan_restart(
    args: &Restart,
    context: &Context,
    asked: &ObjectArg,
) -> Result<WorkloadRestart, Failure> {
    let session = &context.session;
    let (workload, pods) = match find(session, &session.namespace, asked).await? {
        PodOrWorkload::Workload(workload, pods) => (workload, pods),
        PodOrWorkload::Pod(_) => {
            return Err(Failure::usage(format!("{asked} is a pod, not a workload")).hint(format!(
                "kubectl reserve pod {} -n {}{}",
                asked.name,
                session.namespace,
                context.flag()
            )));
        }
    };
    let id = crate::names::id(&workload);
    let note = Note::of(&workload.uid.to_string());
    let now = newest(&pods).unwrap_or_else(local_time);
    let (began, noted) = match (args.since, note.read().filter(|_| !args.all)) {
        (Some(since), _) => (since, None),
        (None, Some((began, noted))) => (began, Some(noted)),
        (None, None) => (now, None),
    };
    let (total, is_rerun) = (pods.len(), noted.is_some());
    if total == 0 {
        let choice = PodChoice { workload, pods };
        return Err(choice.into_failure(local_time()));
    }
    let mut left: Vec<PodView> = pods;
    left.retain(|found| {
        // Creation times are in seconds: a replacement may have the same time as the pod that it replaced.
        let is_noted = noted.as_ref().is_none_or(|noted| noted.contains(&found.pod.uid.to_string()));
        let is_old = found.pod.created.is_none_or(|at| at.time() <= began);
        is_noted && is_old && found.pod.node.is_some()
    });
    left.sort_by_key(|found| order(&workload, found));
    Ok(WorkloadRestart { id, workload, left, total, began, is_rerun })
}

/// The sort key of pods: oldest first; in a StatefulSet the highest number first, as in its rolling updates.
fn order(workload: &Workload, found: &PodView) -> (Reverse<Option<u64>>, Option<Moment>, String) {
    let number = found.pod.key.name.rsplit_once('-').and_then(|(_, number)| number.parse().ok());
    let number = number.filter(|_| workload.kind == OwnerKind::StatefulSet);
    (Reverse(number), found.pod.created, found.pod.key.name.to_string())
}

/// The creation time of the newest pod, by the server's clock. It is the time of the restart: no existing pod is newer.
fn newest(pods: &[PodView]) -> Option<Timestamp> {
    pods.iter().filter_map(|found| found.pod.created).map(Moment::time).max()
}

fn announce(restart: &WorkloadRestart) {
    let done = restart.total - restart.left.len();
    let (id, left, total) = (&restart.id, restart.left.len(), restart.total);
    if restart.is_rerun {
        printer::say(&format!(
            "{id}: going on with the restart of {}; {done} of {total} pods are done or have no node, {left} left \
             (--all begins anew)",
            restart.began
        ));
    } else if done > 0 {
        printer::say(&format!("{id}: {left} of {total} pods; the others are newer or have no node"));
    }
    let choice = PodChoice { workload: restart.workload.clone(), pods: restart.left.clone() };
    choice.lines(local_time()).iter().for_each(|line| printer::say(&format!("  {line}")));
}

async fn show(args: &Restart, context: &Context, restarts: &[WorkloadRestart]) -> Result<(), Failure> {
    for found in restarts.iter().flat_map(|restart| &restart.left) {
        let ready = prepare(context, &found.pod.key, &args.recreate, REASON).await?;
        printer::out(&plan(&ready.plan))?;
        printer::out(&dry_run(context, &ready, args.recreate.dry_run.dry_run).await?)?;
    }
    Ok(())
}

/// Prepares all pods before the first one is evicted: a restart that would fail for one of them is not begun.
async fn check(args: &Restart, context: &Context, restarts: &[WorkloadRestart]) -> Result<(), Failure> {
    let _spinner = context.ui.spinner("checking", ProgressFallback::Nothing);
    for found in restarts.iter().flat_map(|restart| &restart.left) {
        match prepare(context, &found.pod.key, &args.recreate, REASON).await {
            Ok(ready) => warn_of_competing_pods(&ready),
            // Somebody else has deleted the pod already.
            Err(failure) if failure.is_not_found() => {}
            Err(failure) => {
                printer::say("Nothing was changed.");
                return Err(failure);
            }
        }
    }
    Ok(())
}

/// Recreates the remaining pods of a workload. Stops at the first pod that fails.
async fn restart_workload(
    args: &Restart,
    context: &Context,
    restart: WorkloadRestart,
    done: &mut Vec<RecreatedPod>,
) -> Result<(), Failure> {
    let note = Note::of(&restart.workload.uid.to_string());
    let left = restart.left.iter().map(|found| found.pod.uid.to_string()).collect();
    if !note.write(restart.began, &left) {
        printer::warn(&format!(
            "a rerun cannot go on by itself; after a failure add --since {}",
            restart.began
        ));
    }
    // Ctrl-C is handled here between two pods, too: the error says how many pods are left.
    let mut stops = StopRequests::listen()?;
    let count = restart.left.len();
    let bar = context.ui.bar(count as u64, &restart.id, ProgressFallback::Nothing);
    for (index, found) in restart.left.iter().enumerate() {
        let key = &found.pod.key;
        bar.message(&format!("{} {}", restart.id, key.name));
        printer::say(&format!("{} ({} of {count})", key.name, index + 1));
        match one(args, context, key, &mut stops).await {
            Ok(Some(one)) => done.push(one),
            Ok(None) => printer::say("  gone already"),
            Err(failure) => {
                drop(bar);
                let flags = args.recreate.repeated() + &context.flag();
                return Err(stopped(failure, &restart, index, &flags));
            }
        }
        bar.done(index as u64 + 1);
    }
    drop(bar);
    note.remove();
    if args.print.output == Output::Table {
        let plural = if count == 1 { "" } else { "s" };
        printer::out(&format!("{} restarted, {count} pod{plural}\n", restart.id))?;
    }
    Ok(())
}

async fn one(
    args: &Restart,
    context: &Context,
    key: &PodKey,
    stops: &mut StopRequests,
) -> Result<Option<RecreatedPod>, Failure> {
    match stops.unless(prepare(context, key, &args.recreate, REASON)).await {
        Ok(ready) => recreate(context, ready).await.map(Some),
        // Somebody else has deleted the pod already.
        Err(failure) if failure.is_not_found() => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn stopped(failure: Failure, restart: &WorkloadRestart, index: usize, flags: &str) -> Failure {
    let left = restart.left.len() - index;
    let namespace = &restart.workload.namespace;
    let again = format!(
        "{left} of {} pods are left: kubectl reserve restart {} -n {namespace}{flags}",
        restart.total, restart.id
    );
    let hint = match &failure.hint {
        Some(hint) if failure.exit != Exit::Interrupted => format!("{hint}\n      {again}"),
        _ => again,
    };
    failure.hint(hint)
}

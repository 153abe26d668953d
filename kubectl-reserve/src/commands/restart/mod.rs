//! `kubectl reserve restart`: every pod of a workload, one at a time, each through the same steps as `pod`.
//!
//! A rerun goes on where the last run stopped. Nothing is written to the workload for that: when a restart begins, the time is noted on
//! this machine under the workload's UID, and pods that were created since are done. The note goes when all are.

mod notes;

use super::Context;
use super::recreate::{Recreated, declined, prepare, recreate, rehearse, warn_of_rivals};
use crate::cli::Restart;
use crate::error::{Exit, Failure};
use crate::names::{Asked, Choice, PodSeen, Target, asked, find};
use crate::node_patch::DryRun;
use crate::print::{Output, print};
use crate::render::recreate::{Reports, plan};
use crate::ui::printer;
use crate::ui::progress::Otherwise;
use crate::ui::signal::Stops;
use common::model::owner::{OwnerKind, Workload};
use common::model::{Moment, PodKey};
use jiff::Timestamp;
use notes::Note;
use std::cmp::Reverse;

const REASON: &str = "kubectl reserve restart";

/// A workload and what is left to do about it.
struct Job {
    /// `TYPE/NAME`.
    id: String,
    workload: Box<Workload>,
    /// In the order in which they are recreated.
    left: Vec<PodSeen>,
    total: usize,
    began: Timestamp,
}

pub(crate) async fn run(args: &Restart, context: &Context) -> Result<(), Failure> {
    let mut jobs = Vec::new();
    for asked in asked(&args.names)? {
        jobs.push(job(args, context, &asked).await?);
    }
    for job in &jobs {
        announce(job);
    }
    if args.recreate.dry_run.dry_run != DryRun::None {
        return show(args, context, &jobs).await;
    }
    check(args, context, &jobs).await?;
    let count: usize = jobs.iter().map(|job| job.left.len()).sum();
    let names: Vec<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
    let question = format!("Recreate these {count} pods now, one at a time?");
    let otherwise = format!("to restart {}, or --dry-run to see the plans", names.join(", "));
    if count > 0 && !context.ui.confirm(&question, &otherwise)? {
        return Err(declined());
    }
    let mut done = Vec::new();
    for job in jobs {
        restart(args, context, job, &mut done).await?;
    }
    match args.print.output {
        Output::Table => Ok(()),
        _ => print(&args.print, &Reports { done: &done }),
    }
}

/// What is to be done about the workload that `asked` means.
async fn job(args: &Restart, context: &Context, asked: &Asked) -> Result<Job, Failure> {
    let session = &context.session;
    let (workload, pods) = match find(session, &session.namespace, asked).await? {
        Target::Workload(workload, pods) => (workload, pods),
        Target::Pod(_) => {
            return Err(Failure::usage(format!("{asked} is a pod, not a workload"))
                .hint(format!("kubectl reserve pod {}", asked.name)));
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
    let total = pods.len();
    if total == 0 {
        let choice = Choice { workload, pods };
        return Err(choice.into_failure(local_time()));
    }
    let mut left: Vec<PodSeen> = pods;
    left.retain(|found| {
        // The server tells time in seconds: a replacement may seem as old as the pod that it replaced.
        let is_noted = noted.as_ref().is_none_or(|noted| noted.contains(&found.pod.uid.to_string()));
        let is_old = found.pod.created.is_none_or(|at| at.time() <= began);
        is_noted && is_old && found.pod.node.is_some()
    });
    left.sort_by_key(|found| order(&workload, found));
    Ok(Job { id, workload, left, total, began })
}

/// Oldest first; of a StatefulSet the highest number first, as its own rollouts go.
fn order(workload: &Workload, found: &PodSeen) -> (Reverse<Option<u64>>, Option<Moment>, String) {
    let number = found.pod.key.name.rsplit_once('-').and_then(|(_, number)| number.parse().ok());
    let number = number.filter(|_| workload.kind == OwnerKind::StatefulSet);
    (Reverse(number), found.pod.created, found.pod.key.name.to_string())
}

/// When the newest of them was created, by the server's time: all that are there now are no newer.
fn newest(pods: &[PodSeen]) -> Option<Timestamp> {
    pods.iter().filter_map(|found| found.pod.created).map(Moment::time).max()
}

fn announce(job: &Job) {
    let done = job.total - job.left.len();
    let (id, left, total) = (&job.id, job.left.len(), job.total);
    if done > 0 {
        printer::say(&format!(
            "{id}: going on with the restart of {}; {done} of {total} pods are done or have no node, {left} left \
             (--all begins anew)",
            job.began
        ));
    }
    let choice = Choice { workload: job.workload.clone(), pods: job.left.clone() };
    choice.lines(local_time()).iter().for_each(|line| printer::say(&format!("  {line}")));
}

async fn show(args: &Restart, context: &Context, jobs: &[Job]) -> Result<(), Failure> {
    for found in jobs.iter().flat_map(|job| &job.left) {
        let ready = prepare(context, &found.pod.key, &args.recreate, REASON).await?;
        printer::out(&plan(&ready.plan))?;
        printer::out(&rehearse(context, &ready, args.recreate.dry_run.dry_run).await?)?;
    }
    Ok(())
}

/// Whatever is refused of one of them is refused before the first goes: a restart that cannot end is not begun.
async fn check(args: &Restart, context: &Context, jobs: &[Job]) -> Result<(), Failure> {
    let _spinner = context.ui.spinner("checking", Otherwise::Nothing);
    for found in jobs.iter().flat_map(|job| &job.left) {
        match prepare(context, &found.pod.key, &args.recreate, REASON).await {
            Ok(ready) => warn_of_rivals(&ready),
            // Somebody else was faster.
            Err(failure) if failure.is_not_found() => {}
            Err(failure) => {
                printer::say("Nothing was changed.");
                return Err(failure);
            }
        }
    }
    Ok(())
}

/// Recreates what is left of a workload; stops at the first pod that fails.
async fn restart(
    args: &Restart,
    context: &Context,
    job: Job,
    done: &mut Vec<Recreated>,
) -> Result<(), Failure> {
    let note = Note::of(&job.workload.uid.to_string());
    let left = job.left.iter().map(|found| found.pod.uid.to_string()).collect();
    if !note.write(job.began, &left) {
        printer::warn(&format!("a rerun cannot go on by itself; after a failure add --since {}", job.began));
    }
    // Also between two pods Ctrl-C is ours to answer: what is left has to be said.
    let mut stops = Stops::listen()?;
    let count = job.left.len();
    let bar = context.ui.bar(count as u64, &job.id, Otherwise::Nothing);
    for (index, found) in job.left.iter().enumerate() {
        let key = &found.pod.key;
        bar.message(&format!("{} {}", job.id, key.name));
        printer::say(&format!("{} ({} of {count})", key.name, index + 1));
        match one(args, context, key, &mut stops).await {
            Ok(Some(one)) => done.push(one),
            Ok(None) => printer::say("  gone already"),
            Err(failure) => {
                drop(bar);
                return Err(stopped(failure, &job, index));
            }
        }
        bar.done(index as u64 + 1);
    }
    drop(bar);
    note.remove();
    if args.print.output == Output::Table {
        let plural = if count == 1 { "" } else { "s" };
        printer::out(&format!("{} restarted, {count} pod{plural}\n", job.id))?;
    }
    Ok(())
}

async fn one(
    args: &Restart,
    context: &Context,
    key: &PodKey,
    stops: &mut Stops,
) -> Result<Option<Recreated>, Failure> {
    match stops.unless(prepare(context, key, &args.recreate, REASON)).await {
        Ok(ready) => recreate(context, ready).await.map(Some),
        // Somebody else was faster.
        Err(failure) if failure.is_not_found() => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn stopped(failure: Failure, job: &Job, index: usize) -> Failure {
    let left = job.left.len() - index;
    let namespace = &job.workload.namespace;
    let again =
        format!("{left} of {} pods are left: kubectl reserve restart {} -n {namespace}", job.total, job.id);
    let hint = match &failure.hint {
        Some(hint) if failure.exit != Exit::Interrupted => format!("{hint}\n      {again}"),
        _ => again,
    };
    failure.hint(hint)
}

/// For ages that somebody reads, and a workload whose pods do not say when they were created.
#[expect(clippy::disallowed_methods, reason = "the command is the outermost layer")]
fn local_time() -> Timestamp {
    Timestamp::now()
}

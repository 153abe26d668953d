//! Recreates one pod, for `pod`, `restart` and `drain`. `prepare` (or `resume`) reads everything and returns a `RecreationTask`,
//! `recreate` carries it out, `dry_run` only checks it. The order of the steps is decided in `flow::recreate`.

mod amount;
mod bare;
mod budgets;
mod checks;
mod competing_pods;
mod drive;
mod elsewhere;
mod evict;
mod executor;
pub(crate) mod keep;
mod keep_annotation;
mod look;
mod owners;
mod prepare;
mod recheck;
mod resume;
pub(crate) mod rights;
pub(crate) mod target;

pub(crate) use elsewhere::{NodeReservation, keep_alive, release, reserve, take_over};
pub(crate) use look::{PodWithJson, pod_with_json};
pub(crate) use prepare::{RecreationTask, prepare};
pub(crate) use resume::{find_gone, resume};

use super::Context;
use crate::error::{Exit, Failure};
use crate::flow::recreate::{Answer, KeepMethod, NodeMatch, RecreationOutcome, Success};
use crate::node_patch::DryRun;
use crate::render::recreate::{RecreateSubject, failure, kept_words, line, summary};
use crate::ui::printer;
use drive::{DriveResult, drive};
use executor::Executor;
use std::path::PathBuf;
use std::time::Duration;

/// The result for one pod.
pub(crate) struct RecreatedPod {
    pub(crate) namespace: String,
    /// The name of the old pod.
    pub(crate) replaced: String,
    pub(crate) seat: String,
    pub(crate) done: Success,
    pub(crate) took: Duration,
    /// The line that is printed at the end.
    pub(crate) summary: String,
}

/// Warns of Pending pods whose schedulers do not enforce reservations: they could take the room although it is reserved.
pub(crate) fn warn_of_competing_pods(task: &RecreationTask) {
    let competing_pods = task.plan.competing_pods.iter().flatten();
    let not_enforcing: Vec<&str> =
        competing_pods.filter(|pod| !pod.enforces).map(|pod| pod.scheduler.as_str()).collect();
    if not_enforcing.is_empty() || task.terms.keep_method == KeepMethod::Nothing {
        return;
    }
    let mut names = not_enforcing.clone();
    names.sort_unstable();
    names.dedup();
    let (count, names) = (not_enforcing.len(), names.join(", "));
    let who = if count == 1 { "1 of them is".to_owned() } else { format!("{count} of them are") };
    printer::warn(&format!("{who} placed by {names}, which does not enforce reservations"));
}

/// Recreates the pod.
pub(crate) async fn recreate(context: &Context, task: RecreationTask) -> Result<RecreatedPod, Failure> {
    let backup = match task.terms.creates && !task.terms.is_gone {
        true => Some(bare::back_up(&task.target)?),
        false => None,
    };
    if let Some(backup) = &backup {
        printer::say(&format!("  manifest backed up to {}", backup.display()));
    }
    let mut executor = executor(context, &task);
    let name = task.target.name();
    let seat = seat(&task);
    let keeps = format!("node/{}  {}", executor.node, task.plan.amount);
    let result = drive(&mut executor, |event, at| printer::say(&line(event, &name, &keeps, &seat, at))).await;
    finish(&task, result?, &seat, backup)
}

fn finish(
    task: &RecreationTask,
    result: DriveResult,
    seat: &str,
    backup: Option<PathBuf>,
) -> Result<RecreatedPod, Failure> {
    let backup = backup.map(|path| path.display().to_string());
    let key = &task.target.pod.key;
    let subject = RecreateSubject {
        pod: &key.name,
        namespace: &key.namespace,
        node: &task.terms.node,
        seat,
        backup: backup.as_deref(),
        is_alone: task.other_node_uid.is_none(),
    };
    match result.outcome {
        RecreationOutcome::Done(done) => {
            if let Some(kept) = kept_words(done.leftover, &subject) {
                printer::say(&kept);
            }
            let is_elsewhere = done.node_match == Some(NodeMatch::Elsewhere);
            if is_elsewhere && task.terms.keep_method != KeepMethod::Nothing {
                let node = done.node.as_deref().unwrap_or_default();
                printer::warn(&format!("it came back on {node}, not on {}", subject.node));
            }
            let summary = summary(&done, &subject, result.took);
            let (namespace, replaced) = (key.namespace.to_string(), key.name.to_string());
            Ok(RecreatedPod {
                namespace,
                replaced,
                seat: seat.to_owned(),
                done: *done,
                took: result.took,
                summary,
            })
        }
        outcome => Err(failure(&outcome, &subject)),
    }
}

fn executor<'a>(context: &'a Context, task: &'a RecreationTask) -> Executor<'a> {
    let own_uid = || task.target.node.as_ref().map(|node| node.uid.to_string());
    Executor {
        session: &context.session,
        target: &task.target,
        terms: task.terms.clone(),
        node: task.terms.node.clone(),
        node_uid: task.other_node_uid.clone().or_else(own_uid).unwrap_or_default(),
        reservation: task.reservation.clone(),
        id: task.reservation.as_ref().map(|reservation| reservation.id.clone()),
        removal: task.removal,
        life: task.life,
        keep_request: keep_annotation::KeepRequest::default(),
        keep_method: task.terms.keep_method,
    }
}

/// The name of the reservation.
fn seat(task: &RecreationTask) -> String {
    let seat = task.reservation.as_ref().and_then(|reservation| reservation.id.seat.as_ref());
    seat.map(|seat| seat.as_str().to_owned()).unwrap_or_default()
}

/// The output of a dry run. With `--dry-run=server` the server checks each step.
pub(crate) async fn dry_run(
    context: &Context,
    task: &RecreationTask,
    dry_run: DryRun,
) -> Result<String, Failure> {
    let name = task.target.name();
    if dry_run != DryRun::Server {
        return Ok(format!("{name} recreated (dry run)\n"));
    }
    let mut text = String::new();
    let executor = executor(context, task);
    let subject = RecreateSubject {
        pod: &task.target.pod.key.name,
        namespace: &task.target.pod.key.namespace,
        node: &executor.node,
        seat: &seat(task),
        backup: None,
        is_alone: true,
    };
    match evict::evict(executor.session, executor.target, executor.removal, true).await {
        Answer::Allowed => text += &format!("{name} evicted (server dry run)\n"),
        answer => return Err(refused(answer, &subject)),
    }
    if let (Some(wanted), KeepMethod::Reservation) = (&executor.reservation, executor.keep_method) {
        let answer =
            keep::reserve(executor.session, &executor.node, &executor.node_uid, wanted, DryRun::Server).await;
        match answer {
            Answer::Reserved { .. } => text += &format!("node/{} reserved (server dry run)\n", executor.node),
            answer => return Err(refused(answer, &subject)),
        }
    }
    Ok(text)
}

fn refused(answer: Answer, subject: &RecreateSubject<'_>) -> Failure {
    use crate::flow::recreate::{Leftover, Refusal, StopReason};
    let why = match answer {
        Answer::Refused(Refusal::Budget(blocked)) => StopReason::Budget(blocked),
        Answer::Refused(Refusal::Gone) => StopReason::Gone,
        Answer::Refused(Refusal::Soon(_)) => StopReason::Failed("not now; try again in a few seconds".into()),
        Answer::Failed(why) => why,
        Answer::Lost(why) => StopReason::Failed(why),
        other => StopReason::Failed(format!("{other:?}")),
    };
    let outcome = RecreationOutcome::Stopped {
        why,
        leftover: Leftover::Nothing,
        is_evicted: false,
        must_create: false,
    };
    failure(&outcome, subject)
}

/// The user answered no.
pub(crate) fn declined() -> Failure {
    printer::say("Nothing was changed.");
    Failure::silent(Exit::Error)
}

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
mod prepare;
mod recheck;
mod resume;
pub(crate) mod rights;
pub(crate) mod target;
mod unenforced;

pub(crate) use elsewhere::{NodeReservation, keep_alive, release, reserve, take_over};
pub(crate) use prepare::{RecreationTask, prepare};
pub(crate) use resume::{ResumeTask, find_gone, resume};
pub(crate) use unenforced::{not_enforced, unknown};

use super::Context;
use crate::connect::Session;
use crate::error::{Exit, Failure};
use crate::flow::budget::{BlockedEviction, forbid};
use crate::flow::recreate::{
    Answer, KeepMethod, Leftover, NodeMatch, RecreationOutcome, Refusal, Request, StopReason, Success, Terms,
};
use crate::node_patch::DryRun;
use crate::render::recreate::{RecreateSubject, failure, kept_words, line, summary};
use crate::ui::printer;
use common::model::{PodKey, Reservation};
use drive::{DriveResult, drive};
use executor::Executor;
use look::look;
use std::collections::BTreeSet;
use std::time::Duration;

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
    let not_enforcing: BTreeSet<&str> =
        competing_pods.filter(|pod| pod.enforces == Some(false)).map(|pod| pod.scheduler.as_str()).collect();
    if task.terms.keep_method == KeepMethod::Nothing {
        return;
    }
    for name in not_enforcing {
        printer::warn_once(&format!(
            "{name} does not enforce reservations: Pending pods that it places may take the room"
        ));
    }
}

pub(crate) async fn recreate(context: &Context, task: RecreationTask) -> Result<RecreatedPod, Failure> {
    let backup = match task.terms.creates {
        true => Some(bare::back_up(&task.target)?.display().to_string()),
        false => None,
    };
    if let Some(backup) = &backup {
        printer::say(&format!("  manifest backed up to {backup}"));
    }
    let run = Run {
        key: &task.target.pod.key,
        terms: &task.terms,
        amount: &task.plan.amount,
        seat: seat(task.reservation.as_ref()),
        backup,
        removed: task.removal.word(),
        is_alone: task.other_node_uid.is_none(),
    };
    let mut executor = Executor::new(&context.session, &task);
    let carry_out = async |request, keep_method| Box::pin(executor.carry_out(request, keep_method)).await;
    run.drive(carry_out).await
}

/// Does the rest of a run that was interrupted.
pub(crate) async fn go_on(context: &Context, task: ResumeTask) -> Result<RecreatedPod, Failure> {
    let task = match task {
        ResumeTask::Live(task) => return recreate(context, *task).await,
        ResumeTask::Gone(task) => task,
    };
    let run = Run {
        key: &task.lookup.key,
        terms: &task.terms,
        amount: &task.plan.amount,
        seat: seat(Some(&task.reservation)),
        backup: None,
        removed: "evicted",
        is_alone: true,
    };
    let carry_out = async |request, _| match request {
        Request::Look => Box::pin(look(&context.session, &task.lookup)).await,
        other => Answer::Failed(StopReason::Failed(format!("the pod is gone, which excludes {other:?}"))),
    };
    run.drive(carry_out).await
}

/// One recreation, as far as its messages need it.
struct Run<'a> {
    key: &'a PodKey,
    terms: &'a Terms,
    amount: &'a str,
    /// The name of the reservation.
    seat: String,
    /// The file with the manifest of the old pod, if it was backed up.
    backup: Option<String>,
    /// `evicted` or `deleted`.
    removed: &'static str,
    /// Whether no other pod is moved with this one.
    is_alone: bool,
}

impl Run<'_> {
    async fn drive(
        &self,
        carry_out: impl AsyncFnMut(Request, KeepMethod) -> Answer,
    ) -> Result<RecreatedPod, Failure> {
        let subject = self.subject();
        let report = |event: &_, at: Duration| printer::say(&line(event, &subject, self.amount, at));
        self.finish(drive(self.terms.clone(), carry_out, report).await?)
    }

    fn subject(&self) -> RecreateSubject<'_> {
        RecreateSubject {
            pod: &self.key.name,
            namespace: &self.key.namespace,
            node: &self.terms.node,
            seat: &self.seat,
            backup: self.backup.as_deref(),
            removed: self.removed,
            is_alone: self.is_alone,
        }
    }

    fn finish(&self, result: DriveResult) -> Result<RecreatedPod, Failure> {
        let subject = self.subject();
        let done = match result.outcome {
            RecreationOutcome::Done(done) => *done,
            outcome => return Err(failure(&outcome, &subject)),
        };
        if let Some(kept) = kept_words(done.leftover, &subject) {
            printer::say(&kept);
        }
        let is_elsewhere = done.node_match == Some(NodeMatch::Elsewhere);
        if is_elsewhere && self.terms.keep_method != KeepMethod::Nothing {
            let node = done.node.as_deref().unwrap_or_default();
            printer::warn(&format!("it came back on {node}, not on {}", subject.node));
        }
        Ok(RecreatedPod {
            namespace: self.key.namespace.to_string(),
            replaced: self.key.name.to_string(),
            seat: self.seat.clone(),
            summary: summary(&done, &subject, result.took),
            done,
            took: result.took,
        })
    }
}

fn seat(reservation: Option<&Reservation>) -> String {
    let seat = reservation.and_then(|reservation| reservation.id.seat.as_ref());
    seat.map(|seat| seat.as_str().to_owned()).unwrap_or_default()
}

/// The output of a dry run. With `--dry-run=server` the server checks each step.
pub(crate) async fn dry_run(
    context: &Context,
    task: &RecreationTask,
    dry_run: DryRun,
) -> Result<String, Failure> {
    let (name, removed) = (task.target.name(), task.removal.word());
    let mut text = String::new();
    let (session, node) = (&context.session, &task.terms.node);
    let subject = RecreateSubject {
        pod: &task.target.pod.key.name,
        namespace: &task.target.pod.key.namespace,
        node,
        seat: &seat(task.reservation.as_ref()),
        backup: None,
        removed,
        is_alone: true,
    };
    if dry_run != DryRun::Server {
        return match blocked(session, task).await {
            Some(blocked) => Err(refused(Answer::Refused(Refusal::Budget(Box::new(blocked))), &subject)),
            None => Ok(format!("{name} recreated (dry run)\n")),
        };
    }
    match evict::evict(session, &task.target, task.removal, true).await {
        Answer::Allowed => text += &format!("{name} {removed} (server dry run)\n"),
        answer => return Err(refused(answer, &subject)),
    }
    if let (Some(wanted), KeepMethod::Reservation) = (&task.reservation, task.terms.keep_method) {
        match keep::reserve(session, node, &task.node_uid(), wanted, DryRun::Server).await {
            Answer::Reserved { .. } => text += &format!("node/{node} reserved (server dry run)\n"),
            answer => return Err(refused(answer, &subject)),
        }
    }
    Ok(text)
}

/// What forbids the eviction, as far as the budgets that were read say.
async fn blocked(session: &Session, task: &RecreationTask) -> Option<BlockedEviction> {
    let pod = &task.target.pod;
    let budgets = task.plan.budgets.as_deref().unwrap_or_default();
    let is_asked = !task.removal.ignores_budgets && !pod.deleting;
    if !is_asked || !forbid(budgets, pod.is_ready) {
        return None;
    }
    Some(budgets::blocked(session, pod, String::new()).await)
}

fn refused(answer: Answer, subject: &RecreateSubject<'_>) -> Failure {
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

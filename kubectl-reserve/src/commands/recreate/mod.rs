//! Recreating one pod, from its name to the last line; `pod`, `restart` and `drain` share it.

mod amount;
mod bare;
mod budgets;
mod checks;
mod drive;
mod elsewhere;
mod evict;
mod executor;
pub(crate) mod keep;
mod look;
mod owners;
mod prepare;
mod recheck;
mod resume;
pub(crate) mod rights;
mod rivals;
pub(crate) mod target;
mod wish;

pub(crate) use elsewhere::{Kept, keep_alive, release, reserve, take_over};
pub(crate) use look::{Sent, sent};
pub(crate) use prepare::{Prepared, prepare};
pub(crate) use resume::{find_gone, resume};

use super::Context;
use crate::error::{Exit, Failure};
use crate::flow::recreate::{Answer, Done, Keeping, Landed, Outcome};
use crate::node_patch::DryRun;
use crate::render::recreate::{Whom, failure, kept_words, line, summary};
use crate::ui::printer;
use drive::{Driven, drive};
use executor::Executor;
use std::path::PathBuf;
use std::time::Duration;

/// What came of one pod.
pub(crate) struct Recreated {
    /// The old pod.
    pub(crate) namespace: String,
    pub(crate) replaced: String,
    pub(crate) seat: String,
    pub(crate) done: Done,
    pub(crate) took: Duration,
    /// The last line.
    pub(crate) summary: String,
}

/// Warns of whoever could take the room although it is kept.
pub(crate) fn warn_of_rivals(prepared: &Prepared) {
    let rivals = prepared.plan.rivals.iter().flatten();
    let heedless: Vec<&str> =
        rivals.filter(|rival| !rival.enforces).map(|rival| rival.scheduler.as_str()).collect();
    if heedless.is_empty() || prepared.terms.keeping == Keeping::Nothing {
        return;
    }
    let mut names = heedless.clone();
    names.sort_unstable();
    names.dedup();
    let (count, names) = (heedless.len(), names.join(", "));
    let who = if count == 1 { "1 of them is".to_owned() } else { format!("{count} of them are") };
    printer::warn(&format!("{who} placed by {names}, which does not enforce reservations"));
}

/// Recreates the pod.
pub(crate) async fn recreate(context: &Context, prepared: Prepared) -> Result<Recreated, Failure> {
    let backup = match prepared.terms.creates && !prepared.terms.is_gone {
        true => Some(bare::back_up(&prepared.target)?),
        false => None,
    };
    if let Some(backup) = &backup {
        printer::say(&format!("  manifest backed up to {}", backup.display()));
    }
    let mut executor = executor(context, &prepared);
    let name = prepared.target.name();
    let seat = seat(&prepared);
    let keeps = format!("node/{}  {}", executor.node, prepared.plan.amount);
    let driven = drive(&mut executor, |news, at| printer::say(&line(news, &name, &keeps, &seat, at))).await;
    finish(&prepared, driven?, &seat, backup)
}

fn finish(
    prepared: &Prepared,
    driven: Driven,
    seat: &str,
    backup: Option<PathBuf>,
) -> Result<Recreated, Failure> {
    let backup = backup.map(|path| path.display().to_string());
    let key = &prepared.target.pod.key;
    let whom = Whom {
        pod: &key.name,
        namespace: &key.namespace,
        node: &prepared.terms.node,
        seat,
        backup: backup.as_deref(),
        is_alone: prepared.place_uid.is_none(),
    };
    match driven.outcome {
        Outcome::Done(done) => {
            if let Some(kept) = kept_words(done.stays, &whom) {
                printer::say(&kept);
            }
            let is_elsewhere = done.landed == Some(Landed::Elsewhere);
            if is_elsewhere && prepared.terms.keeping != Keeping::Nothing {
                let node = done.node.as_deref().unwrap_or_default();
                printer::warn(&format!("it came back on {node}, not on {}", whom.node));
            }
            let summary = summary(&done, &whom, driven.took);
            let (namespace, replaced) = (key.namespace.to_string(), key.name.to_string());
            Ok(Recreated {
                namespace,
                replaced,
                seat: seat.to_owned(),
                done: *done,
                took: driven.took,
                summary,
            })
        }
        outcome => Err(failure(&outcome, &whom)),
    }
}

fn executor<'a>(context: &'a Context, prepared: &'a Prepared) -> Executor<'a> {
    let own_uid = || prepared.target.node.as_ref().map(|node| node.uid.to_string());
    Executor {
        session: &context.session,
        target: &prepared.target,
        terms: prepared.terms.clone(),
        node: prepared.terms.node.clone(),
        node_uid: prepared.place_uid.clone().or_else(own_uid).unwrap_or_default(),
        reservation: prepared.reservation.clone(),
        id: prepared.reservation.as_ref().map(|reservation| reservation.id.clone()),
        removal: prepared.removal,
        life: prepared.life,
        wish: wish::Wish::default(),
        keeping: prepared.terms.keeping,
    }
}

/// What the reservation is called.
fn seat(prepared: &Prepared) -> String {
    let seat = prepared.reservation.as_ref().and_then(|reservation| reservation.id.seat.as_ref());
    seat.map(|seat| seat.as_str().to_owned()).unwrap_or_default()
}

/// What a dry run says: on the server each step is checked.
pub(crate) async fn rehearse(
    context: &Context,
    prepared: &Prepared,
    dry_run: DryRun,
) -> Result<String, Failure> {
    let name = prepared.target.name();
    if dry_run != DryRun::Server {
        return Ok(format!("{name} recreated (dry run)\n"));
    }
    let mut text = String::new();
    let executor = executor(context, prepared);
    let whom = Whom {
        pod: &prepared.target.pod.key.name,
        namespace: &prepared.target.pod.key.namespace,
        node: &executor.node,
        seat: &seat(prepared),
        backup: None,
        is_alone: true,
    };
    match evict::evict(executor.session, executor.target, executor.removal, true).await {
        Answer::Allowed => text += &format!("{name} evicted (server dry run)\n"),
        answer => return Err(refused(answer, &whom)),
    }
    if let (Some(wanted), Keeping::Reservation) = (&executor.reservation, executor.keeping) {
        let answer =
            keep::reserve(executor.session, &executor.node, &executor.node_uid, wanted, DryRun::Server).await;
        match answer {
            Answer::Reserved { .. } => text += &format!("node/{} reserved (server dry run)\n", executor.node),
            answer => return Err(refused(answer, &whom)),
        }
    }
    Ok(text)
}

fn refused(answer: Answer, whom: &Whom<'_>) -> Failure {
    use crate::flow::recreate::{Refusal, Stays, Why};
    let why = match answer {
        Answer::Refused(Refusal::Budget(blocked)) => Why::Budget(blocked),
        Answer::Refused(Refusal::Gone) => Why::Gone,
        Answer::Refused(Refusal::Soon(_)) => Why::Failed("not now; try again in a few seconds".into()),
        Answer::Failed(why) => why,
        Answer::Lost(why) => Why::Failed(why),
        other => Why::Failed(format!("{other:?}")),
    };
    let outcome = Outcome::Stopped { why, stays: Stays::Nothing, is_evicted: false, must_create: false };
    failure(&outcome, whom)
}

/// Somebody said no.
pub(crate) fn declined() -> Failure {
    printer::say("Nothing was changed.");
    Failure::silent(Exit::Error)
}

//! `kubectl reserve explain`: why pods are Pending, in the scheduler's own judgement.
//!
//! What is asked for is found (`subject`), the cluster is read, and what else is said about it (`evidence`); then one pod at
//! a time is judged (`answer`), and printed.

mod answer;
mod evidence;
mod show;
mod subject;
mod triage;

use super::Context;
use crate::cli::Explain;
use crate::connect::Session;
use crate::error::{Exit, Failure};
use crate::explain;
use crate::print;
use crate::rights::{self, Right};
use crate::ui::{Ui, printer};
use crate::world::{self, Depth, Intake, Saver, World};
use answer::{Answers, Asking};
use show::Shown;
use std::time::Duration;
use subject::Subject;

/// How often `-w` looks again.
const PAUSE: Duration = Duration::from_secs(2);

/// Where the answer comes from.
enum Source<'s> {
    Cluster(&'s Session),
    /// A snapshot, asked about the namespace that was named, or else the one that it was saved with.
    Snapshot(Option<&'s str>),
}

pub(crate) async fn run(args: &Explain, context: &Context) -> Result<(), Failure> {
    let (source, named) = (Source::Cluster(&context.session), context.context.as_deref());
    if !args.watch {
        return finish(args, &once(args, &source, &context.ui, named).await?);
    }
    let mut last: Option<Answers> = None;
    loop {
        let answers = once(args, &source, &context.ui, named).await?;
        if last.as_ref().is_none_or(|last| !last.is_same(&answers)) {
            if last.is_some() && args.print.output.is_table() {
                printer::out("\n")?;
            }
            print_all(args, &answers)?;
        }
        last = Some(answers);
        tokio::time::sleep(PAUSE).await;
    }
}

/// The same without a cluster.
pub(crate) async fn offline(args: &Explain, namespace: Option<&str>, ui: &Ui) -> Result<(), Failure> {
    finish(args, &once(args, &Source::Snapshot(namespace), ui, None).await?)
}

async fn once(
    args: &Explain,
    source: &Source<'_>,
    ui: &Ui,
    context: Option<&str>,
) -> Result<Answers, Failure> {
    let (subject, mut world) = match source {
        Source::Cluster(session) => {
            let subject = subject::find(args, session).await?;
            let world = read(args, session, ui, &subject).await?;
            (subject, world)
        }
        Source::Snapshot(namespace) => {
            let path = args.snapshot.as_deref().unwrap_or_else(|| std::path::Path::new(""));
            let mut world = world::load(path, subject::names(args)?.into_iter())?;
            if let Some(namespace) = namespace {
                world.namespace = (*namespace).to_owned();
            }
            (subject::recall(args, &world)?, world)
        }
    };
    if let Source::Cluster(session) = source {
        evidence::read(session, &mut world, &subject).await?;
    }
    world.save()?;
    let needs = world.needs();
    if needs.is_empty() {
        world.warn();
    }
    let asking = Asking::new(args, &world, context)?;
    let mut answers = answer::answers(&asking, &subject, world, needs)?;
    if let Source::Cluster(session) = source {
        ask_rights(session, &mut answers).await?;
    }
    Ok(answers)
}

/// Whether the caller may do what would help.
async fn ask_rights(session: &Session, answers: &mut Answers) -> Result<(), Failure> {
    for report in answers.pods.iter_mut().map(|one| &mut one.report) {
        let rights = report.needs();
        let asked = |right: &explain::Right| {
            Right::new(right.verb, right.group, &right.resource, right.namespace.as_deref())
        };
        let missing = rights::missing(session, &rights.iter().map(asked).collect::<Vec<_>>()).await?;
        report.note_rights(|right| Some(!missing.contains(&asked(right))));
    }
    Ok(())
}

async fn read(args: &Explain, session: &Session, ui: &Ui, subject: &Subject) -> Result<World, Failure> {
    let saver = args.save_snapshot.as_deref().map(Saver::create).transpose()?;
    let mut intake = Intake::saving(saver);
    intake.detail(subject.names().into_iter());
    for json in &subject.sources {
        intake.take(world::Resource::Pods, json).map_err(Failure::new)?;
    }
    world::read(session, ui, Depth::Reasons, intake).await
}

fn print_all(args: &Explain, answers: &Answers) -> Result<(), Failure> {
    if answers.is_nothing() && args.print.output.is_table() {
        printer::say(&answers.nothing_found());
        return Ok(());
    }
    printer::out(&print::text(&args.print, &Shown { answers, is_brief: args.brief })?)
}

fn finish(args: &Explain, answers: &Answers) -> Result<(), Failure> {
    print_all(args, answers)?;
    if !answers.needs.is_empty() && answers.is_unseen() {
        return Err(Failure::new("without nodes it cannot be said what each of them lacks")
            .hint(format!("needs: {}", answers.needs.join("; ")))
            .exit(Exit::Forbidden));
    }
    if args.exit_code && answers.is_blocked() { Err(Failure::silent(Exit::NoFit)) } else { Ok(()) }
}

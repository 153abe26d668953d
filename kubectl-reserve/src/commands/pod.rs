//! `kubectl reserve pod`: recreates pods, one after the other, and keeps their room meanwhile.

use super::Context;
use super::recreate::{
    Prepared, Recreated, declined, find_gone, prepare, recreate, rehearse, resume, warn_of_rivals,
};
use crate::cli::recreate::SameNode;
use crate::cli::{Pod, Recreate};
use crate::connect::{Session, is_name};
use crate::error::{Exit, Failure};
use crate::flow::places::in_the_way;
use crate::names::{self, Choice, asked, find, labelled};
use crate::node_patch::DryRun;
use crate::print::Output;
use crate::render::recreate::{Reports, plan};
use crate::ui::progress::Otherwise;
use crate::ui::signal::Stops;
use crate::ui::{Ui, printer};
use crate::world;
use common::model::{NodeName, PodKey};
use common::plugins::default_registry;
use jiff::Timestamp;

const REASON: &str = "kubectl reserve pod";

pub(crate) async fn run(args: &Pod, context: &Context) -> Result<(), Failure> {
    if let Some(seat) = &args.resume {
        let prepared = resume(context, seat, &args.recreate).await?;
        printer::say(plan(&prepared.plan).trim_end());
        let done = recreate(context, prepared).await?;
        return report(args, &[done]);
    }
    let keys = keys(args, context).await?;
    let mut prepared = Vec::new();
    for key in &keys {
        let next = ready(args, context, key).await?;
        show(args, &next)?;
        if args.recreate.dry_run.dry_run != DryRun::None {
            printer::out(&rehearse(context, &next, args.recreate.dry_run.dry_run).await?)?;
        } else {
            prepared.push(next);
        }
    }
    if prepared.is_empty() {
        return Ok(());
    }
    if !args.interactive && !agree(&context.ui, &prepared)? {
        return Err(declined());
    }
    Box::pin(one_by_one(args, context, prepared)).await
}

async fn one_by_one(args: &Pod, context: &Context, prepared: Vec<Prepared>) -> Result<(), Failure> {
    // Also between two pods Ctrl-C is ours to answer.
    let mut stops = Stops::listen()?;
    let mut done: Vec<Recreated> = Vec::new();
    let count = prepared.len();
    for (index, mut next) in prepared.into_iter().enumerate() {
        if args.interactive && !agree(&context.ui, std::slice::from_ref(&next))? {
            continue;
        }
        // Much may have happened while the ones before it were recreated.
        if index > 0 {
            let key = next.target.pod.key.clone();
            match Box::pin(stops.unless(ready(args, context, &key))).await {
                Ok(again) => next = again,
                Err(failure) => return stopped(args, &done, count - index, failure),
            }
        }
        let name = next.target.name();
        let spinner = context.ui.spinner(&format!("recreating {name}"), Otherwise::Nothing);
        let one = recreate(context, next).await;
        drop(spinner);
        match one {
            Ok(one) => done.push(one),
            Err(failure) => return stopped(args, &done, count - index - 1, failure),
        }
    }
    report(args, &done)
}

/// The pod, ready to be recreated in its place or in another.
async fn ready(args: &Pod, context: &Context, key: &PodKey) -> Result<Prepared, Failure> {
    let Some(to) = &args.to else { return prepare(context, key, &args.recreate, REASON).await };
    if !is_name(to) {
        return Err(Failure::usage(format!("{to:?} is not the name of a node")));
    }
    // It comes back before the old one is gone: there is nothing to wait for.
    let flags = Recreate { same_node: SameNode::Prefer, ..args.recreate.clone() };
    let prepared = prepare(context, key, &flags, REASON).await?;
    if prepared.place() == to {
        return Err(Failure::usage(format!("{} is on {to} already", prepared.target.name())));
    }
    let prepared = prepared.elsewhere(context, to).await?;
    can_go(context, &prepared, to).await?;
    Ok(prepared)
}

/// Whoever moves a pod wants it to arrive: whether the node would have it is judged before anything is done.
async fn can_go(context: &Context, prepared: &Prepared, to: &str) -> Result<(), Failure> {
    let read = world::read(&context.session, &context.ui, world::Depth::Decisions, world::Intake::default());
    let mut world = read.await?.whole()?;
    let (pod, now) = (&prepared.target.pod, world.now);
    let reasons = in_the_way(&mut world.cluster, pod, &NodeName::from(to), &default_registry(), now);
    let reasons = reasons.map_err(|why| Failure::new(format!("{}: {why}", prepared.target.name())))?;
    if reasons.is_empty() {
        return Ok(());
    }
    let (name, reasons) = (prepared.target.name(), reasons.join(", "));
    Err(Failure::new(format!("{name} cannot go to {to}: {reasons}\n  Nothing was changed."))
        .hint("kubectl reserve nodes shows what is free")
        .exit(Exit::NoRoom))
}

/// It ends here: what was done is told, and how many were not begun.
fn stopped(args: &Pod, done: &[Recreated], left: usize, failure: Failure) -> Result<(), Failure> {
    report(args, done)?;
    match left {
        0 => {}
        1 => printer::say("1 more pod was not touched"),
        _ => printer::say(&format!("{left} more pods were not touched")),
    }
    Err(failure)
}

/// Shows the plan: as data when it is all that was asked for.
fn show(args: &Pod, ready: &Prepared) -> Result<(), Failure> {
    let text = plan(&ready.plan);
    if args.recreate.dry_run.dry_run == DryRun::None {
        printer::say(text.trim_end());
    } else {
        printer::out(&text)?;
    }
    warn_of_rivals(ready);
    Ok(())
}

fn agree(ui: &Ui, prepared: &[Prepared]) -> Result<bool, Failure> {
    let names: Vec<String> = prepared.iter().map(|ready| ready.target.name()).collect();
    let question = match &names[..] {
        [_] => "Recreate it now?".to_owned(),
        names => format!("Recreate these {} pods now, one after the other?", names.len()),
    };
    ui.confirm(&question, &format!("to recreate {}, or --dry-run to see the plan", names.join(", ")))
}

fn report(args: &Pod, done: &[Recreated]) -> Result<(), Failure> {
    if args.print.output == Output::Table {
        return done.iter().try_for_each(|one| printer::out(&format!("{}\n", one.summary)));
    }
    crate::print::print(&args.print, &Reports { done })
}

/// The pods that are meant.
async fn keys(args: &Pod, context: &Context) -> Result<Vec<PodKey>, Failure> {
    let session = &context.session;
    if let Some(selector) = &args.selector {
        let found = labelled(session, Some(&session.namespace), selector).await?;
        let live: Vec<PodKey> =
            found.into_iter().filter(|one| !one.pod.is_ended()).map(|one| one.pod.key).collect();
        if live.is_empty() {
            let text = format!("no pods with {selector} in namespace {}", session.namespace);
            return Err(Failure::new(text));
        }
        return Ok(live);
    }
    let mut keys = Vec::new();
    for asked in asked(&args.names)? {
        keys.push(one(session, &context.ui, &asked).await?);
    }
    Ok(keys)
}

/// The one pod that a name means. Nobody but a person chooses among several.
async fn one(session: &Session, ui: &Ui, asked: &names::Asked) -> Result<PodKey, Failure> {
    let target = match find(session, &session.namespace, asked).await {
        Ok(target) => target,
        Err(failure) => {
            let key = PodKey::new(&*session.namespace, &*asked.name);
            return Err(find_gone(session, &key).await.unwrap_or(failure));
        }
    };
    match target.one_pod() {
        Ok(found) => {
            if *found.pod.key.name != *asked.name {
                printer::say(&format!("{asked} has one pod: {}", found.pod.key.name));
            }
            Ok(found.pod.key)
        }
        Err(choice) if choice.pods.is_empty() || !ui.can_ask => Err(choice.into_failure(local_time())),
        Err(choice) => choose(ui, &choice, asked),
    }
}

fn choose(ui: &Ui, choice: &Choice, asked: &names::Asked) -> Result<PodKey, Failure> {
    let lines = choice.lines(local_time());
    let question = format!("{asked} has {} pods; which one?\n    {}", choice.pods.len(), lines[0]);
    let rows = lines[1..].to_vec();
    match ui.choose(&question, &rows, || Failure::usage("name one of them"))? {
        Some(index) => Ok(choice.pods[index].pod.key.clone()),
        None => Err(declined()),
    }
}

/// For ages that somebody reads.
#[expect(clippy::disallowed_methods, reason = "the command is the outermost layer")]
fn local_time() -> Timestamp {
    Timestamp::now()
}

//! `kubectl reserve pod`: recreates pods one after the other, and keeps their room meanwhile. The steps are in `recreate`.

use super::Context;
use super::recreate::{
    RecreatedPod, RecreationTask, declined, dry_run, find_gone, go_on, prepare, recreate, resume,
    warn_of_competing_pods,
};
use crate::cli::recreate::SameNode;
use crate::cli::{Pod, Recreate};
use crate::clock::local_time;
use crate::cluster_data;
use crate::connect::{Session, is_name};
use crate::error::{Exit, Failure};
use crate::flow::places::obstacles;
use crate::names::{self, PodChoice, find, labelled, parse_args};
use crate::node_patch::DryRun;
use crate::print::Output;
use crate::render::recreate::{Reports, plan};
use crate::ui::progress::ProgressFallback;
use crate::ui::signal::StopRequests;
use crate::ui::{Ui, printer};
use common::model::{NodeName, PodKey};
use common::plugins::default_registry;

const REASON: &str = "kubectl reserve pod";

pub(crate) async fn run(args: &Pod, context: &Context) -> Result<(), Failure> {
    if let Some(seat) = &args.resume {
        let task = resume(context, seat, &args.recreate).await?;
        printer::say(plan(task.plan()).trim_end());
        let done = go_on(context, task).await?;
        return report(args, &[done]);
    }
    let keys = keys(args, context).await?;
    let mut tasks = Vec::new();
    for key in &keys {
        let next = prepare_task(args, context, key).await?;
        show(args, &next)?;
        if args.recreate.dry_run.dry_run != DryRun::None {
            printer::out(&dry_run(context, &next, args.recreate.dry_run.dry_run).await?)?;
        } else {
            tasks.push(next);
        }
    }
    if tasks.is_empty() {
        return Ok(());
    }
    if !args.interactive && !agree(&context.ui, &tasks)? {
        return Err(declined());
    }
    Box::pin(one_by_one(args, context, tasks)).await
}

async fn one_by_one(args: &Pod, context: &Context, tasks: Vec<RecreationTask>) -> Result<(), Failure> {
    // Ctrl-C is handled here between two pods, too.
    let mut stops = StopRequests::listen()?;
    let mut done: Vec<RecreatedPod> = Vec::new();
    let count = tasks.len();
    for (index, mut next) in tasks.into_iter().enumerate() {
        if args.interactive && !agree(&context.ui, std::slice::from_ref(&next))? {
            continue;
        }
        // The cluster may have changed while the pods before were recreated.
        if index > 0 {
            let key = next.target.pod.key.clone();
            match Box::pin(stops.unless(prepare_task(args, context, &key))).await {
                Ok(again) => next = again,
                Err(failure) => return stopped(args, &done, count - index, failure),
            }
        }
        let name = next.target.name();
        let spinner = context.ui.spinner(&format!("recreating {name}"), ProgressFallback::Nothing);
        let one = recreate(context, next).await;
        drop(spinner);
        match one {
            Ok(one) => done.push(one),
            Err(failure) => return stopped(args, &done, count - index - 1, failure),
        }
    }
    report(args, &done)
}

/// The task for a pod that is recreated on its own node, or with `--to` on another one.
async fn prepare_task(args: &Pod, context: &Context, key: &PodKey) -> Result<RecreationTask, Failure> {
    let Some(to) = &args.to else { return prepare(context, key, &args.recreate, REASON).await };
    if !is_name(to) {
        return Err(Failure::usage(format!("{to:?} is not the name of a node")));
    }
    // The room on the other node is free before the old pod is gone, so the replacement need not wait for it.
    let flags = Recreate { same_node: SameNode::Prefer, ..args.recreate.clone() };
    let task = prepare(context, key, &flags, REASON).await?;
    if task.place() == to {
        return Err(Failure::usage(format!("{} is on {to} already", task.target.name())));
    }
    let task = task.elsewhere(context, to).await?;
    check_fit(context, &task, to).await?;
    Ok(task)
}

/// Fails if the pod does not fit on the node that `--to` names, before anything is changed.
async fn check_fit(context: &Context, task: &RecreationTask, to: &str) -> Result<(), Failure> {
    let read = cluster_data::read(
        &context.session,
        &context.ui,
        cluster_data::Depth::Decisions,
        cluster_data::ClusterDataBuilder::default(),
    );
    let mut data = read.await?.require_nodes_and_pods()?;
    let (pod, now) = (&task.target.pod, data.now);
    let reasons = obstacles(&mut data.cluster, pod, &NodeName::from(to), &default_registry(), now);
    let reasons = reasons.map_err(|why| Failure::new(format!("{}: {why}", task.target.name())))?;
    if reasons.is_empty() {
        return Ok(());
    }
    let (name, reasons) = (task.target.name(), reasons.join(", "));
    Err(Failure::new(format!("{name} cannot go to {to}: {reasons}\n  Nothing was changed."))
        .hint("kubectl reserve nodes shows what is free")
        .exit(Exit::NoRoom))
}

/// Ends after a failure: prints the pods that were recreated, and how many were not touched.
fn stopped(args: &Pod, done: &[RecreatedPod], left: usize, failure: Failure) -> Result<(), Failure> {
    report(args, done)?;
    match left {
        0 => {}
        1 => printer::say("1 more pod was not touched"),
        _ => printer::say(&format!("{left} more pods were not touched")),
    }
    Err(failure)
}

/// Prints the plan: on stdout for a dry run, because it is the result there, else on stderr.
fn show(args: &Pod, task: &RecreationTask) -> Result<(), Failure> {
    let text = plan(&task.plan);
    if args.recreate.dry_run.dry_run == DryRun::None {
        printer::say(text.trim_end());
    } else {
        printer::out(&text)?;
    }
    warn_of_competing_pods(task);
    Ok(())
}

fn agree(ui: &Ui, tasks: &[RecreationTask]) -> Result<bool, Failure> {
    let names: Vec<String> = tasks.iter().map(|task| task.target.name()).collect();
    let question = match &names[..] {
        [_] => "Recreate it now?".to_owned(),
        names => format!("Recreate these {} pods now, one after the other?", names.len()),
    };
    ui.confirm(&question, &format!("to recreate {}, or --dry-run to see the plan", names.join(", ")))
}

fn report(args: &Pod, done: &[RecreatedPod]) -> Result<(), Failure> {
    if args.print.output == Output::Table {
        return done.iter().try_for_each(|one| printer::out(&format!("{}\n", one.summary)));
    }
    crate::print::print(&args.print, &Reports { done })
}

/// The pods that the arguments name.
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
    for asked in parse_args(&args.names)? {
        keys.push(one(session, &context.ui, &asked).await?);
    }
    Ok(keys)
}

/// The pod that an argument names. If a workload has several pods, the user is asked; without a terminal it is an error.
async fn one(session: &Session, ui: &Ui, asked: &names::ObjectArg) -> Result<PodKey, Failure> {
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

fn choose(ui: &Ui, choice: &PodChoice, asked: &names::ObjectArg) -> Result<PodKey, Failure> {
    let lines = choice.lines(local_time());
    let question = format!("{asked} has {} pods; which one?\n    {}", choice.pods.len(), lines[0]);
    let rows = lines[1..].to_vec();
    match ui.choose(&question, &rows, || Failure::usage("name one of them"))? {
        Some(index) => Ok(choice.pods[index].pod.key.clone()),
        None => Err(declined()),
    }
}

//! `kubectl reserve fit`: would it fit, where, and how many.

use super::Context;
use crate::cli::Fit;
use crate::error::{Exit, Failure};
use crate::explain::Rules;
use crate::fit::{REPLICAS_MAX, Shape, place, pod};
use crate::manifest::{self, Wanted};
use crate::print::print;
use crate::render::fit::Report;
use crate::world::{self, Depth, Intake, World};
use common::cluster::{Enforcement, enforcement};
use common::model::Replica;
use std::path::Path;

pub(crate) async fn run(args: &Fit, context: &Context) -> Result<(), Failure> {
    let documents = documents(args)?;
    let world = world::read(&context.session, &context.ui, Depth::Reasons, Intake::default()).await?;
    answer(args, &documents, world)
}

/// The same without a cluster.
pub(crate) fn offline(args: &Fit, snapshot: &Path, namespace: Option<&str>) -> Result<(), Failure> {
    let documents = documents(args)?;
    let mut world = world::load(snapshot, std::iter::empty())?;
    if let Some(namespace) = namespace {
        namespace.clone_into(&mut world.namespace);
    }
    answer(args, &documents, world)
}

fn documents(args: &Fit) -> Result<Vec<serde_json::Value>, Failure> {
    if args.replicas.is_some_and(|replicas| replicas > REPLICAS_MAX) {
        return Err(Failure::usage(format!("--replicas: at most {REPLICAS_MAX}")));
    }
    if !args.filenames.is_empty() {
        return manifest::read(&args.filenames, args.recursive);
    }
    if args.cpu.is_none() && args.memory.is_none() && args.resource.is_empty() {
        return Err(Failure::usage("say what is to fit: -f FILE, or --cpu, --memory, --resource"));
    }
    Ok(vec![pod(&Shape {
        cpu: args.cpu.as_deref(),
        memory: args.memory.as_deref(),
        resources: &args.resource,
        priority_class: args.priority_class.as_deref(),
        node_selector: &args.node_selector,
        tolerations: &args.toleration,
        scheduler: args.scheduler.as_deref(),
    })?])
}

fn answer(args: &Fit, documents: &[serde_json::Value], world: World) -> Result<(), Failure> {
    let mut world = world.whole()?;
    world.warn();
    let wanted = manifest::wanted(documents, &world.namespace, &world.notes.priority_classes)?;
    if wanted.is_empty() {
        return Err(Failure::usage("there is no pod and no workload in what -f names"));
    }
    let (replicas, now): (Vec<Replica>, _) = (world.cluster.replicas().iter().cloned().collect(), world.now);
    let rules = Rules::new(move |name| enforcement(replicas.iter(), name, now) != Enforcement::Nobody);
    let count = |one: &Wanted| (!args.per_node).then(|| args.replicas.unwrap_or(one.replicas));
    let fitted =
        wanted.iter().map(|one| place(&mut world.cluster, one, count(one), &rules, world.now)).collect();
    let report = Report { fitted, now: world.now };
    print(&args.print, &report)?;
    let is_whole = report.fitted.iter().all(|one| one.is_whole());
    if is_whole { Ok(()) } else { Err(Failure::silent(Exit::NoFit)) }
}

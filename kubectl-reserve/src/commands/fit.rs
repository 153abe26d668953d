//! `kubectl reserve fit`: whether pods that do not exist would fit, on which nodes, and how many of them.

use super::Context;
use crate::cli::Fit;
use crate::clock::local_time;
use crate::cluster_data::{self, ClusterData, ClusterDataBuilder, Depth, Resource};
use crate::error::{Exit, Failure};
use crate::explain::Rules;
use crate::fit::{PodFlags, REPLICAS_MAX, next_pod, place, pod_manifest};
use crate::manifest::{self, ManifestPod};
use crate::print::{print, print_picture};
use crate::render::fit::FitReport;
use crate::render::picture::{self, Picture, PictureSource};
use common::cluster::{Enforcement, enforcement};
use common::model::Replica;
use std::path::Path;

pub(crate) async fn run(args: &Fit, context: &Context) -> Result<(), Failure> {
    let documents = documents(args)?;
    let data =
        cluster_data::read(&context.session, &context.ui, Depth::Reasons, ClusterDataBuilder::default())
            .await?;
    let source = PictureSource::server(&context.session.server, context.context.as_deref(), local_time());
    answer(args, &documents, data, source)
}

/// The same for a saved snapshot.
pub(crate) fn offline(args: &Fit, snapshot: &Path, namespace: Option<&str>) -> Result<(), Failure> {
    let documents = documents(args)?;
    let mut data = cluster_data::load(snapshot, std::iter::empty())?;
    if let Some(namespace) = namespace {
        namespace.clone_into(&mut data.namespace);
    }
    answer(args, &documents, data, PictureSource::snapshot(snapshot, local_time()))
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
    Ok(vec![pod_manifest(&PodFlags {
        cpu: args.cpu.as_deref(),
        memory: args.memory.as_deref(),
        resources: &args.resource,
        priority_class: args.priority_class.as_deref(),
        node_selector: &args.node_selector,
        tolerations: &args.toleration,
        scheduler: args.scheduler.as_deref(),
    })?])
}

fn answer(
    args: &Fit,
    documents: &[serde_json::Value],
    data: ClusterData,
    source: PictureSource,
) -> Result<(), Failure> {
    let mut data = data.require_nodes_and_pods()?;
    data.warn_about_unreadable();
    let manifest_pods =
        manifest::manifest_pods(documents, &data.namespace, &data.diagnostics.priority_classes)?;
    if manifest_pods.is_empty() {
        return Err(Failure::usage("there is no pod and no workload in what -f names"));
    }
    let (replicas, now): (Vec<Replica>, _) = (data.cluster.replicas().iter().cloned().collect(), data.now);
    let rules = Rules::new(move |name| enforcement(replicas.iter(), name, now) != Enforcement::Nobody)
        .known(!data.unreadable.contains(&Resource::Replicas));
    let count = |one: &ManifestPod| (!args.per_node).then(|| args.replicas.unwrap_or(one.replicas));
    let (mut results, mut layers) = (Vec::new(), Vec::new());
    for one in &manifest_pods {
        let result = place(&mut data.cluster, one, count(one), &rules, data.now);
        if args.print.output.is_picture() {
            layers
                .push(picture::of_fit(&result, &next_pod(&mut data.cluster, one, &result, &rules, data.now)));
        }
        results.push(result);
    }
    let report = FitReport { results, now: data.now };
    if args.print.output.is_picture() {
        let tiles = picture::of_snapshot(&data.cluster.snapshot(data.now), data.now, |_| true);
        let title = "What fits".into();
        print_picture(&args.print, &Picture { title, source, read_at: data.now, tiles, layers })?;
    } else {
        print(&args.print, &report)?;
    }
    let is_complete = report.results.iter().all(|one| one.is_complete());
    if is_complete { Ok(()) } else { Err(Failure::silent(Exit::NoFit)) }
}

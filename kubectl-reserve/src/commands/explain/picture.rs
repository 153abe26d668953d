//! The picture of `explain`: a layer for each pod that is explained, and for everything Pending the causes in words.

use super::answer::{Answers, PodAnswer};
use crate::cli::Explain;
use crate::cluster_data::ClusterData;
use crate::render::pending;
use crate::render::picture::{Layer, NodeTile, Picture, PictureSource, of_nodes, of_report, of_snapshot};

/// The nodes, if a picture was asked for and they can be read.
pub(super) fn tiles(args: &Explain, data: &mut ClusterData) -> Vec<NodeTile> {
    if !args.print.output.is_picture() {
        return Vec::new();
    }
    of_snapshot(&data.cluster.snapshot(data.now), data.now, |_| true)
}

pub(super) fn picture(answers: &Answers, source: PictureSource) -> Picture {
    let mut layers: Vec<Layer> = Vec::new();
    let workloads = answers.blocked_workloads.iter().map(|one| one.sentence());
    let words: Vec<String> = workloads.chain(answers.complete_workloads.iter().cloned()).collect();
    if answers.causes.is_some() || !words.is_empty() {
        layers.push(overview(answers, words));
    }
    layers.extend(answers.pods.iter().map(|one| layer(one, &answers.tiles)));
    if layers.is_empty() {
        layers.push(of_nodes(&answers.tiles));
    }
    let title = match (&answers.pods[..], &answers.causes) {
        ([only], None) => {
            let summary = &only.report.pod_summary;
            format!("Pod {}/{}", summary.namespace, summary.name)
        }
        _ => "Pending pods".to_owned(),
    };
    Picture { title, source, read_at: answers.now, tiles: answers.tiles.clone(), layers }
}

/// All nodes, and what is Pending by cause.
fn overview(answers: &Answers, words: Vec<String>) -> Layer {
    let mut lines = match &answers.causes {
        Some(_) if answers.is_nothing() => vec![answers.nothing_found()],
        Some(causes) => pending::lines(causes, answers.namespace.as_deref()),
        None => Vec::new(),
    };
    lines.extend(words);
    let mut layer = of_nodes(&answers.tiles);
    (layer.title, layer.lines) = ("Everything".to_owned(), lines);
    layer
}

fn layer(one: &PodAnswer, tiles: &[NodeTile]) -> Layer {
    let mut layer = of_report(&one.report, tiles);
    if !one.others.is_empty() {
        layer.lines.push(format!("For the same reason wait: {}", one.others.join(", ")));
    }
    layer
}

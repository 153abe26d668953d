//! `bench-cluster` compares our daemon with the real kube-scheduler, on a real kube-apiserver.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use reserve_tests::bench_cluster::{BenchPlan, ClusterBenchReport, Contender, Row, firehose, run};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [word, kubeconfig, nodes, pods] if word == "firehose" => bind_all(kubeconfig, nodes, pods).await,
        _ => until_interrupted(&arguments).await,
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

async fn bind_all(kubeconfig: &str, nodes: &str, pods: &str) -> Result<bool> {
    let (nodes, pods) = (nodes.parse().context("how many nodes?")?, pods.parse().context("how many pods?")?);
    firehose::run(Path::new(kubeconfig), nodes, pods).await.map(|()| true)
}

/// Measures. SIGINT and SIGTERM end the cluster in order. false: a bar was missed, or a signal came.
async fn until_interrupted(arguments: &[String]) -> Result<bool> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        biased;
        _ = interrupt.recv() => Ok(false),
        _ = terminate.recv() => Ok(false),
        done = measure(BenchPlan::parse(arguments)?) => done,
    }
}

/// Runs everything and prints the table. false: a bar was missed.
async fn measure(plan: BenchPlan) -> Result<bool> {
    let mut report =
        ClusterBenchReport { shapes: vec![], size: (plan.nodes, plan.pods), has_bars: plan.has_bars };
    for shape in &plan.shapes {
        let mut rows = Vec::new();
        for pair in 0..plan.pairs {
            let mut row = Row::default();
            // The two take turns in being first, so that other work on the machine does not favour one of them.
            let mut contenders = vec![Contender::Upstream, Contender::Ours];
            contenders.rotate_left(pair % 2);
            if report.shapes.is_empty() {
                contenders.push(Contender::Firehose);
            }
            contenders.retain(|contender| plan.only.as_deref().is_none_or(|only| only == contender.name()));
            for contender in contenders {
                let run = run(&plan, *shape, contender)
                    .await
                    .with_context(|| format!("{} with pods of shape {}", contender.name(), shape.name()))?;
                writeln!(std::io::stdout(), "{}", run.json(pair + 1, plan.nodes))?;
                row.add(run);
            }
            rows.push(row);
        }
        report.shapes.push((*shape, rows));
    }
    write!(std::io::stdout(), "\n{report}")?;
    Ok(!plan.has_bars || report.is_met())
}

//! `control-plane build` builds the programs that tests need; `control-plane run` starts a cluster to try things on.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use reserve_tests::control_plane::{Binaries, Cluster, ControlPlane, User, node};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "\
usage: control-plane build
       control-plane run [--name NAME] [--nodes NUMBER] [--scheduler]

build   gets all programs of the control plane ready and prints where they are
run     starts a cluster, prints how to reach it, and ends it on Ctrl-C";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["build"] => build(),
        ["run", options @ ..] => run(options).await,
        _ => Err(anyhow::anyhow!(USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<()> {
    for (name, path) in Binaries::locate()?.iter() {
        writeln!(std::io::stdout(), "{name}\t{}", path.display())?;
    }
    Ok(())
}

async fn run(options: &[&str]) -> Result<()> {
    let (mut name, mut nodes, mut scheduler) = ("run", 3, false);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "--name" => name = options.next().context(USAGE)?,
            "--nodes" => nodes = options.next().context(USAGE)?.parse().context("--nodes wants a number")?,
            "--scheduler" => scheduler = true,
            other => bail!("unknown option {other}\n{USAGE}"),
        }
    }
    // Installed before the start, so that Ctrl-C ends the cluster in order from the first moment.
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let cluster = async {
        let cluster = start(name, nodes, scheduler).await?;
        announce(&cluster)?;
        std::future::pending::<Result<()>>().await
    };
    tokio::select! {
        biased;
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
        failed = cluster => failed,
    }
}

async fn start(name: &str, nodes: u32, scheduler: bool) -> Result<Cluster> {
    let control_plane = ControlPlane::start(name);
    let cluster = if scheduler { control_plane.with_scheduler() } else { control_plane }.await?;
    for number in 1..=nodes {
        cluster.add_node(node(&format!("n{number}")).cpu("6000m").memory("8Gi")).await?;
    }
    Ok(cluster)
}

fn announce(cluster: &Cluster) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for (name, pid) in cluster.processes() {
        writeln!(out, "# {name} runs as {pid}")?;
    }
    writeln!(out, "# logs: {}", cluster.dir().display())?;
    writeln!(out, "export KUBECONFIG='{}'", cluster.kubeconfig(User::Admin).display())?;
    writeln!(out, "export PATH='{}':\"$PATH\"", cluster.bin_dir().display())?;
    writeln!(out, "# Ctrl-C ends it")?;
    out.flush().context("write to standard output")
}

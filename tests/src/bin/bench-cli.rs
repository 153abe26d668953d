//! `bench-cli` measures `kubectl reserve` in a large cluster, on a real kube-apiserver.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use portable_pty::CommandBuilder;
use reserve_tests::bench_cli::{
    CliBenchReport, ClusterSize, NAMESPACE, PENDING, cpu_of_many, fill, first_words, measure,
};
use reserve_tests::control_plane::{Cluster, ControlPlane, User};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "usage: bench-cli PROGRAM [--nodes NUMBER] [--pods NUMBER]";
/// How often each compared command is run; the median counts.
const RUNS: usize = 5;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match until_interrupted(&arguments).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Measures. SIGINT and SIGTERM end the cluster in order. false: a bar was missed, or a signal came.
async fn until_interrupted(arguments: &[String]) -> Result<bool> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        biased;
        _ = interrupt.recv() => Ok(false),
        _ = terminate.recv() => Ok(false),
        done = bench(arguments) => done,
    }
}

async fn bench(arguments: &[String]) -> Result<bool> {
    let (program, size) = parse(arguments)?;
    let cluster = ControlPlane::start("bench_cli").bare().await?;
    fill(&cluster, size).await?;
    let report = tokio::task::block_in_place(|| measured(&cluster, &program, size))?;
    write!(std::io::stdout(), "{report}")?;
    Ok(report.is_met())
}

fn parse(arguments: &[String]) -> Result<(PathBuf, ClusterSize)> {
    let [program, options @ ..] = arguments else { bail!(USAGE) };
    let mut size = ClusterSize { nodes: 5_000, pods: 50_000 };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let number = || options.clone().next().and_then(|number| number.parse().ok()).context(USAGE);
        match option.as_str() {
            "--nodes" => size.nodes = number()?,
            "--pods" => size.pods = number()?,
            _ => bail!(USAGE),
        }
        options.next();
    }
    Ok((Path::new(program).canonicalize().with_context(|| format!("find {program}"))?, size))
}

fn measured(cluster: &Cluster, program: &Path, size: ClusterSize) -> Result<CliBenchReport> {
    let kubeconfig = cluster.kubeconfig(User::Admin);
    let ours = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command.env("KUBECONFIG", &kubeconfig).args(arguments);
        command
    };
    let mut report = CliBenchReport::default();
    let bytes = std::fs::metadata(program).context("look at the program")?.len();
    report.add("size of the program", bytes / 1000, Some(15_000), "MB");
    report.add(
        "--help, processor time",
        micros(cpu_of_many(&mut ours(&["--help"]), 50)?),
        Some(20_000),
        "ms",
    );
    let saved = cluster.dir().join("snapshot.gz");
    let saved = saved.to_string_lossy().into_owned();
    let explain = ["explain", PENDING, "-n", NAMESPACE];
    let live = measure(&mut ours(&explain), &[10])?;
    let what = format!("explain, {} nodes, {} pods", size.nodes, size.pods);
    report.add(format!("{what}: processor time with reading"), millis(live.cpu), None, "s");
    report.add(format!("{what}: by the clock"), millis(live.lasted), None, "s");
    report.add(format!("{what}: peak memory"), live.peak_kib * 1000 / 1024, Some(150_000), "MiB");
    let soon = median(|| first_words(terminal(program, &kubeconfig, &explain)), |(_, cpu)| *cpu)?;
    report.add(format!("{what}: until {:?}", soon.0), millis(soon.1), Some(100), "s");
    measure(&mut ours(&[&explain[..], &["--save-snapshot", &saved]].concat()), &[10])?;
    let offline = measure(&mut ours(&[&explain[..], &["--snapshot", &saved]].concat()), &[10])?;
    report.add("the same from a file: processor time", millis(offline.cpu), Some(1_500), "s");
    report.add("the same from a file: peak memory", offline.peak_kib * 1000 / 1024, Some(150_000), "MiB");
    let kubectl = || -> Result<Command> {
        let mut command = cluster.kubectl(User::Admin)?;
        command.args(["get", "nodes"]);
        Ok(command)
    };
    let theirs = median(|| measure(&mut kubectl()?, &[0]), |run| run.lasted)?;
    let list = median(|| measure(&mut ours(&["list", "-A"]), &[0]), |run| run.lasted)?;
    report.add("kubectl get nodes: by the clock", millis(theirs.lasted), None, "s");
    report.add("list -A: by the clock", millis(list.lasted), None, "s");
    let ratio = millis(list.lasted) * 1000 / millis(theirs.lasted).max(1);
    report.add("list -A, in times of kubectl get nodes", ratio, Some(1_300), "x");
    Ok(report)
}

/// The command for a run in a terminal.
fn terminal(program: &Path, kubeconfig: &Path, arguments: &[&str]) -> CommandBuilder {
    let mut command = CommandBuilder::new(program);
    command.args(arguments);
    command.env("KUBECONFIG", kubeconfig);
    command.env("TERM", "xterm");
    command
}

/// The run with the median time.
fn median<T>(run: impl Fn() -> Result<T>, took: impl Fn(&T) -> Duration) -> Result<T> {
    let mut runs = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>>>()?;
    runs.sort_by_key(&took);
    runs.into_iter().nth(RUNS / 2).context("no run")
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

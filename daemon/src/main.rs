//! `reserve-daemon`: parses the flags, runs the daemon, returns the exit code.
#![forbid(unsafe_code)]

use anyhow::Context as _;
use clap::Parser;
use common::model::chain::chain;
use daemon::args::Args;
use daemon::clock::Clock;
use daemon::config::Config;
use daemon::metrics::Metrics;
use std::process::ExitCode;

/// Thousands of pods come and go, and each needs a few dozen allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Two threads: one decides while the other reads, writes and answers. More threads would only hand work to each other.
#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    let args = Args::parse();
    daemon::log::start(&args.log);
    #[expect(clippy::disallowed_methods, reason = "the task that `run` is part of")]
    // A spawned task continues on the worker thread that received its input. The main thread would have to be woken each time.
    let ended = tokio::spawn(start(args)).await;
    match ended.map_err(anyhow::Error::from).flatten() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{}", chain(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn start(args: Args) -> anyhow::Result<()> {
    let mut config = Config::try_from(args)?;
    if let Some(file) = &config.write_to {
        return std::fs::write(file, config.scheduler.to_yaml())
            .with_context(|| format!("write {}", file.display()));
    }
    let metrics = Metrics::default();
    let clients = config.connection.clients(&metrics).await?;
    config.is_restricted = daemon::rights::log_missing(clients.work.clone(), &config.namespace).await;
    let (clock, rng) = (Clock::start(), fastrand::Rng::new());
    daemon::run::run(&config, clients, metrics, clock, rng, daemon::run::stop_signal()).await
}

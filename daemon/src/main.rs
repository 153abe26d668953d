//! `reserve-daemon`: parse, run, exit code.
#![forbid(unsafe_code)]

use anyhow::Context as _;
use clap::Parser;
use common::model::chain::chain;
use daemon::args::Args;
use daemon::clock::Clock;
use daemon::config::Config;
use daemon::metrics::Metrics;
use std::process::ExitCode;

/// Pods come and go by the thousand, each in a few dozen pieces of memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// One thread can be busy with decisions while the other reads, writes and answers. More would only pass things to each
/// other.
#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    let args = Args::parse();
    daemon::log::start(&args.log);
    #[expect(clippy::disallowed_methods, reason = "the task that `run` is part of")]
    // It goes on wherever the news for it arrived. This thread would have to be woken up each time.
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
    config.is_restricted = daemon::rights::tell_missing(clients.work.clone(), &config.namespace).await;
    let (clock, rng) = (Clock::start(), fastrand::Rng::new());
    daemon::run::run(&config, clients, metrics, clock, rng, daemon::run::stop_signal()).await
}

//! `reserve-daemon`: parse, run, exit code.
#![forbid(unsafe_code)]

use clap::Parser;
use common::model::chain::chain;
use daemon::args::Args;
use daemon::clock::Clock;
use daemon::config::Config;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// Pods come and go by the thousand, each in a few dozen pieces of memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    // kube_client logs whole answers of the API server when one cannot be decoded, and those may hold secrets; what
    // goes wrong we log ourselves.
    let filter = format!("{},kube_client=off,hyper_util=warn,rustls=warn,tower=warn", args.log_level());
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    match start(args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{}", chain(&*error));
            ExitCode::FAILURE
        }
    }
}

async fn start(args: Args) -> anyhow::Result<()> {
    let config = Config::try_from(args)?;
    let client = config.client().await?;
    daemon::run::run(&config, client, Clock::start(), fastrand::Rng::new(), daemon::run::stop_signal()).await
}

//! `kubectl reserve`: parse, dispatch, exit code. A library, so that its pure parts can be driven without a cluster.
#![forbid(unsafe_code)]

mod api;
mod cli;
mod commands;
mod completion;
mod connect;
mod error;
pub mod flow;
mod happened;
mod names;
mod nodes;
mod platform;
mod print;
mod render;
mod replicas;
mod reservations;
mod rooms;
mod ui;
mod whoami;
mod world;

use clap::Parser;
use cli::Cli;
use error::{Exit, Failure};
use std::process::ExitCode;
use ui::printer;

/// The program.
pub fn main() -> ExitCode {
    let mut words = std::env::args_os();
    if words.next().is_some_and(|program| completion::is_asked_by(&program)) {
        return printer::finish(printer::out(&completion::candidates(words)));
    }
    let cli = Cli::parse();
    let outcome = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(run(cli)),
        Err(error) => Err(Failure::new(format!("start: {error}"))),
    };
    printer::finish(outcome)
}

async fn run(cli: Cli) -> Result<(), Failure> {
    tokio::select! {
        biased;
        outcome = Box::pin(commands::run(cli)) => outcome,
        () = ui::signal::unheard() => Err(Failure::silent(Exit::Interrupted)),
    }
}

//! `kubectl reserve`: parse, dispatch, exit code. A library, so that its pure parts can be driven without a cluster.
#![forbid(unsafe_code)]

mod api;
mod cli;
mod commands;
mod completion;
mod connect;
mod error;
pub mod explain;
pub mod flow;
mod manifest;
mod manifests;
mod names;
mod nodes;
mod objects;
mod pending;
mod platform;
mod print;
mod render;
mod replicas;
mod rights;
mod ui;
mod world;

use cli::{Cli, Invocation};
use error::{Exit, Failure};
use std::process::ExitCode;
use ui::printer;

/// The program.
pub fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    if words.first().is_some_and(|program| completion::is_asked_by(program)) {
        return printer::finish(printer::out(&completion::candidates(words.into_iter().skip(1))));
    }
    let invocation = Invocation::new(words);
    let cli = match invocation.parse() {
        Ok(cli) => cli,
        // Help and versions come this way too.
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1));
        }
    };
    let outcome = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(run(cli, &invocation)),
        Err(error) => Err(Failure::new(format!("start: {error}"))),
    };
    printer::finish(outcome)
}

async fn run(cli: Cli, invocation: &Invocation) -> Result<(), Failure> {
    tokio::select! {
        biased;
        outcome = Box::pin(commands::run(cli, invocation)) => outcome,
        () = ui::signal::unheard() => Err(Failure::silent(Exit::Interrupted)),
    }
}
